//! Training in two passes: the template of the second model reads what the first one predicts.
//!
//! The first model is trained on all data. What it predicts for its own training data is better
//! than what it predicts for other text, so the second model must not learn from that: the
//! predictions for each fold of the training data come from a model trained on the other folds
//! (jackknifing; Krishnan & Manning, ACL 2006), with the number of iterations and the recall bias
//! of the first model.

use std::hash::Hasher;
use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::base_models::BaseModels;
use super::checkpoint::FirstPass;
use super::corpora::{TrainingCorpora, is_content};
use super::events::{End, Observer, Pass};
use super::extraction::Source;
use super::folds::Folds;
use super::options::{Regularization, TrainOptions};
use super::settings::TrainSettings;
use super::trainer::{Trained, Trainer};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::optim::StopReason;
use crate::second_pass::{LabelTypes, PredictedDocument, Prediction};
use crate::sentence::{Document, DocumentOptions, Sentence, Separation};
use crate::tag::{Interrupt, Tagger};
use crate::template::Template;

/// Number of folds of the training data.
const FOLDS: usize = 5;

/// Seed of the division into folds.
const SEED: u64 = 1;

/// The documents of a corpus, each with its sentences that have tokens and their numbers.
type Documents<'a> = Vec<Vec<(usize, &'a Sentence)>>;

impl<'a> Trainer<'a> {
    /// Trains a first model with the template `first`, and a second one with `template`, which
    /// reads the predictions of the first. The result has both; if training is interrupted before
    /// the second has a result, only the first.
    pub(super) fn train_two_passes(
        &self,
        corpora: TrainingCorpora,
        template: &Template,
        first: Template,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let mut run = self.begin(2)?;
        run.set_fingerprint(|| self.fingerprint(&corpora, template))?;
        let plan = FirstPasses::new(&corpora, template, first)?;
        let trainer = self.first_pass()?;
        let first = match run.finished.first.clone() {
            Some(first) => first,
            None => {
                run.begin_pass(Pass::First, observer);
                let source = Source::Text(corpora.clone(), Some(plan.template.clone()));
                let Trained { model, end, .. } = trainer.train_pass(source, &mut run, observer)?;
                if [StopReason::Interrupted, StopReason::NonFinite].contains(&end.reason) {
                    return Ok(Trained { model, end, is_first_pass: true });
                }
                let first = FirstPass { model: Arc::new(model), end };
                run.finished.first = Some(first.clone());
                run.save::<()>(None, observer);
                first
            }
        };
        plan.check(&first, &run.finished.folds)?;
        let trainer = trainer.for_folds(&first, corpora.dev.is_some())?;
        let of = plan.folds.held_out.len();
        for fold in run.finished.folds.len()..of {
            run.begin_pass(Pass::Fold { number: fold + 1, of }, observer);
            let source = Source::Text(plan.without(fold).into(), Some(plan.template.clone()));
            let trained = trainer.train_pass(source, &mut run, observer)?;
            if trained.end.reason == StopReason::Interrupted {
                return first.alone(trained.end.reason);
            }
            run.finished.folds.push(plan.predict(fold, trained.model, &first)?);
            run.save::<()>(None, observer);
        }
        let extended = plan.extended(&first, &run.finished.folds)?;
        drop(plan);
        drop(corpora);
        run.begin_pass(Pass::Second, observer);
        let source = Source::Text(extended, Some(template.clone()));
        let second = self.train_pass(source, &mut run, observer)?;
        match second.end.has_result() {
            true => Ok(Trained { model: Model::combine(&second.model, &first.model)?, ..second }),
            false => first.alone(second.end.reason),
        }
    }

    /// Returns a fingerprint of everything that determines the passes but the options.
    fn fingerprint(&self, corpora: &TrainingCorpora, template: &Template) -> Result<u64> {
        let mut hasher = Xxh3::new();
        template.hash_content(&mut hasher);
        for corpus in [Some(&corpora.labeled), corpora.dev.as_ref(), Some(&corpora.unlabeled)] {
            hasher.write_usize(corpus.map_or(usize::MAX, Corpus::len));
            let sentences = corpus.into_iter().flat_map(Corpus::iter);
            sentences.for_each(|sentence| sentence.hash_content(&mut hasher));
        }
        for (role, model) in self.models.iter() {
            hasher.write(role.to_string().as_bytes());
            hasher.write_u128(model.fingerprint()?);
        }
        Ok(hasher.finish())
    }

