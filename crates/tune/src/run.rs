//! One run of a search: an ordinary training of a configuration.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::data::TuningData;
use dropchain::Trainer;
use dropchain::error::Result;
use dropchain::kernel::optim::StopReason;
use dropchain::memory::MemoryLimit;
use dropchain::train::{
    End, EndReason, Iteration, Observer, ObserverError, Pass, Pruned, Rounded, TrainSettings,
    TrainingCorpora,
};

/// A run of a search, by the index of its configuration and, with folds, that of its fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct RunKey {
    pub configuration: usize,
    pub fold: Option<usize>,
}

/// What a run has scored, of which the journal keeps a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Course {
    /// What it has scored after each iteration.
    #[serde(flatten)]
    pub scores: Scores,
    /// Number of iterations of the warm-up.
    pub warm_up: usize,
    /// How training ended.
    pub end: End,
}

/// The scores of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Scores {
    /// The score after each iteration.
    pub values: Vec<f64>,
    /// The recall bias of each score.
    pub recall_biases: Vec<f64>,
    /// The number of weights that are not 0 at each score.
    pub nonzero_weights: Vec<usize>,
    /// The objective after the last iteration, if it is finite.
    pub objective: Option<f64>,
}

impl Scores {
    /// Returns the index of the scores after an iteration, counted from 1, or after the last one if
    /// there are fewer; `None` if there are no scores.
    pub fn index_after(&self, iteration: usize) -> Option<usize> {
        iteration.min(self.values.len()).checked_sub(1)
    }
}

/// The model of a run.
#[derive(Default)]
pub(super) struct RunModel {
    /// The contents of its file.
    pub file: Vec<u8>,
    pub pruned: Option<Pruned>,
    pub rounded: Option<Rounded>,
}

/// What a run trains on, and what limits it.
pub(super) struct RunInput<'a> {
    pub data: &'a TuningData<'a>,
    pub template: usize,
    pub corpora: TrainingCorpora,
    pub memory: MemoryLimit,
    pub interrupt: Option<&'a AtomicBool>,
}

/// Trains. Returns the model and what the run has scored.
///
/// # Errors
///
/// The errors of [`Trainer::train`].
pub(super) fn train(settings: TrainSettings, input: RunInput<'_>) -> Result<(RunModel, Course)> {
    let mut recorder = Recorder::default();
    let (file, end) = train_observed(settings, input, &mut recorder)?;
    let Recorder { scores, model } = recorder;
    Ok((RunModel { file, ..model }, Course { scores, warm_up: end.warm_up, end }))
}

/// Trains. Returns the file of the model, and how training ended.
///
/// # Errors
///
/// The errors of [`Trainer::train`].
pub(super) fn train_observed(
    settings: TrainSettings,
    input: RunInput<'_>,
    observer: &mut dyn Observer,
) -> Result<(Vec<u8>, End)> {
    let RunInput { data, template, corpora, memory, interrupt } = input;
    let mut trainer = Trainer::with_settings(settings).memory(memory);
    trainer = interrupt.into_iter().fold(trainer, Trainer::interrupt);
    trainer = data.models.init.into_iter().fold(trainer, Trainer::init);
    trainer = data.models.towards.into_iter().fold(trainer, Trainer::towards);
    let trained = trainer.train(corpora, data.templates[template].clone(), observer)?;
    Ok((trained.model.as_bytes().to_vec(), trained.end))
}

/// Returns whether training was interrupted.
pub(super) fn is_interrupted(end: &End) -> bool {
    end.reason == EndReason::Optimizer(StopReason::Interrupted)
}

/// Records what a run scores; of two passes, the last.
#[derive(Default)]
struct Recorder {
    scores: Scores,
    model: RunModel, // without its file
}

impl Observer for Recorder {
    fn pass(&mut self, _: Pass) {
        *self = Self::default();
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        let scores = &mut self.scores;
        // JSON has no other numbers.
        scores.objective = Some(iteration.objective).filter(|objective| objective.is_finite());
        if let Some(score) = iteration.dev.filter(|_| iteration.number > 0) {
            scores.values.push(score.value());
            scores.recall_biases.push(iteration.recall_bias.unwrap_or(0.0));
            scores.nonzero_weights.push(iteration.weights.nonzero_weights);
        }
        Ok(ControlFlow::Continue(()))
    }

    fn pruned(&mut self, pruned: &Pruned) {
        self.model.pruned = Some(*pruned);
    }

    fn rounded(&mut self, rounded: &Rounded) {
        self.model.rounded = Some(*rounded);
    }
}
