//! Training of linear classifiers by iteratively reweighted least squares, and of classifiers of
//! two labels with hidden units by L-BFGS.
//!
//! Two labels have one problem, of the second against the first: with the scores ∓½·f of the
//! labels, as at the minimum of −log p(y|x), p(second|x) = σ(f) and f = w·x. The penalty c2·‖θ‖² of
//! the weights ±½·w of both is ½·c2·‖w‖². The bias is that of the first and of the last token: two
//! features of value 1 with equal weights, or one of value √2.
//!
//! More labels have a problem each, of that label against the rest, with the penalty ½·c2·‖w‖², and
//! w are the weights of the label. All problems make an iteration at a time, so that development
//! data can score the labels together; one that has converged waits for the others.

use std::f64::consts::SQRT_2;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::layout::Layout;
use super::monitor::{DocumentData, Monitor, input_noise, not_finite};
use crate::irls::{
    CONCURRENT, Documents, HiddenProblem, IrlsIteration, IrlsOptions, IrlsOutcome, Minimization,
    Problem, Value,
};
use dropchain::error::{Error, Result};
use dropchain::optim::{self, Iteration, LbfgsOptions, LbfgsSettings, Outcome, StopReason};
use dropchain::score::Boundary;
use dropchain::train::{Observer, Segment};

/// Trains from θ.
///
/// # Errors
///
/// [`Error::Parameter`] if there are fewer than two labels, or the sentences are not documents with
/// one; [`Error::NotFinite`] if values are too large.
pub fn train(
    monitor: &mut Monitor<'_>,
    segment: &Segment<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome<Value>> {
    let (set, settings, layout) = (monitor.set, monitor.settings, monitor.layout);
    let (trainer, data) = (
        monitor.trainer,
        DocumentData::new(set, monitor.trainer.loss)?,
    );
    let noise = input_noise(settings)?;
    let first = if layout.is_binary() { 1 } else { 0 };
    let labels = first..first + layout.outputs();
    let targets: Vec<Vec<f64>> = labels.map(|label| data.targets(label)).collect();
    let [first, rest @ ..] = &targets[..] else {
        return Err(Error::parameter(
            "there are no classes; expected two or more",
        ));
    };
    let documents = Documents {
        rows: &set.data().nodes,
        scales: &set.space().nodes.scale,
        bias: match settings.options().boundary {
            Boundary::On => SQRT_2,
            Boundary::Off => 0.0,
        },
        targets: first,
        weights: &data.weights,
    };
    let problem = Problem::new(documents, trainer.loss, noise, 0.5 * settings.l2());
    let others = rest.iter().map(|targets| problem.with_targets(targets));
    let others: Vec<Problem<'_>> = others.collect();
    let lbfgs = &trainer.optimizer;
    let options = IrlsOptions {
        max_iterations: segment.limit,
        earlier_iterations: segment.done,
        improvement_tolerance: lbfgs.improvement_tolerance,
        period: lbfgs.period,
        gradient_tolerance: lbfgs.gradient_tolerance,
    };
    let problems: Vec<&Problem<'_>> = std::iter::once(&problem).chain(&others).collect();
    let starts = segment.start.chunks_exact(layout.columns + 1);
    let own: Vec<(&Problem<'_>, &[f64])> = problems.into_iter().zip(starts).collect();
    let mut runs = Vec::with_capacity(own.len());
    for own in own.chunks(CONCURRENT) {
        let begun = own.par_iter().map(|(problem, start)| {
            let mut w = start.to_vec();
            // Of two labels, the half of the second is that of the first with another sign.
            let halves = if layout.is_binary() { 4.0 } else { 2.0 };
            w[layout.columns] = halves * w[layout.columns] / SQRT_2;
            Minimization::new(problem, w, options)
        });
        runs.par_extend(begun);
    }
    let joint = Joint {
        layout,
        theta: segment.start.clone(),
        runs,
    };
    joint.run(monitor, observer, segment.interrupt)
}

/// The minimizations of all labels.
struct Joint<'p> {
    layout: Layout,
    runs: Vec<Minimization<'p, 'p>>,
    theta: Vec<f64>,
}

impl Joint<'_> {
    fn run(
        mut self,
        monitor: &mut Monitor<'_>,
        observer: &mut dyn Observer,
        interrupt: Option<&AtomicBool>,
    ) -> Result<Outcome<Value>> {
        loop {
            if self.ended_by(StopReason::NonFinite) {
                return self.finish(StopReason::NonFinite);
            }
            let ws = self.runs.iter().map(|run| run.iteration().w);
            set_weights(self.layout, ws, &mut self.theta);
            let flow = self.report(monitor, observer);
            let is_interrupted = || interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
            if flow.is_break() || is_interrupted() {
                return self.finish(StopReason::Interrupted);
            }
            let mut advanced = 0;
            for runs in self.runs.chunks_mut(CONCURRENT) {
                let runs = runs.par_iter_mut();
                advanced += runs.filter_map(|run| run.advance(interrupt).ok()).count();
                if is_interrupted() {
                    return self.finish(StopReason::Interrupted);
                }
            }
            if advanced == 0 {
                let reasons = [
                    StopReason::NonFinite,
                    StopReason::MaxIterations,
                    StopReason::Improvement,
                ];
                let reason = reasons.into_iter().find(|&reason| self.ended_by(reason));
                return self.finish(reason.unwrap_or(StopReason::Gradient));
            }
        }
    }

    /// Returns whether a minimization has ended for this reason.
    fn ended_by(&self, reason: StopReason) -> bool {
        self.runs.iter().any(|run| run.end() == Some(reason))
    }

    /// Returns the norm of the gradient with respect to the weights of labels, given those with
    /// respect to each w.
    fn gradient_norm(&self, norms: impl Iterator<Item = f64>) -> f64 {
        let square: f64 = norms.map(|norm| norm * norm).sum();
        (self.layout.copies() as f64 * square).sqrt()
    }

    /// Tells the monitor of the last iteration of all.
    fn report(&self, monitor: &mut Monitor<'_>, observer: &mut dyn Observer) -> ControlFlow<()> {
        let last: Vec<IrlsIteration<'_>> = self.runs.iter().map(Minimization::iteration).collect();
        let value = sum(last.iter().map(|run| run.value));
        let number = last.iter().map(|run| run.number).max().unwrap_or(0);
        // The smallest of those that made this iteration.
        let made = last.iter().filter(|run| run.number == number);
        let step = made.map(|run| run.step).fold(f64::INFINITY, f64::min);
        let iteration = Iteration {
            number,
            value: value.total,
            detail: &value,
            gradient_norm: self.gradient_norm(last.iter().map(|run| run.gradient_norm)),
            x_norm: f64::NAN, // which the monitor computes
            step,
            evaluations: last.iter().map(|run| run.evaluations).sum(),
            x: &self.theta,
            nonzero: 0, // likewise
        };
        monitor.iteration(&iteration, observer)
    }

    fn finish(mut self, stop_reason: StopReason) -> Result<Outcome<Value>> {
        let failed = |run: &Minimization<'_, '_>| {
            run.end() == Some(StopReason::NonFinite) && run.iteration().number == 0
        };
        if self.runs.iter().any(failed) {
            return Err(not_finite());
        }
        let runs = std::mem::take(&mut self.runs).into_iter();
        let outcomes: Vec<IrlsOutcome> = runs.map(|run| run.into_outcome(stop_reason)).collect();
        let iterations = outcomes.iter().map(|run| run.iterations).max();
        let weights = outcomes.iter().map(|run| &run.w[..]);
        set_weights(self.layout, weights, &mut self.theta);
        let value = sum(outcomes.iter().map(|run| run.value));
        Ok(Outcome {
            value: value.total,
            detail: value,
            stop_reason,
            iterations: iterations.unwrap_or(0),
            evaluations: outcomes.iter().map(|run| run.evaluations).sum(),
            gradient_norm: self.gradient_norm(outcomes.iter().map(|run| run.gradient_norm)),
            skipped_updates: 0,
            restarts: 0,
            x: self.theta,
        })
    }
}

