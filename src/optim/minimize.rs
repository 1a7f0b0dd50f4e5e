//! The entry point: checks the input and runs the optimizer.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::descent::Descent;
use super::objective::{Iteration, LbfgsOptions, Objective, Outcome};
use super::state::{Start, StateObserver};
use crate::error::{Error, Result, check_not_negative};

/// Minimizes `objective` starting at `x`, with an optional L1 penalty of strength `l1[i]` ≥ 0 on
/// x_i.
///
/// `x` and `l1` are `[n]`. If no strength is positive, plain L-BFGS is used. `observer` is called
/// for the starting point (iteration 0) and every accepted point, unless the starting point has no
/// finite value. `interrupt` is checked before every evaluation but the first; once it is set, the
/// last accepted point is returned.
///
/// # Errors
///
/// [`Error::Parameter`] if the length of `x` or `l1` is not [`Objective::dimension`], a strength is
/// negative or not finite, or an option is out of range.
pub fn minimize<O: Objective>(
    objective: &mut O,
    x: Vec<f64>,
    l1: Option<&[f64]>,
    options: &LbfgsOptions,
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn FnMut(&Iteration<'_, O::Detail>) -> ControlFlow<()>,
) -> Result<Outcome<O::Detail>> {
    let start = Start::Point(x);
    let observer = &mut |iteration: &Iteration<'_, O::Detail>| observer(iteration);
    minimize_from(objective, start, l1, options, interrupt, observer)
}

/// Minimizes `objective` like [`minimize`], from a point or resuming an earlier minimization.
///
/// # Errors
///
/// Same as [`minimize`]; the state to resume from has vectors of other lengths.
pub(crate) fn minimize_from<O: Objective>(
    objective: &mut O,
    start: Start<O::Detail>,
    l1: Option<&[f64]>,
    options: &LbfgsOptions,
    interrupt: Option<&AtomicBool>,
    observer: &mut dyn StateObserver<O::Detail>,
) -> Result<Outcome<O::Detail>> {
    options.check()?;
    let dimension = objective.dimension();
    let is_resumed = matches!(start, Start::State(_));
    match &start {
        Start::Point(x) => check_length("the starting point", x.len(), dimension)?,
        Start::State(saved) => saved.check(dimension, options.memory)?,
    }
    if let Some(l1) = l1 {
        check_length("the L1 penalty", l1.len(), dimension)?;
        l1.iter().try_for_each(|&strength| check_not_negative("L1 strength", strength))?;
    }
    let l1 = l1.filter(|l1| l1.iter().any(|&c| c > 0.0));
    Ok(Descent::new(objective, start, l1, options, interrupt).run(is_resumed, observer))
}

fn check_length(what: &str, actual: usize, expected: usize) -> Result<()> {
    if actual == expected {
        return Ok(());
    }
    Err(Error::parameter(format!(
        "{what} has {actual} entries; the objective has {expected} variables"
    )))
}
