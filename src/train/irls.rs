//! Training of linear classifiers of two labels by iteratively reweighted least squares.
//!
//! The weights of the two labels are ±½·w, as they are at the minimum of −log p(y|x), so that the
//! score of the second label minus that of the first is w·x, p(second|x) = σ(w·x), and the penalty
//! c2·‖θ‖² is ½·c2·‖w‖². The bias is that of the first and of the last token: two features of
//! value 1 with equal weights, or one of value √2.

use std::f64::consts::SQRT_2;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::memory::{RETURNED, scorer_memory};
use super::optimize::Watch;
use super::settings::{NoiseTerm, TrainSettings};
use super::storage::Storage;
use super::training_set::TrainingSet;
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::extract::Target;
use crate::irls::{
    Documents, InputNoise, IrlsIteration, IrlsOptions, Loss, Model, Problem, Solver, Value,
    irls_memory, minimize,
};
use crate::objective::{NoiseDistribution, Terms};
use crate::optim::{Iteration, Outcome, StateObserver, StopReason};
use crate::score::Boundary;

/// The documents of a training set.
pub(super) struct BinaryData {
    pub targets: Vec<f64>, // [N] 1 for the second label, −1 for the first
    pub weights: Vec<f64>, // [N]
    bias: f64,
}

impl TrainingSet {
    /// Trains from θ with the loss of the settings: by iteratively reweighted least squares, or
    /// with hidden units.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are not two labels, or the sentences are not documents with
    /// one; [`Error::NotFinite`] if values are too large.
    pub(super) fn reweight(
        &self,
        settings: &TrainSettings,
        start: Vec<f64>,
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
        let data = self.binary_data(settings, loss)?;
        let documents = Documents {
            rows: &self.data().nodes,
            scales: &self.space().nodes.scale,
            bias: data.bias,
            targets: &data.targets,
            weights: &data.weights,
        };
        let noise = input_noise(settings)?;
        let problem = Problem::new(documents, loss, noise, 0.5 * settings.l2());
        let lbfgs = &settings.options().lbfgs;
        let options = IrlsOptions {
            max_iterations: limit,
            improvement_tolerance: lbfgs.improvement_tolerance,
            period: lbfgs.period,
            gradient_tolerance: lbfgs.gradient_tolerance,
            model: Model::Expansion,
            solver: Solver::Auto,
        };
        let w = self.difference(&start);
        let mut theta = start;
        let mut observe = |iteration: &IrlsIteration<'_>| -> ControlFlow<()> {
            self.set_weights(iteration.w, &mut theta);
            watch.iteration(&Iteration {
                number: iteration.number,
                value: iteration.value.total,
                detail: &terms(loss, &iteration.value),
                gradient_norm: iteration.gradient_norm * SQRT_2, // of θ, not of w
                x_norm: theta.iter().map(|w| w * w).sum::<f64>().sqrt(),
                step: iteration.step,
                evaluations: iteration.evaluations,
                x: &theta,
                nonzero: theta.iter().filter(|&&w| w != 0.0).count(),
            })
        };
        let outcome = minimize(&problem, w, &options, interrupt, &mut observe);
        if outcome.stop_reason == StopReason::NonFinite && outcome.iterations == 0 {
            return Err(not_finite());
        }
        self.set_weights(&outcome.w, &mut theta);
        Ok(Outcome {
            x: theta,
            value: outcome.value.total,
            detail: terms(loss, &outcome.value),
            stop_reason: outcome.stop_reason,
            iterations: outcome.iterations,
            evaluations: outcome.evaluations,
            gradient_norm: outcome.gradient_norm * SQRT_2,
            skipped_updates: 0,
            restarts: 0,
        })
    }

    /// Returns the targets and weights of the documents.
    pub(super) fn binary_data(&self, settings: &TrainSettings, loss: Loss) -> Result<BinaryData> {
        let data = self.data();
        let fault = |found: String, expected: &str| {
            let name = loss.name();
            Err(Error::parameter(format!(
                "the {name} loss with {found}; expected {expected}"
            )))
        };
        let labels = self.labels.set.len();
        if labels != 2 {
            let expected = "two, or one of each class against the rest";
            return fault(format!("{labels} classes"), expected);
        }
        if data.unlabeled() > 0 {
            return fault("unlabeled documents".to_owned(), "labeled ones");
        }
        let is_in_memory = matches!(self.storage, Storage::Memory);
        if !is_in_memory || data.tokens() != data.len() || self.space().edges.columns() > 0 {
            return fault("sentences".to_owned(), "documents: one token each");
        }
        if self.has_line_options() {
            return fault("options of template lines".to_owned(), "none");
        }
        let mut targets = Vec::with_capacity(data.len());
        for i in 0..data.len() {
            let Target::Gold(&[label]) = data.target(i) else {
                return fault("a partial label".to_owned(), "one class per document");
            };
            targets.push(if label.index() == 1 { 1.0 } else { -1.0 });
        }
        Ok(BinaryData {
            targets,
            weights: (0..data.len()).map(|i| data.weight(i)).collect(),
            bias: match settings.options().boundary {
                Boundary::On => SQRT_2,
                Boundary::Off => 0.0,
            },
        })
    }

    /// Returns w, given θ: the weights of the second label minus those of the first.
    fn difference(&self, theta: &[f64]) -> Vec<f64> {
        let block = &self.space().nodes;
        let weights = block.weights(theta);
        let columns = 0..block.columns();
        let mut w: Vec<f64> = columns
            .map(|column| {
                let range = block.targets.range(column);
                weights[range.start + 1] - weights[range.start]
            })
            .collect();
        let mut labels = LabelWeights::default();
        self.space().label_weights(theta, &mut labels);
        let bias = labels.start[1] - labels.start[0] + labels.end[1] - labels.end[0];
        w.push(bias / SQRT_2);
        w
    }

    /// Sets θ to the weights ±½·w.
    fn set_weights(&self, w: &[f64], theta: &mut [f64]) {
        let block = &self.space().nodes;
        let weights = block.weights_mut(theta);
        for (column, w) in w[..block.columns()].iter().enumerate() {
            let range = block.targets.range(column);
            weights[range.start] = -0.5 * w;
            weights[range.start + 1] = 0.5 * w;
        }
        let bias = 0.5 * w[block.columns()] / SQRT_2;
        let labels = LabelWeights {
            transitions: vec![0.0; 4],
            start: vec![-bias, bias],
            end: vec![-bias, bias],
        };
        self.space().set_label_weights(&labels, theta);
    }

    /// Estimates the memory of the optimization, and how much of it the allocator returns to the
    /// system before the model is built.
    pub(super) fn memory_to_reweight(&self) -> (usize, usize) {
        let columns = self.space().nodes.columns();
        let bytes = irls_memory(&self.data().nodes, columns);
        // θ, that of the best iteration, and the result.
        let parameters = self.space().dimension().saturating_mul(8 * 3);
        let returned = if bytes >= RETURNED { bytes } else { 0 };
        let bytes = bytes.saturating_add(parameters);
        (bytes.saturating_add(scorer_memory(self)), returned)
    }
}

/// Returns the terms of the objective.
pub(super) fn terms(loss: Loss, value: &Value) -> Terms {
    Terms {
        log_likelihood: match loss {
            Loss::Logistic => -value.loss,
            _ => f64::NAN,
        },
        noise: value.total - value.loss - value.l2,
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
