//! Which options fit a loss.

use dropchain::chain::Order;
use dropchain::error::{Error, Result};
use dropchain::noise::Engine;
use dropchain::optim::LbfgsOptions;
use dropchain::score::{Boundary, States};
use dropchain::train::{DevUse, NoiseKind, TrainOptions};

use super::LossLearner;
use crate::irls::Loss;

/// Maximum number of hidden units.
pub const MAX_HIDDEN: usize = 256;

/// Checks that other options fit the loss.
///
/// # Errors
///
/// [`Error::Parameter`] naming the option that does not.
pub fn check_loss(learner: &LossLearner, options: &TrainOptions<()>) -> Result<()> {
    let LossLearner { loss, method, .. } = learner;
    let (noise, optimizer) = (&method.noise, &method.optimizer);
    loss.check()?;
    check_hidden(learner.hidden, options.boundary)?;
    let lbfgs = LbfgsOptions {
        memory: optimizer.memory, // of no use, and harmless
        improvement_tolerance: optimizer.improvement_tolerance,
        period: optimizer.period,
        gradient_tolerance: optimizer.gradient_tolerance,
        ..LbfgsOptions::default()
    };
    let has_warm_up = method.warm_up.is_some_and(|n| n > 0);
    let has_bound =
        matches!(noise.kind, NoiseKind::Dropout | NoiseKind::Gaussian | NoiseKind::Additive);
    let all = [None, Some(States::All)];
    let unfit = [
        (
            matches!(loss, Loss::Insensitive { .. }),
            "is for numbers, not for labels",
            "hinge, logistic or squared",
        ),
        (options.order != Order::Zero, "with order 1", "order 0"),
        (*optimizer != lbfgs, "with a line search", "the default: there is none"),
        (method.l1 > 0.0, "with an L1 penalty", "--l1 0"),
        (
            noise.is_on() && !has_bound,
            "with noise of this kind",
            "--noise dropout, gaussian or additive, whose bounds are exact arithmetic",
        ),
        (noise.is_on() && noise.edge_noise() > 0.0, "with noise on the bias", "edge dropout 0"),
        (
            noise.gradient != Engine::Exact,
            "with a gradient engine",
            "the default (--gradient exact)",
        ),
        (has_warm_up, "with a warm-up", "none: the bounds are convex"),
        (
            !all.contains(&options.states)
                || !all.contains(&options.transitions)
                || options.min_frequency.is_some(),
            "with weights of observed pairs alone",
            "--states all",
        ),
        (options.caseless > 0.0, "with copies without case", "none"),
        (
            options.dev_use == DevUse::Report,
            "with development data that are only reported",
            "those that choose",
        ),
        (
            options.recall_bias.is_some_and(|bias| bias != 0.0),
            "with a recall bias",
            "none: it is of taggers",
        ),
    ];
    match unfit.iter().find(|(is_unfit, ..)| *is_unfit) {
        None => Ok(()),
        Some((_, what, expected)) => {
            Err(Error::parameter(format!("the {} loss {what}; expected {expected}", loss.name())))
        }
    }
}

/// Checks the number of hidden units, and what they need.
fn check_hidden(units: usize, boundary: Boundary) -> Result<()> {
    let fault = |found: &str, expected: &str| {
        Err(Error::parameter(format!("{units} hidden units{found}; expected {expected}")))
    };
    if units > MAX_HIDDEN {
        return fault("", &format!("at most {MAX_HIDDEN}"));
    }
    if units > 0 && boundary == Boundary::Off {
        return fault(" without boundary weights", "--boundary on");
    }
    Ok(())
}
