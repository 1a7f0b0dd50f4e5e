//! Predictions of the first pass for its own training data, by cross-validation.

use super::events::{EndReason, Observer, Pass};
use super::folds::Folds;
use super::passes::Passes;
use super::predicted_corpus::{Documents, predict, push_document};
use super::trainer::Trainer;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::optim::StopReason;
use crate::second_pass::{LabelTypes, Prediction};
use crate::sentence::Sentence;
use crate::tag::Tagger;
use crate::template::Template;

/// Number of folds of the training data.
const FOLDS: usize = 5;

/// Seed of the division into folds.
const SEED: u64 = 1;

/// Divides the sentences of documents into folds, by document if there are enough.
///
/// # Errors
///
/// There is one sentence.
pub(super) fn folds(documents: &Documents<'_>) -> Result<Folds> {
    let tokens: Vec<usize> = documents.iter().flatten().map(|s| s.len()).collect();
    let count = FOLDS.min(tokens.len());
    if count < 2 {
        return Err(Error::parameter(
            "there is one sentence to train on; expected at least 2 for training in two passes \
             (the template reads predictions)",
        ));
    }
    let mut next = 0;
    let numbers = documents.iter().map(|document| {
        let first = next;
        next += document.len();
        (first..next).collect()
    });
    Ok(Folds::of_documents(numbers.collect(), &tokens, count, SEED))
}

/// Predictions for training data by models that were trained on other parts of it.
pub(super) struct Jackknife<'a> {
    pub trainer: Trainer<'a>,
    pub template: Template,
    pub documents: &'a [Vec<&'a Sentence>],
    pub types: &'a LabelTypes,
}

impl Jackknife<'_> {
    /// Trains the models of the folds that have none yet, and adds their predictions to those of
    /// `passes`. Returns false if training was interrupted.
    ///
    /// # Errors
    ///
    /// Those of training; there are too few sentences; the predictions of `passes` are not for
    /// these sentences.
    pub fn run(
        &self,
        folds: &Folds,
        passes: &mut Passes,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        self.check(folds, &passes.finished.folds)?;
        let of = folds.held_out().len();
        for i in passes.finished.folds.len()..of {
            let number = i + 1;
            passes.begin_pass(Pass::Fold { number, of }, observer);
            let held_out = &folds.held_out()[i];
            let is_held_out = |number: usize| held_out.binary_search(&number).is_ok();
            let rest = self.without(is_held_out).into();
            let trained = passes.train(&self.trainer, rest, &self.template, observer)?;
            if trained.end.reason == EndReason::Optimizer(StopReason::Interrupted) {
                return Ok(false);
            }
            let tagger = Tagger::new(trained.model);
            let types = self.types.of_labels(&tagger.model().header().labels)?;
            let predicted = predict(&tagger, &types, self.documents, is_held_out)?;
            passes.finished.folds.push(predicted);
            passes.save(observer);
        }
        Ok(true)
    }

    /// Checks predictions that were read from a checkpoint.
    fn check(&self, folds: &Folds, predictions: &[Vec<Prediction>]) -> Result<()> {
        let sentences: Vec<&Sentence> = self.documents.iter().flatten().copied().collect();
        let fits = |(held_out, predictions): (&Vec<usize>, &Vec<Prediction>)| {
            let fits = |(&i, prediction): (&usize, &Prediction)| {
                prediction.fits(sentences[i].len(), self.types)
            };
            held_out.len() == predictions.len() && held_out.iter().zip(predictions).all(fits)
        };
        let folds = folds.held_out();
        if predictions.len() <= folds.len() && folds.iter().zip(predictions).all(fits) {
            return Ok(());
        }
        Err(Error::parameter(
            "the predictions in the checkpoint are not for these sentences; expected those of the \
             interrupted run",
        ))
    }

    /// Returns the sentences that are not held out.
    fn without(&self, is_held_out: impl Fn(usize) -> bool) -> Corpus {
        let mut number = 0;
        let mut corpus = Corpus::new();
        for document in self.documents {
            let numbered = document.iter().map(|&sentence| {
                number += 1;
                (number - 1, sentence)
            });
            let rest = numbered.filter(|&(number, _)| !is_held_out(number));
            push_document(&mut corpus, rest.map(|(_, sentence)| sentence.clone()));
        }
        corpus
    }
}
