//! Training of classifiers of two labels with hidden units.
//!
//! The layout of the parameters is that of a model with one label per unit: its node weights are α,
//! its first labels have the biases c of the units, and its last labels their output weights w. The
//! bias b follows. [`OutputLayer`] has w and b in the model, whose labels are the units.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::hidden_units::{HiddenOutput, HiddenUnits};
use super::irls::{input_noise, not_finite, terms};
use super::memory::{RETURNED, scorer_memory};
use super::optimize::Watch;
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::irls::{
    Documents, HiddenProblem, InputNoise, Loss, hidden_dimension, hidden_memory, hidden_start,
};
use crate::model::{Output, OutputLayer};
use crate::objective::Terms;
use crate::optim::{self, LbfgsOptions, LbfgsSettings, Outcome, StateObserver, StopReason};

impl TrainingSet {
    /// Trains the weights of hidden units, from θ.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are not two labels, or the sentences are not documents with
    /// one; [`Error::NotFinite`] if values are too large.
    pub(super) fn train_hidden(
        &self,
        settings: &TrainSettings,
        loss: Loss,
        start: Vec<f64>,
        limit: Option<usize>,
        interrupt: Option<&AtomicBool>,
        watch: &mut Watch<'_, '_>,
    ) -> Result<Outcome<Terms>> {
        let labels = self.labels.set.len();
        if labels != 2 {
            let units = settings.options().hidden;
            return Err(Error::parameter(format!(
                "{units} hidden units with {labels} classes; expected two, or one of each class \
                 against the rest"
            )));
        }
        let data = self.document_data(loss)?;
        let targets = data.targets(1);
        let documents = Documents {
            rows: &self.data().nodes,
            scales: &self.space().nodes.scale,
            bias: 1.0,
            targets: &targets,
            weights: &data.weights,
        };
        let (noise, l2) = (input_noise(settings)?, 0.5 * settings.l2());
        let has_noise = noise != InputNoise::None;
        let units = settings.options().hidden;
        let mut problem = HiddenProblem::new(documents, loss, noise, l2, units);
        let lbfgs = LbfgsSettings::new(LbfgsOptions {
            max_iterations: limit,
            ..settings.options().lbfgs.clone()
        })?;
        let mut observe = |iteration: &optim::Iteration<'_, _>| -> ControlFlow<()> {
            watch.iteration(&optim::Iteration {
                number: iteration.number,
                value: iteration.value,
                detail: &terms(loss, iteration.detail, has_noise),
                gradient_norm: iteration.gradient_norm,
                x_norm: iteration.x_norm,
                step: iteration.step,
                evaluations: iteration.evaluations,
                x: iteration.x,
                nonzero: iteration.nonzero,
            })
        };
        let outcome = optim::minimize(&mut problem, start, None, &lbfgs, interrupt, &mut observe)?;
        if outcome.stop_reason == StopReason::NonFinite && outcome.iterations == 0 {
            return Err(not_finite());
        }
        Ok(Outcome {
            detail: terms(loss, &outcome.detail, has_noise),
            x: outcome.x,
            value: outcome.value,
            stop_reason: outcome.stop_reason,
            iterations: outcome.iterations,
            evaluations: outcome.evaluations,
            gradient_norm: outcome.gradient_norm,
            skipped_updates: outcome.skipped_updates,
            restarts: outcome.restarts,
        })
    }

    /// Returns the weights that training of hidden units starts from.
    pub(super) fn hidden_start(&self, units: HiddenUnits) -> Vec<f64> {
        let scales = &self.space().nodes.scale;
        hidden_start(&self.data().nodes, scales, units.count, units.seed)
    }

    /// Returns the output layer of the model with these parameters.
    pub(super) fn output_layer(&self, theta: &[f64]) -> OutputLayer {
        let output = HiddenOutput::new(self.space(), theta);
        OutputLayer {
            classes: self.labels.set.names().to_vec(),
            outputs: vec![Output {
                weights: output.weights,
                bias: output.bias,
            }],
        }
    }

    /// Like [`memory_to_reweight`](Self::memory_to_reweight), with hidden units.
    pub(super) fn memory_to_train_hidden(&self, settings: &TrainSettings) -> (usize, usize) {
        let columns = self.space().nodes.columns();
        let options = settings.options();
        let pairs = options.lbfgs.memory;
        let bytes = hidden_memory(&self.data().nodes, columns, options.hidden, pairs);
        let best = hidden_dimension(columns, options.hidden).saturating_mul(8 * 2);
        let returned = if bytes >= RETURNED { bytes } else { 0 };
        let bytes = bytes.saturating_add(best);
        (bytes.saturating_add(scorer_memory(self)), returned)
    }
}
