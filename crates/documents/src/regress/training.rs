//! From documents to a model.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use serde_json::json;

use super::corpus::RegressionCorpus;
use super::options::{RegressionHeader, RegressionOptions};
use super::regression::Regression;
use super::solve::{Fit, RegressionIteration, Solution, Strengths};
use crate::{Instance, ModelKind};
use dropchain::error::{Error, Result};
use dropchain::model::{Precision, RowFile};
use dropchain::optim::StopReason;

/// A trained regression, and how training ended.
#[derive(Debug)]
pub struct TrainedRegression {
    /// The regression with its model.
    pub regression: Regression,
    /// Why training stopped.
    pub stop_reason: StopReason,
    /// Steps, or passes over the features.
    pub iterations: usize,
    /// The objective.
    pub objective: f64,
}

/// Trains regressions.
#[derive(Debug)]
pub struct RegressionTrainer<'a> {
    pub(super) options: RegressionOptions,
    /// Ends training with the best result so far as soon as it is set.
    pub interrupt: Option<&'a AtomicBool>,
    /// The files that documents come from, for the record in the model.
    pub files: Vec<String>,
}

impl<'a> RegressionTrainer<'a> {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if they are out of range or contradict one another.
    pub fn new(options: RegressionOptions) -> Result<Self> {
        options.check()?;
        Ok(Self { options, interrupt: None, files: Vec::new() })
    }

    /// Collects documents whose labels are the numbers to be predicted, such as those of an
    /// [`InstanceReader`](crate::InstanceReader).
    ///
    /// # Errors
    ///
    /// Those of reading; [`Error::Input`] with the place of the document: its label is no number,
    /// or not one of the loss; it is a text and should have features, or the other way round;
    /// values are too large; memory is exhausted.
    pub fn corpus(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
    ) -> Result<RegressionCorpus> {
        let mut corpus = RegressionCorpus::default();
        for document in documents {
            corpus.push(&document?, &self.options)?;
        }
        Ok(corpus)
    }

    /// Trains on documents. `observer` is called after every iteration, and may end training.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are no documents, memory does not suffice, or the minimum is
    /// not unique and the solver needs that; [`Error::NotFinite`] if numbers overflow.
    pub fn train(
        &self,
        corpus: &RegressionCorpus,
        observer: &mut dyn FnMut(RegressionIteration) -> ControlFlow<()>,
    ) -> Result<TrainedRegression> {
        let fit = self.fit(corpus)?;
        let strengths = Strengths { l2: self.options.l2, l1: self.options.l1 };
        let solution = fit.minimize(strengths, None, observer)?;
        self.finish(corpus, &self.options, &solution)
    }

    pub(super) fn fit<'c>(&'c self, corpus: &'c RegressionCorpus) -> Result<Fit<'c>> {
        let columns = corpus.features();
        let held = corpus.memory();
        let (rows, targets) = (&corpus.rows, &corpus.targets);
        Fit::new(rows, columns, targets, held, &self.options, self.interrupt)
    }

    /// Makes the model; `options` are what it records.
    pub(super) fn finish(
        &self,
        corpus: &RegressionCorpus,
        options: &RegressionOptions,
        solution: &Solution,
    ) -> Result<TrainedRegression> {
        let mut rows: Vec<(&str, &f64)> = corpus.names().into_iter().zip(&solution.w).collect();
        rows.sort_by_key(|&(name, _)| name);
        let rows = rows.into_iter();
        let rows = rows.map(|(name, &weight)| (name, vec![(0, weight)]));
        let mut record = serde_json::to_value(options)
            .map_err(|error| Error::parameter(format!("cannot record the options: {error}")))?;
        record["objective"] = json!(solution.objective);
        record["iterations"] = json!(solution.iterations);
        record["stop_reason"] = json!(solution.stop_reason);
        let header = RegressionHeader {
            features: options.features,
            table: options.table.clone(),
            label: options.label.clone(),
            loss: options.loss,
            bias: solution.bias,
            documents: corpus.documents() as u64,
            files: self.files.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            options: record,
        };
        let magic = ModelKind::Regression.magic();
        let bytes = RowFile::encode(magic, &header, (1, Precision::F32), rows)?;
        Ok(TrainedRegression {
            regression: Regression::from_bytes(bytes)?,
            stop_reason: solution.stop_reason,
            iterations: solution.iterations,
            objective: solution.objective,
        })
    }
}

impl Regression {
    /// Trains on documents whose labels are the numbers to be predicted.
    ///
    /// # Errors
    ///
    /// Those of [`RegressionTrainer`].
    pub fn train(
        documents: impl IntoIterator<Item = Result<Instance>>,
        options: &RegressionOptions,
    ) -> Result<TrainedRegression> {
        let trainer = RegressionTrainer::new(options.clone())?;
        let corpus = trainer.corpus(documents)?;
        trainer.train(&corpus, &mut |_| ControlFlow::Continue(()))
    }
}