    /// Returns the trainer of the first pass: it continues the first passes of models.
    fn first_pass(&self) -> Result<Self> {
        let first_pass = |model: &'a Model| {
            model.first_pass().map(|first| &**first).ok_or_else(|| {
                Error::parameter(
                    "the template reads predictions (predicted, predicted_word, …), but the model \
                     to continue has no first pass: it is none of two passes, or the training of \
                     the second was interrupted; expected a model of two passes, or a template \
                     without these lines",
                )
            })
        };
        let BaseModels { init, towards } = self.models;
        let models = BaseModels {
            init: init.map(first_pass).transpose()?,
            towards: towards.map(first_pass).transpose()?,
        };
        Ok(Self { models, ..self.clone() })
    }

    /// Returns the trainer of the models of folds, given the result of the first pass.
    fn for_folds(&self, first: &FirstPass, has_dev: bool) -> Result<Self> {
        let mut options = self.settings.all_options();
        let end = &first.end;
        // A fold has fewer labels to detect what they are.
        options.labels.read_like(first.model.header().corpus_labeling.scheme);
        let options = TrainOptions {
            max_iterations: match has_dev && options.patience > 0 {
                true => Some(end.best_iteration.max(1)),
                false => options.max_iterations,
            },
            recall_bias: (end.recall_bias != 0.0).then_some(end.recall_bias),
            ..options
        };
        let mut settings = TrainSettings::new(options)?;
        if settings.has_noise() {
            // By default, fewer iterations have a shorter warm-up than the first pass had.
            settings = settings.with_regularization(Regularization {
                warm_up: Some(self.settings.warm_up()),
                ..*settings.regularization()
            })?;
        }
        Ok(Self { settings, ..self.clone() })
    }
}

/// The data of the first pass, and of those without each fold.
struct FirstPasses<'a> {
    corpora: &'a TrainingCorpora,
    template: Template,
    options: DocumentOptions,
    documents: Documents<'a>,
    folds: Folds,
}

impl<'a> FirstPasses<'a> {
    /// Divides the sentences of documents into folds, by document if there are enough.
    ///
    /// # Errors
    ///
    /// There is one sentence.
    fn new(corpora: &'a TrainingCorpora, template: &Template, first: Template) -> Result<Self> {
        let options = template.documents().unwrap_or_default();
        let documents = content(options, &corpora.labeled);
        let tokens: Vec<usize> = documents.iter().flatten().map(|(_, s)| s.len()).collect();
        let count = FOLDS.min(tokens.len());
        if count < 2 {
            return Err(Error::parameter(
                "there is one sentence to train on; expected at least 2 for training in two passes \
                 (the template reads predictions)",
            ));
        }
        let numbers = |document: &Vec<(usize, _)>| document.iter().map(|(i, _)| *i).collect();
        let numbers = documents.iter().map(numbers).collect();
        let folds = Folds::of_documents(numbers, &tokens, count, SEED);
        Ok(Self { corpora, template: first, options, folds, documents })
    }

    /// Checks predictions that were read from a checkpoint.
    ///
    /// # Errors
    ///
    /// They are not for the sentences of these folds.
    fn check(&self, first: &FirstPass, finished: &[Vec<Prediction>]) -> Result<()> {
        let types = first.types();
        let sentences: Vec<&Sentence> = self.documents.iter().flatten().map(|(_, s)| *s).collect();
        let fits = |(held_out, predictions): (&Vec<usize>, &Vec<Prediction>)| {
            let mut pairs = held_out.iter().zip(predictions);
            held_out.len() == predictions.len()
                && pairs.all(|(&i, prediction)| prediction.fits(sentences[i].len(), &types))
        };
        let folds = &self.folds.held_out;
        match finished.len() <= folds.len() && folds.iter().zip(finished).all(fits) {
            true => Ok(()),
            false => Err(Error::parameter(
                "the predictions in the checkpoint are not for these sentences; expected those of \
                 the interrupted run",
            )),
        }
    }

    /// Returns the training data without a fold.
    fn without(&self, fold: usize) -> Corpus {
        let is_held_out = self.is_held_out(fold);
        let mut rest = Corpus::new();
        for document in &self.documents {
            let kept = document.iter().filter(|(number, _)| !is_held_out(*number));
            push_document(&mut rest, kept.map(|(_, sentence)| (*sentence).clone()));
        }
        rest
    }

