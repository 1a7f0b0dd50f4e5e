//! A run of epochs, which are the iterations of a stage of training.

use std::ops::ControlFlow;

use dropchain::kernel::objective::Terms;
use dropchain::kernel::optim::{Iteration, Outcome, StopReason};
use dropchain::kernel::train::{Course, Stage};
use dropchain::{Error, Result};

use crate::epochs::{Epoch, EpochLearner, LearnerSettings};

/// Runs a stage in epochs.
///
/// # Errors
///
/// The weights became infinite before the first epoch ended; the state to resume from does not fit
/// the data.
pub(crate) fn learn(
    settings: LearnerSettings,
    stage: &Stage,
    course: &mut Course<'_>,
) -> Result<Outcome<Terms>> {
    let set = course.set();
    let is_probabilistic = settings.algorithm.is_probabilistic();
    let mut learner = EpochLearner::new(set.data(), set.space(), settings, course.take_start());
    if let Some(state) = course.take_state()? {
        learner.restore(state)?;
    }
    let mut last = Epoch { objective: f64::NAN, ..Epoch::default() };
    let reason = loop {
        if stage.limit.is_some_and(|limit| learner.state().epochs >= limit) {
            break StopReason::MaxIterations;
        }
        if course.is_interrupted() || !learner.prepare(course.interrupt()) {
            course.save(true, || learner.state());
            break StopReason::Interrupted;
        }
        if let Some(calibration) = learner.calibration.take() {
            course.calibrated(&calibration);
        }
        let epoch = learner.run_epoch();
        if !epoch.objective.is_finite() {
            break StopReason::NonFinite;
        }
        last = epoch;
        // No checkpoint follows the last epoch: a run that resumes from it would not know that
        // training has ended. One from before repeats the epoch.
        if report(&learner, &last, is_probabilistic, course).is_break() {
            break StopReason::Interrupted;
        }
        if last.has_converged {
            break if is_probabilistic { StopReason::Improvement } else { StopReason::Loss };
        }
        course.save(false, || learner.state());
    };
    finish(learner, reason, &last, course)
}

/// Reports an epoch.
fn report(
    learner: &EpochLearner<'_>,
    epoch: &Epoch,
    is_probabilistic: bool,
    course: &mut Course<'_>,
) -> ControlFlow<()> {
    let (epochs, theta) = (learner.state().epochs, &learner.theta[..]);
    let mut terms = epoch.terms;
    if !is_probabilistic {
        terms.log_likelihood = f64::NAN;
    }
    let iteration = Iteration {
        step: epoch.rate.unwrap_or(1.0),
        ..Iteration::new(epochs, epoch.objective, &terms, theta)
    };
    course.iteration(&iteration, epoch.rate)
}

/// Returns the result.
fn finish(
    learner: EpochLearner<'_>,
    reason: StopReason,
    last: &Epoch,
    course: &mut Course<'_>,
) -> Result<Outcome<Terms>> {
    let epochs = learner.state().epochs;
    let (mut x, state) = learner.into_parts();
    if let Some(lowest) = state.lowest.filter(|lowest| lowest.epoch > 0) {
        course.choose(lowest.epoch);
        x = lowest.theta;
    } else if reason == StopReason::NonFinite && !course.has_kept() {
        return Err(Error::NotFinite(format!(
            "the loss is not finite in epoch {epochs}; expected smaller attribute values, or \
             smaller steps"
        )));
    }
    Ok(Outcome {
        x,
        value: last.objective,
        detail: last.terms,
        stop_reason: reason,
        iterations: epochs,
        evaluations: epochs,
        gradient_norm: f64::NAN,
        restarts: 0,
    })
}