/// Returns the sum of the terms of all.
fn sum(values: impl Iterator<Item = Value>) -> Value {
    values.fold(Value::default(), |sum, value| Value {
        total: sum.total + value.total,
        loss: sum.loss + value.loss,
        l2: sum.l2 + value.l2,
    })
}

/// Sets θ to the weights w of each problem.
fn set_weights<'w>(layout: Layout, ws: impl Iterator<Item = &'w [f64]>, theta: &mut [f64]) {
    let half = if layout.is_binary() {
        0.5 / SQRT_2
    } else {
        1.0 / SQRT_2
    };
    let own = theta.chunks_exact_mut(layout.columns + 1);
    for (theta, w) in own.zip(ws) {
        theta.copy_from_slice(w);
        theta[layout.columns] = half * w[layout.columns];
    }
}

/// Trains the weights of hidden units, from θ.
///
/// # Errors
///
/// [`Error::Parameter`] if there are not two labels; [`Error::NotFinite`] if values are too large.
pub fn train_hidden(
    monitor: &mut Monitor<'_>,
    segment: Segment<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcome<Value>> {
    let (set, settings, layout) = (monitor.set, monitor.settings, monitor.layout);
    let (trainer, data) = (
        monitor.trainer,
        DocumentData::new(set, monitor.trainer.loss)?,
    );
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
    let (noise, l2) = (input_noise(settings)?, 0.5 * settings.l2());
    let mut problem = HiddenProblem::new(documents, trainer.loss, noise, l2, layout.units);
    let lbfgs = LbfgsSettings::new(LbfgsOptions {
        max_iterations: segment.limit,
        ..trainer.optimizer.clone()
    })?;
    let mut observe = |iteration: &Iteration<'_, Value>| -> ControlFlow<()> {
        monitor.iteration(iteration, observer)
    };
    let (start, interrupt) = (segment.start, segment.interrupt);
    let outcome = optim::minimize(&mut problem, start, None, &lbfgs, interrupt, &mut observe)?;
    if outcome.stop_reason == StopReason::NonFinite && outcome.iterations == 0 {
        return Err(not_finite());
    }
    Ok(outcome)
}
