//! Training of classifiers of two labels with hidden units.

use std::ops::ControlFlow;

use dropchain::error::{Error, Result};
use dropchain::optim::{self, LbfgsOptions, LbfgsSettings, Outcome, StopReason};

use super::{DocumentData, Run, not_finite};
use crate::irls::{Documents, HiddenProblem, Value};

/// Trains the weights of hidden units, from θ.
///
/// # Errors
///
/// [`Error::Parameter`] if there are not two labels; [`Error::NotFinite`] if values are too large.
pub fn train(run: Run<'_, '_>, data: &DocumentData) -> Result<Outcome<Value>> {
    let (set, settings, layout) = (run.set, run.settings, run.monitor.layout);
    if layout.labels != 2 {
        let (units, labels) = (layout.units, layout.labels);
        return Err(Error::parameter(format!(
            "{units} hidden units with {labels} classes; expected two, or one of each class \
             against the rest"
        )));
    }
    let targets = data.targets(1);
    let documents = Documents {
        rows: &set.data().nodes,
        scales: &set.space().nodes.scale,
        bias: 1.0,
        targets: &targets,
        weights: &data.weights,
    };
    let (loss, l2) = (run.monitor.loss, 0.5 * settings.l2());
    let mut problem = HiddenProblem::new(documents, loss, run.noise, l2, layout.units);
    let lbfgs = LbfgsSettings::new(LbfgsOptions {
        max_iterations: run.limit,
        ..run.optimizer.clone()
    })?;
    let (monitor, observer) = (run.monitor, run.observer);
    let mut observe = |iteration: &optim::Iteration<'_, Value>| -> ControlFlow<()> {
        monitor.iteration(iteration, observer)
    };
    let (start, interrupt) = (run.start, run.interrupt);
    let outcome = optim::minimize(&mut problem, start, None, &lbfgs, interrupt, &mut observe)?;
    if outcome.stop_reason == StopReason::NonFinite && outcome.iterations == 0 {
        return Err(not_finite());
    }
    Ok(outcome)
}
