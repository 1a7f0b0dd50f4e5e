//! The course of training.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::development::Development;
use super::events::{End, Observer, Start};
use super::extracted::{Corpora, Extracted};
use super::optimize::Optimizer;
use super::options::TrainOptions;
use super::training_set::TrainingSet;
use super::watch::{Watch, Watching};
use crate::error::Result;
use crate::model::Model;
use crate::objective::PenalizedLikelihood;
use crate::sentence::Sentence;
use crate::template::Template;

/// Trains models with checked parameters.
#[derive(Clone, Debug)]
pub struct Trainer<'a> {
    options: TrainOptions,
    interrupt: Option<&'a AtomicBool>,
    unlabeled: &'a [Sentence],
}

/// A model and how training it ended.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// How training ended.
    pub end: End,
}

impl<'a> Trainer<'a> {
    /// A trainer with these parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::Error::Parameter) naming the parameter that has no meaning.
    pub fn new(options: TrainOptions) -> Result<Self> {
        options.check()?;
        Ok(Self {
            options,
            interrupt: None,
            unlabeled: &[],
        })
    }

    /// A flag that ends training at the next evaluation when it is set; the best model so far
    /// is kept.
    #[must_use]
    pub fn interrupt(mut self, flag: &'a AtomicBool) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Unlabeled sentences, from which the noise term learns too (labels that they may have are not
    /// looked at). Without noise they change nothing.
    #[must_use]
    pub fn unlabeled(mut self, sentences: &'a [Sentence]) -> Self {
        self.unlabeled = sentences;
        self
    }

    /// Trains on labeled sentences.
    ///
    /// Attributes come from `template`, or from the sentences themselves if there is none
    /// ([`Sentence::attributes`]). With development sentences, training stops when their score
    /// no longer rises, and the model is that of the best score. Document boundaries
    /// ([`Layout::document_start`](crate::sentence::Layout)) are passed over.
    ///
    /// # Errors
    ///
    /// No sentences; no labels; a template that reads columns which are not there; a cell that should be
    /// a number and is not.
    pub fn train(
        &self,
        sentences: Vec<Sentence>,
        dev: Option<Vec<Sentence>>,
        template: Option<Template>,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let noise = self.options.noise();
        let corpora = Corpora {
            sentences,
            unlabeled: if noise.is_some() { self.unlabeled } else { &[] },
            dev,
        };
        let extracted = Extracted::new(corpora, template, &self.options)?;
        let clock = Instant::now();
        let material = extracted.material(&self.options);
        let (mut theta, end) = self.optimize(&material, clock, observer)?;
        if let Some(pruned) = material.prune(&self.options, &mut theta, end.recall_bias)? {
            observer.pruned(&pruned);
        }
        let model = material.model(&self.options, &theta, end.recall_bias)?;
        Ok(Trained { model, end })
    }

    fn optimize(
        &self,
        material: &TrainingSet,
        clock: Instant,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<f64>, End)> {
        let mut watch = Watch::new(Watching {
            clock,
            development: material.development(),
            space: material.space(),
            patience: self.options.patience,
            l1: self.options.l1 > 0.0,
            search: material.search(&self.options)?,
        });
        let objective = material.likelihood(self.options.l2);
        observer.start(&self.start(material, &objective));
        let optimizer = Optimizer {
            options: &self.options,
            space: material.space(),
            interrupt: self.interrupt,
        };
        let outcome = optimizer.run(objective, &mut watch, observer)?;
        let (theta, end) = watch.finish(outcome)?;
        observer.end(&end);
        Ok((theta, end))
    }

    /// What is known before the first iteration.
    fn start(&self, material: &TrainingSet, objective: &PenalizedLikelihood<'_>) -> Start<'_> {
        let prepared = material.prepared();
        Start {
            options: &self.options,
            sentences: prepared.data.labeled(),
            tokens: prepared.data.labels.len(),
            unlabeled_sentences: prepared.data.unlabeled(),
            dev_sentences: material.development().map_or(0, Development::len),
            labels: material.space().labels(),
            attributes: prepared.attributes(),
            collapsed_attributes: prepared.node_classes.len() + prepared.edge_classes.len(),
            parameters: material.space().dimension(),
            active_per_token: prepared.per_token[0],
            collapsed_active_per_token: prepared.per_token[1],
            estimated_memory: material.memory()
                + material.memory_to_train(&self.options, objective),
        }
    }
}