    fn is_held_out(&self, fold: usize) -> impl Fn(usize) -> bool + Sync + '_ {
        let held_out = &self.folds.held_out[fold];
        move |sentence| held_out.binary_search(&sentence).is_ok()
    }

    /// Predicts a fold by the model that was trained without it.
    fn predict(&self, fold: usize, model: Model, first: &FirstPass) -> Result<Vec<Prediction>> {
        let tagger = Tagger::new(model);
        let types = first.types().of_labels(&tagger.model().header().labels)?;
        predict(&tagger, &types, &self.documents, self.is_held_out(fold))
    }

    /// Returns the corpora with columns of predictions: of training data those for their fold, of
    /// others those of the first model.
    fn extended(&self, first: &FirstPass, folds: &[Vec<Prediction>]) -> Result<TrainingCorpora> {
        let types = first.types();
        let numbers = self.folds.held_out.iter().flatten().copied();
        let mut predictions: Vec<(usize, &Prediction)> =
            numbers.zip(folds.iter().flatten()).collect();
        predictions.sort_unstable_by_key(|&(number, _)| number);
        let predictions = predictions.into_iter().map(|(_, prediction)| prediction);
        let tagger = Tagger::new(Arc::clone(&first.model));
        let extend_predicted = |corpus: &Corpus| {
            let documents = content(self.options, corpus);
            let predictions = predict(&tagger, &types, &documents, |_| true)?;
            extend(&documents, predictions.iter(), &types, self.options)
        };
        let TrainingCorpora { dev, unlabeled, held_out, .. } = self.corpora;
        Ok(TrainingCorpora {
            labeled: extend(&self.documents, predictions, &types, self.options)?,
            dev: dev.as_ref().map(extend_predicted).transpose()?,
            unlabeled: extend_predicted(unlabeled)?,
            held_out: *held_out,
        })
    }
}

impl FirstPass {
    fn types(&self) -> LabelTypes {
        let header = self.model.header();
        LabelTypes::new(&header.labels, &header.labeling)
    }

    /// Returns the first pass alone as the result of training that ended early, for `reason`.
    fn alone(&self, reason: StopReason) -> Result<Trained> {
        Ok(Trained {
            model: Model::from_bytes(self.model.as_bytes().to_vec())?,
            end: End { reason, ..self.end.clone() },
            is_first_pass: true,
        })
    }
}

/// Returns the documents of a corpus.
fn content(options: DocumentOptions, corpus: &Corpus) -> Documents<'_> {
    let mut numbers = 0..;
    let documents = options.rule.documents(corpus).into_iter().map(|document| {
        let sentences = document.into_iter().filter(|sentence| is_content(sentence));
        sentences.map(|s| (numbers.next().unwrap_or(0), s)).collect()
    });
    documents.filter(|document: &Vec<_>| !document.is_empty()).collect()
}

/// Adds the sentences of a document to a corpus, by whatever rule it is divided.
fn push_document(corpus: &mut Corpus, sentences: impl Iterator<Item = Sentence>) {
    for (i, mut sentence) in sentences.enumerate() {
        if i == 0 {
            sentence.layout.separation.add(Separation::FOLD);
        }
        corpus.push(sentence);
    }
}

/// Predicts the chosen sentences of documents, in order.
fn predict(
    tagger: &Tagger,
    types: &LabelTypes,
    documents: &Documents<'_>,
    is_chosen: impl Fn(usize) -> bool + Sync,
) -> Result<Vec<Prediction>> {
    let predicted = documents.par_iter().map(|sentences| {
        let document = Document::new(sentences.iter().map(|(_, sentence)| *sentence));
        let chosen = sentences.iter().enumerate().filter(|(_, (number, _))| is_chosen(*number));
        let predictions =
            chosen.map(|(i, _)| tagger.predict(&document, i, types, &Interrupt::default()));
        predictions.collect::<Result<Vec<_>>>()
    });
    Ok(predicted.collect::<Result<Vec<_>>>()?.concat())
}

/// Returns the documents with columns of predictions.
fn extend<'p>(
    documents: &Documents<'p>,
    mut predictions: impl Iterator<Item = &'p Prediction>,
    types: &'p LabelTypes,
    options: DocumentOptions,
) -> Result<Corpus> {
    let mut corpus = Corpus::new();
    for document in documents {
        let predicted = document.iter().map(|(_, sentence)| *sentence).zip(predictions.by_ref());
        let document = PredictedDocument::new(predicted, types, options.window as usize);
        push_document(&mut corpus, document.extended()?.into_iter());
    }
    Ok(corpus)
}
