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

use rayon::prelude::*;

use super::LossLearner;
use super::layout::Layout;
use crate::irls::{
    CONCURRENT, Documents, HiddenProblem, InputNoise, IrlsOptions, Loss, Minimization, Problem,
    Value, minimize,
};
use dropchain::error::{Error, Result};
use dropchain::extract::Target;
use dropchain::ids::LabelId;
use dropchain::objective::Terms;
use dropchain::optim::{Iteration, Outcome, StopReason};
use dropchain::score::Boundary;
use dropchain::train::{Course, Learner, NoiseKind, NoiseOptions, TrainingSet};

/// Learns θ.
///
/// # Errors
///
/// [`Error::Parameter`] if there are fewer than two labels, with hidden units not two, or the
/// sentences are not documents with one; [`Error::NotFinite`] if values are too large.
pub fn learn(
    learner: &LossLearner,
    layout: Layout,
    course: &mut Course<'_>,
) -> Result<Outcome<Terms>> {
    let LossLearner { loss, method, .. } = learner;
    let (set, loss) = (course.set(), *loss);
    let data = set.data();
    let classes = classes(set, loss)?;
    if layout.units > 0 && layout.labels != 2 {
        let (units, labels) = (layout.units, layout.labels);
        return Err(Error::parameter(format!(
            "{units} hidden units with {labels} classes; expected two, or one of each class \
             against the rest"
        )));
    }
    // 1 for documents with a label, −1 for others, `[N]`.
    let first = if layout.labels == 2 { 1 } else { 0 };
    let targets = (first..layout.labels).map(|label| {
        let of_label = |own: &LabelId| if own.index() == label { 1.0 } else { -1.0 };
        classes.iter().map(of_label).collect()
    });
    let targets: Vec<Vec<f64>> = targets.collect();
    let weights: Vec<f64> = (0..data.len()).map(|i| data.weight(i)).collect();
    let documents = Documents {
        rows: &data.nodes,
        scales: &set.space().nodes.scale,
        bias: match (layout.units, course.options().boundary) {
            (0, Boundary::On) => SQRT_2,
            (0, Boundary::Off) => 0.0,
            _ => 1.0,
        },
        targets: &targets[0],
        weights: &weights,
        penalizes_bias: learner.penalizes_bias,
    };
    let noise = input_noise(&method.noise)?;
    let l2 = 0.5 * learner.regularization().l2.unwrap_or(0.0);
    if layout.units > 0 {
        let mut problem = HiddenProblem::new(documents, loss, noise, l2, layout.units);
        return method.minimize_objective(&mut problem, course);
    }
    let problem = Problem::new(documents, loss, noise, l2);
    let problems = targets.iter().map(|targets| problem.with_targets(targets));
    let problems: Vec<Problem<'_>> = problems.collect();
    let options = IrlsOptions {
        max_iterations: course.iterations_left(),
        earlier_iterations: course.earlier_iterations(),
        improvement_tolerance: method.optimizer.improvement_tolerance,
        period: method.optimizer.period,
        gradient_tolerance: method.optimizer.gradient_tolerance,
    };
    let mut theta = course.take_start();
    let starts = theta.chunks_exact(layout.columns + 1);
    let own: Vec<(&Problem<'_>, &[f64])> = problems.iter().zip(starts).collect();
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
    let stop_reason = minimize(&mut runs, course.interrupt(), &mut |runs| {
        set_weights(layout, runs, &mut theta);
        let all = together(layout, runs, &problem);
        // The smallest of those that made this iteration.
        let made = runs.iter().filter(|run| run.iterations() == all.iterations);
        let (nonzero, x_norm) = layout.of_labels(&theta);
        let iteration = Iteration {
            number: all.iterations,
            value: all.value,
            detail: &all.detail,
            gradient_norm: all.gradient_norm,
            x_norm,
            step: made.map(|run| run.step).fold(f64::INFINITY, f64::min),
            evaluations: all.evaluations,
            x: &theta,
            nonzero,
        };
        course.iteration(&iteration, None)
    });
    if runs.iter().any(Minimization::has_failed) {
        return Err(Error::NotFinite(
            "the objective is not finite at the start of training; expected smaller feature values"
                .to_owned(),
        ));
    }
    set_weights(layout, &runs, &mut theta);
    Ok(Outcome { stop_reason, x: theta, ..together(layout, &runs, &problem) })
}

/// Returns what the minimizations of all labels have come to, without weights.
fn together(
    layout: Layout,
    runs: &[Minimization<'_, '_>],
    problem: &Problem<'_>,
) -> Outcome<Terms> {
    let value = runs.iter().fold(Value::default(), |sum, run| Value {
        total: sum.total + run.value.total,
        loss: sum.loss + run.value.loss,
        l2: sum.l2 + run.value.l2,
    });
    let squares = runs.iter().map(|run| run.gradient_norm * run.gradient_norm);
    let iterations = runs.iter().map(Minimization::iterations);
    Outcome {
        value: value.total,
        detail: problem.terms(value),
        stop_reason: StopReason::Gradient,
        iterations: iterations.max().unwrap_or(0),
        evaluations: runs.iter().map(|run| run.evaluations).sum(),
        // With respect to the weights of labels.
        gradient_norm: (layout.copies() as f64 * squares.sum::<f64>()).sqrt(),
        skipped_updates: 0,
        restarts: 0,
        x: Vec::new(),
    }
}

/// Sets θ to the weights w of each problem.
fn set_weights(layout: Layout, runs: &[Minimization<'_, '_>], theta: &mut [f64]) {
    let half = if layout.is_binary() { 0.5 / SQRT_2 } else { 1.0 / SQRT_2 };
    let own = theta.chunks_exact_mut(layout.columns + 1);
    for (theta, run) in own.zip(runs) {
        theta.copy_from_slice(&run.w);
        theta[layout.columns] = half * run.w[layout.columns];
    }
}

/// Returns the classes of the documents, `[N]`.
///
/// # Errors
///
/// [`Error::Parameter`] if they are sentences, or have no class or several.
fn classes(set: &TrainingSet, loss: Loss) -> Result<Vec<LabelId>> {
    let data = set.data();
    if data.unlabeled() > 0 {
        return Err(fault(loss, "unlabeled documents", "labeled ones"));
    }
    if data.tokens() != data.len() || set.space().edges.columns() > 0 {
        return Err(fault(loss, "sentences", "documents: one token each"));
    }
    if set.labels().len() < 2 {
        return Err(fault(loss, "one class", "two or more"));
    }
    let labels = (0..data.len()).map(|i| match data.target(i) {
        Target::Gold(&[label]) => Ok(label),
        _ => Err(fault(loss, "a partial label", "one class per document")),
    });
    labels.collect()
}

/// Returns the error of data that do not fit the loss.
fn fault(loss: Loss, found: &str, expected: &str) -> Error {
    let name = loss.name();
    Error::parameter(format!("the {name} loss with {found}; expected {expected}"))
}

/// Returns the noise of the inputs.
fn input_noise(noise: &NoiseOptions) -> Result<InputNoise> {
    let rate = noise.dropout;
    Ok(match noise.kind {
        _ if !noise.is_on() => InputNoise::None,
        NoiseKind::Dropout => InputNoise::Proportional(rate / (1.0 - rate)),
        NoiseKind::Gaussian => InputNoise::Proportional(rate),
        NoiseKind::Additive => InputNoise::Additive(rate),
        kind => {
            return Err(Error::parameter(format!(
                "the noise is {kind}; expected noise with a bound"
            )));
        }
    })
}
