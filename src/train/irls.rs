//! Training of linear classifiers by iteratively reweighted least squares.
//!
//! The weights of two labels are ±½·w, as they are at the minimum of −log p(y|x), so that the score
//! of the second label minus that of the first is w·x, p(second|x) = σ(w·x), and the penalty
//! c2·‖θ‖² is ½·c2·‖w‖². The bias is that of the first and of the last token: two features of
//! value 1 with equal weights, or one of value √2.
//!
//! More labels have a problem each, of that label against the rest, with the penalty ½·c2·‖w‖², and
//! w are the weights of the label. All problems make an iteration at a time, so that development
//! data can score the labels together; one that has converged waits for the others.

use std::f64::consts::SQRT_2;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::memory::{RETURNED, scorer_memory};
use super::optimize::Watch;
use super::settings::{NoiseTerm, TrainSettings};
use super::training_set::TrainingSet;
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::extract::Target;
use crate::ids::LabelId;
use crate::irls::{
    CONCURRENT, Documents, InputNoise, IrlsIteration, IrlsOptions, IrlsOutcome, Loss, Minimization,
    Problem, Value, irls_memory,
};
use crate::objective::{NoiseDistribution, Terms};
use crate::optim::{Iteration, Outcome, StateObserver, StopReason};
use crate::score::Boundary;

/// The documents of a training set.
pub(super) struct DocumentData {
    labels: Vec<LabelId>,  // [N]
    pub weights: Vec<f64>, // [N]
}

impl DocumentData {
    /// Returns 1 for documents with this label, −1 for others, `[N]`.
    pub fn targets(&self, label: usize) -> Vec<f64> {
        let labels = self.labels.iter();
        let target = |own: &LabelId| if own.index() == label { 1.0 } else { -1.0 };
        labels.map(target).collect()
    }
}

