//! Which options fit losses other than −log p(y|x).

use super::options::{Defaults, NoiseKind, TrainOptions, WarmStart};
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::irls::Loss;
use crate::noise::Engine;
use crate::optim::LbfgsOptions;
use crate::score::{Boundary, States};

/// Checks that other options fit the loss, if there is one.
///
/// # Errors
///
/// [`Error::Parameter`] naming the option that does not.
pub(super) fn check_loss(options: &TrainOptions) -> Result<()> {
    let Some(loss) = options.loss else {
        return match options.hidden {
            0 => Ok(()),
            units => Err(Error::parameter(format!(
                "{units} hidden units without a loss; expected hinge, logistic or \
                 squared"
            ))),
        };
    };
    loss.check()?;
    check_hidden(options)?;
    let lbfgs = LbfgsOptions {
        memory: options.lbfgs.memory, // of no use, and harmless
        improvement_tolerance: options.lbfgs.improvement_tolerance,
        period: options.lbfgs.period,
        gradient_tolerance: options.lbfgs.gradient_tolerance,
        ..LbfgsOptions::default()
    };
    let has_warm_up =
        options.warm_up.is_some_and(|n| n > 0) || options.warm_start != WarmStart::Off;
    let all = [None, Some(States::All)];
    let unfit = [
        (
            matches!(loss, Loss::Insensitive { .. }),
            "is for numbers, not for labels",
            "hinge, logistic or squared",
        ),
        (options.order != Order::Zero, "with order 1", "order 0"),
        (
            options.algorithm.is_online(),
            "with an online algorithm",
            "--algorithm lbfgs, which stands for all that is not online",
        ),
        (
            options.lbfgs != lbfgs,
            "with a line search",
            "the default: there is none",
        ),
        (options.l1 > 0.0, "with an L1 penalty", "--l1 0"),
        (
            options.has_noise() && options.noise == NoiseKind::MonteCarlo,
            "with sampled noise",
            "--noise dropout, whose bound is exact arithmetic",
        ),
        (
            options.has_noise() && options.edge_noise() > 0.0,
            "with noise on the bias",
            "edge dropout 0",
        ),
        (
            options.gradient != Engine::Adjoint,
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
    ];
    match unfit.iter().find(|(is_unfit, ..)| *is_unfit) {
        None => Ok(()),
        Some((_, what, expected)) => Err(Error::parameter(format!(
            "the {} loss {what}; expected {expected}",
            loss.name()
        ))),
    }
}

/// Checks the number of hidden units, and what they need.
fn check_hidden(options: &TrainOptions) -> Result<()> {
    let units = options.hidden;
    let fault = |found: &str, expected: &str| {
        Err(Error::parameter(format!(
            "{units} hidden units{found}; expected {expected}"
        )))
    };
    if units > Defaults::MAX_HIDDEN {
        return fault("", &format!("at most {}", Defaults::MAX_HIDDEN));
    }
    if units > 0 && options.boundary == Boundary::Off {
        return fault(" without boundary weights", "--boundary on");
    }
    Ok(())
}
