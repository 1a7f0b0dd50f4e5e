//! One run of a search: an ordinary training of a configuration.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::data::TuningData;
use dropchain::train::{
    End, Iteration, ModelMatch, Observer, ObserverError, Pass, Pruned, Rounded, Start,
    TrainSettings, Trained, TrainingCorpora,
};
use dropchain::{MemoryLimit, Result, Trainer};

/// A run of a search, by the index of its configuration and, with folds, that of its fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct RunKey {
    pub configuration: usize,
    pub fold: Option<usize>,
}

/// The scores of a run, of which the checkpoint keeps a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Course {
    /// The scores after each iteration.
    pub scores: Vec<Score>,
    /// The objective after the last iteration, if it is finite.
    pub objective: Option<f64>,
    /// Number of iterations of the warm-up.
    pub warm_up: usize,
    /// How training ended.
    pub end: End,
}

/// The score of a run after an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Score {
    pub value: f64,
    pub recall_bias: f64,
    /// The number of weights that are not 0.
    pub nonzero_weights: usize,
}

impl Course {
    /// Returns whether all scores are possible ones.
    pub fn is_possible(&self) -> bool {
        self.scores.iter().all(|score| (0.0..=1.0).contains(&score.value))
    }

    /// Returns the score after an iteration, counted from 1, or the last one if there are fewer;
    /// `None` if there are no scores.
    pub fn score_after(&self, iteration: usize) -> Option<&Score> {
        self.scores[..iteration.min(self.scores.len())].last()
    }
}

/// The training data of a run, and its limits.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub data: &'a TuningData<'a>,
    pub template: usize,
    pub fold: Option<usize>,
    pub memory: MemoryLimit,
    pub interrupt: Option<&'a AtomicBool>,
}

impl Run<'_> {
    /// Trains. Returns the model, and what training has reported.
    ///
    /// # Errors
    ///
    /// The errors of [`Trainer::train`].
    pub fn train(&self, settings: TrainSettings) -> Result<(Trained, Record)> {
        self.train_on(self.data.corpora(self.template, self.fold)?, settings)
    }

    /// Trains on other corpora than those of the run.
    pub fn train_on(
        &self,
        corpora: TrainingCorpora,
        settings: TrainSettings,
    ) -> Result<(Trained, Record)> {
        let TuningData { templates, models, .. } = self.data;
        let mut trainer = Trainer::with_settings(settings).memory(self.memory);
        trainer = self.interrupt.into_iter().fold(trainer, Trainer::interrupt);
        trainer = models.init.into_iter().fold(trainer, Trainer::init);
        trainer = models.towards.into_iter().fold(trainer, Trainer::towards);
        let mut record = Record::default();
        let trained = trainer.train(corpora, templates[self.template].clone(), &mut record)?;
        Ok((trained, record))
    }
}

/// The report of training; of two passes, that of the last.
#[derive(Default)]
pub(super) struct Record {
    pub start: Option<Start>,
    pub matches: Vec<ModelMatch>,
    pub scores: Vec<Score>,
    pub objective: Option<f64>,
    pub pruned: Option<Pruned>,
    pub rounded: Option<Rounded>,
}

impl Record {
    /// Takes what the run has scored.
    pub fn course(&mut self, end: &End) -> Course {
        let scores = std::mem::take(&mut self.scores);
        Course { scores, objective: self.objective, warm_up: end.warm_up, end: end.clone() }
    }
}

impl Observer for Record {
    fn pass(&mut self, _: Pass) {
        *self = Self::default();
    }

    fn start(&mut self, start: &Start) {
        self.start = Some(start.clone());
    }

    fn matched(&mut self, found: &ModelMatch) {
        self.matches.push(found.clone());
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        // JSON has no other numbers.
        self.objective = Some(iteration.objective).filter(|objective| objective.is_finite());
        if let Some(score) = iteration.dev.filter(|_| iteration.number > 0) {
            self.scores.push(Score {
                value: score.value(),
                recall_bias: iteration.recall_bias.unwrap_or(0.0),
                nonzero_weights: iteration.weights.nonzero_weights,
            });
        }
        Ok(ControlFlow::Continue(()))
    }

    fn pruned(&mut self, pruned: &Pruned) {
        self.pruned = Some(*pruned);
    }

    fn rounded(&mut self, rounded: &Rounded) {
        self.rounded = Some(*rounded);
    }
}