impl TrainingSet {
    /// Trains from θ, after `done` iterations, with the loss of the settings: by iteratively
    /// reweighted least squares, or with hidden units.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are fewer than two labels, or of hidden units more, or the
    /// sentences are not documents with one; [`Error::NotFinite`] if values are too large.
    pub(super) fn reweight(
        &self,
        settings: &TrainSettings,
        start: Vec<f64>,
        done: usize,
        limit: Option<usize>,
        interrupt: Option<&AtomicBool>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let Some(loss) = settings.options().loss else {
            return Err(Error::parameter("there is no loss; expected one"));
        };
        if settings.options().hidden > 0 {
            return self.train_hidden(settings, loss, start, limit, interrupt, watch);
        }
        let data = self.document_data(loss)?;
        let targets: Vec<Vec<f64>> = self.own_labels().map(|label| data.targets(label)).collect();
        let [first, rest @ ..] = &targets[..] else {
            return Err(fault(loss, "one class", "two or more"));
        };
        let documents = Documents {
            rows: &self.data().nodes,
            scales: &self.space().nodes.scale,
            bias: match settings.options().boundary {
                Boundary::On => SQRT_2,
                Boundary::Off => 0.0,
            },
            targets: first,
            weights: &data.weights,
        };
        let noise = input_noise(settings)?;
        let problem = Problem::new(documents, loss, noise, 0.5 * settings.l2());
        let others = rest.iter().map(|targets| problem.with_targets(targets));
        let others: Vec<Problem<'_>> = others.collect();
        let lbfgs = &settings.options().lbfgs;
        let options = IrlsOptions {
            max_iterations: limit,
            earlier_iterations: done,
            improvement_tolerance: lbfgs.improvement_tolerance,
            period: lbfgs.period,
            gradient_tolerance: lbfgs.gradient_tolerance,
        };
        let problems = std::iter::once(&problem).chain(&others);
        let own: Vec<(&Problem<'_>, usize)> = problems.zip(self.own_labels()).collect();
        let mut runs = Vec::with_capacity(own.len());
        for own in own.chunks(CONCURRENT) {
            let begun = own.par_iter().map(|(problem, label)| {
                Minimization::new(problem, self.score_weights(&start, *label), options)
            });
            runs.par_extend(begun);
        }
        let joint = Joint {
            set: self,
            has_noise: noise != InputNoise::None,
            loss,
            runs,
            theta: start,
        };
        joint.run(interrupt, watch)
    }

    /// Returns the labels that have a problem each: of two, the second.
    fn own_labels(&self) -> Range<usize> {
        match self.labels.set.len() {
            0 | 1 => 0..0,
            2 => 1..2,
            labels => 0..labels,
        }
    }

    /// Returns labels and weights of the documents.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the sentences are not documents with one label.
    pub(super) fn document_data(&self, loss: Loss) -> Result<DocumentData> {
        let data = self.data();
        if data.unlabeled() > 0 {
            return Err(fault(loss, "unlabeled documents", "labeled ones"));
        }
        if data.tokens() != data.len() || self.space().edges.columns() > 0 {
            return Err(fault(loss, "sentences", "documents: one token each"));
        }
        if self.has_line_options() {
            return Err(fault(loss, "options of template lines", "none"));
        }
        let mut labels = Vec::with_capacity(data.len());
        for i in 0..data.len() {
            let Target::Gold(&[label]) = data.target(i) else {
                return Err(fault(loss, "a partial label", "one class per document"));
            };
            labels.push(label);
        }
        Ok(DocumentData {
            labels,
            weights: (0..data.len()).map(|i| data.weight(i)).collect(),
        })
    }

    /// Returns w of a label, given θ.
    fn score_weights(&self, theta: &[f64], label: usize) -> Vec<f64> {
        let is_binary = self.labels.set.len() == 2;
        // Of two labels, the weights of the second minus those of the first.
        let score = |weights: &[f64]| match is_binary {
            true => weights[1] - weights[0],
            false => weights[label],
        };
        let block = &self.space().nodes;
        let weights = block.weights(theta);
        let columns = 0..block.columns();
        let mut w: Vec<f64> = columns
            .map(|column| score(&weights[block.targets.range(column)]))
            .collect();
        let mut labels = LabelWeights::default();
        self.space().label_weights(theta, &mut labels);
        w.push((score(&labels.start) + score(&labels.end)) / SQRT_2);
        w
    }

    /// Sets θ to the weights w of each label that has a problem.
    fn set_score_weights<'w>(&self, all: impl Iterator<Item = &'w [f64]>, theta: &mut [f64]) {
        let labels = self.labels.set.len();
        let block = &self.space().nodes;
        let all: Vec<&[f64]> = all.collect();
        let set = |column: usize, weights: &mut [f64], scale: f64| match all[..] {
            [w] if labels == 2 => {
                weights[0] = -0.5 * scale * w[column];
                weights[1] = 0.5 * scale * w[column];
            }
            _ => {
                for (weight, w) in weights.iter_mut().zip(&all) {
                    *weight = scale * w[column];
                }
            }
        };
        let weights = block.weights_mut(theta);
        for column in 0..block.columns() {
            set(column, &mut weights[block.targets.range(column)], 1.0);
        }
        let mut bias = vec![0.0; labels];
        set(block.columns(), &mut bias, 1.0 / SQRT_2);
        let weights = LabelWeights {
            transitions: Vec::new(), // none at order 0
            start: bias.clone(),
            end: bias,
        };
        self.space().set_label_weights(&weights, theta);
    }

    /// Estimates the memory of the optimization, and how much of it the allocator returns to the
    /// system before the model is built.
    pub(super) fn memory_to_reweight(&self) -> (usize, usize) {
        let columns = self.space().nodes.columns();
        let bytes = irls_memory(&self.data().nodes, columns, self.own_labels().len());
        // θ, that of the best iteration, and the result.
        let parameters = self.space().dimension().saturating_mul(8 * 3);
        let returned = if bytes >= RETURNED { bytes } else { 0 };
        let bytes = bytes.saturating_add(parameters);
        (bytes.saturating_add(scorer_memory(self)), returned)
    }
}

/// The minimizations of all labels.
struct Joint<'s, 'p> {
    set: &'s TrainingSet,
    loss: Loss,
    has_noise: bool,
    runs: Vec<Minimization<'p, 'p>>,
    theta: Vec<f64>,
}

impl Joint<'_, '_> {
    fn run(
        mut self,
        interrupt: Option<&AtomicBool>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        loop {
            if self.ended_by(StopReason::NonFinite) {
                return self.finish(StopReason::NonFinite);
            }
            let (set, runs) = (self.set, self.runs.iter());
            set.set_score_weights(runs.map(|run| run.iteration().w), &mut self.theta);
            let flow = self.report(watch);
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

    /// Returns the sum of the terms of all.
    fn value(values: impl Iterator<Item = Value>) -> Value {
        values.fold(Value::default(), |sum, value| Value {
            total: sum.total + value.total,
            loss: sum.loss + value.loss,
            l2: sum.l2 + value.l2,
        })
    }

    /// Returns the norm of the gradient with respect to θ, given those with respect to each w.
    fn gradient_norm(&self, norms: impl Iterator<Item = f64>) -> f64 {
        let square: f64 = norms.map(|norm| norm * norm).sum();
        let scale = if self.set.labels.set.len() == 2 {
            2.0
        } else {
            1.0
        };
        (scale * square).sqrt()
    }

    /// Tells the watch of the last iteration of all.
    fn report(&self, watch: &mut Watch<'_, '_>) -> ControlFlow<()> {
        let last: Vec<IrlsIteration<'_>> = self.runs.iter().map(Minimization::iteration).collect();
        let value = Self::value(last.iter().map(|run| run.value));
        let number = last.iter().map(|run| run.number).max().unwrap_or(0);
        // The smallest of those that made this iteration.
        let made = last.iter().filter(|run| run.number == number);
        let step = made.map(|run| run.step).fold(f64::INFINITY, f64::min);
        watch.iteration(&Iteration {
            number,
            value: value.total,
            detail: &terms(self.loss, &value, self.has_noise),
            gradient_norm: self.gradient_norm(last.iter().map(|run| run.gradient_norm)),
            x_norm: self.theta.iter().map(|w| w * w).sum::<f64>().sqrt(),
            step,
            evaluations: last.iter().map(|run| run.evaluations).sum(),
            x: &self.theta,
            nonzero: self.theta.iter().filter(|&&w| w != 0.0).count(),
        })
    }

    fn finish(mut self, stop_reason: StopReason) -> Result<Outcome<Terms>> {
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
        self.set.set_score_weights(weights, &mut self.theta);
        let value = Self::value(outcomes.iter().map(|run| run.value));
        Ok(Outcome {
            value: value.total,
            detail: terms(self.loss, &value, self.has_noise),
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

/// Returns the error of data that do not fit the loss.
pub(super) fn fault(loss: Loss, found: &str, expected: &str) -> Error {
    let name = loss.name();
    Error::parameter(format!("the {name} loss with {found}; expected {expected}"))
}

/// Returns the terms of the objective. Without noise, what the smoothing of a loss adds is in none.
pub(super) fn terms(loss: Loss, value: &Value, has_noise: bool) -> Terms {
    Terms {
        log_likelihood: match loss {
            Loss::Logistic => -value.loss,
            _ => f64::NAN,
        },
        noise: match has_noise {
            true => value.total - value.loss - value.l2,
            false => 0.0,
        },
        l2: value.l2,
    }
}

/// Returns the error of an objective that is not finite where training starts.
pub(super) fn not_finite() -> Error {
    Error::NotFinite(
        "the objective is not finite at the start of training; expected smaller feature values"
            .to_owned(),
    )
}

/// Returns the noise of the inputs.
pub(super) fn input_noise(settings: &TrainSettings) -> Result<InputNoise> {
    Ok(match settings.noise() {
        None => InputNoise::None,
        Some(NoiseTerm::Quadratic(noise)) => match noise.distribution {
            NoiseDistribution::Dropout => InputNoise::Proportional(noise.node / (1.0 - noise.node)),
            NoiseDistribution::Gaussian => InputNoise::Proportional(noise.node),
            NoiseDistribution::Additive => InputNoise::Additive(noise.node),
        },
        Some(NoiseTerm::MonteCarlo(_)) => {
            return Err(Error::parameter(
                "the noise is monte-carlo; expected noise with a bound",
            ));
        }
    })
}
