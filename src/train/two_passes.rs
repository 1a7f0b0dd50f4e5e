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
use super::checkpoint::{FirstPass, Run};
use super::corpora::{TrainingCorpora, is_content};
use super::events::{End, EndReason, Observer, Pass};
use super::folds::Folds;
use super::noise_options::Regularization;
use super::options::{DevUse, TrainOptions};
use super::settings::TrainSettings;
use super::trainer::{Trained, Trainer};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::label::{Labeling, PlainLabels, Scheme};
use crate::model::Model;
use crate::optim::StopReason;
use crate::second_pass::{LabelTypes, PredictedDocument, Prediction};
use crate::sentence::{Document, DocumentOptions, Sentence, Separation};
use crate::tag::Tagger;
use crate::template::Template;

/// Number of folds of the training data.
const FOLDS: usize = 5;

/// Seed of the division into folds.
const SEED: u64 = 1;

/// The documents of a corpus, each with its sentences that have tokens and their numbers.
type Documents<'a> = Vec<Vec<(usize, &'a Sentence)>>;

impl Trainer<'_> {
    /// Trains a first model with the template `first`, and a second one with `template`, which
    /// reads the predictions of the first. The result has both; if training is interrupted before
    /// the second has a result, only the first.
    pub(super) fn train_two_passes(
        &self,
        corpora: TrainingCorpora,
        template: &Template,
        first: &Template,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let options = template.documents().unwrap_or_default();
        let trainer = self.first_pass()?;
        let mut run = self.begin(2)?;
        run.set_fingerprint(|| fingerprint(&corpora, template, &self.models))?;
        let documents = content(options, &corpora.labeled);
        let folds = folds(&documents)?;
        let first_pass = match run.finished.first.clone() {
            Some(first_pass) => first_pass,
            None => {
                begin_pass(&mut run, Pass::First, observer);
                let template = Some(first.clone());
                let trained = trainer.train_pass(corpora.clone(), template, &mut run, observer)?;
                if trained.end.is_early() {
                    return Ok(Trained { is_first_pass: true, ..trained });
                }
                let first_pass = FirstPass { model: Arc::new(trained.model), end: trained.end };
                run.finished.first = Some(first_pass.clone());
                save(&mut run, observer);
                first_pass
            }
        };
        let header = first_pass.model.header();
        let types = LabelTypes::new(&header.labels, &header.labeling);
        let trainer =
            trainer.for_folds(&first_pass.end, corpora.dev.is_some(), &header.corpus_labeling)?;
        check_predictions(&run.finished.folds, &folds, &documents, &types)?;
        let of = folds.held_out().len();
        for fold in run.finished.folds.len()..of {
            let number = fold + 1;
            begin_pass(&mut run, Pass::Fold { number, of }, observer);
            let held_out = &folds.held_out()[fold];
            let is_held_out = |number: usize| held_out.binary_search(&number).is_ok();
            let mut rest = Corpus::new();
            for document in &documents {
                let kept = document.iter().filter(|(number, _)| !is_held_out(*number));
                push_document(&mut rest, kept.map(|(_, sentence)| (*sentence).clone()));
            }
            let template = Some(first.clone());
            let trained = trainer.train_pass(rest.into(), template, &mut run, observer)?;
            if trained.end.reason == EndReason::Optimizer(StopReason::Interrupted) {
                return alone(first_pass, trained.end.reason);
            }
            let tagger = Tagger::new(trained.model);
            let types = types.of_labels(&tagger.model().header().labels)?;
            let predicted = predict(&tagger, &types, &documents, is_held_out)?;
            run.finished.folds.push(predicted);
            save(&mut run, observer);
        }
        let numbers = folds.held_out().iter().flatten().copied();
        let mut predictions: Vec<(usize, &Prediction)> =
            numbers.zip(run.finished.folds.iter().flatten()).collect();
        predictions.sort_unstable_by_key(|&(number, _)| number);
        let predictions = predictions.into_iter().map(|(_, prediction)| prediction);
        let tagger = Tagger::new(Arc::clone(&first_pass.model));
        let extend_predicted = |corpus: &Corpus| {
            let documents = content(options, corpus);
            let predictions = predict(&tagger, &types, &documents, |_| true)?;
            extend(&documents, predictions.iter(), &types, options)
        };
        let second_corpora = TrainingCorpora {
            labeled: extend(&documents, predictions, &types, options)?,
            dev: corpora.dev.as_ref().map(extend_predicted).transpose()?,
            unlabeled: extend_predicted(&corpora.unlabeled)?,
            held_out: corpora.held_out,
        };
        drop(tagger);
        drop(documents);
        drop(corpora);
        begin_pass(&mut run, Pass::Second, observer);
        let second = self.train_pass(second_corpora, Some(template.clone()), &mut run, observer)?;
        if !second.end.has_result() {
            return alone(first_pass, second.end.reason);
        }
        Ok(Trained { model: Model::combine(&second.model, &first_pass.model)?, ..second })
    }

    /// Returns the trainer of the first pass: it continues the first passes of models.
    fn first_pass(&self) -> Result<Self> {
        let BaseModels { init, towards } = self.models;
        Ok(Self {
            models: BaseModels {
                init: init.map(first_pass_of).transpose()?,
                towards: towards.map(first_pass_of).transpose()?,
            },
            ..self.clone()
        })
    }

    /// Returns the trainer of the models of folds, given the result of the first pass.
    fn for_folds(&self, end: &End, has_dev: bool, corpus: &Labeling) -> Result<Self> {
        let options = self.settings.all_options();
        let options = TrainOptions {
            max_iterations: match has_dev && options.dev_use == DevUse::Choose {
                true => Some(end.best_iteration.max(1)),
                false => options.max_iterations,
            },
            recall_bias: (end.recall_bias != 0.0).then_some(end.recall_bias),
            // A fold has fewer labels to detect what they are.
            plain_labels: match corpus.scheme {
                Scheme::Plain => PlainLabels::Spans,
                _ => PlainLabels::Tags,
            },
            ..options
        };
        let mut settings = TrainSettings::new(options)?;
        if settings.has_noise() {
            // By default, fewer iterations have a shorter warm-up than the first pass had.
            settings = settings.with_regularization(Regularization {
                warm_up: Some(self.settings.warm_up()),
                ..settings.regularization().clone()
            })?;
        }
        Ok(Self { settings, ..self.clone() })
    }
}

/// Returns the first pass of a model that is continued.
fn first_pass_of(model: &Model) -> Result<&Model> {
    model.first_pass().map(|first| &**first).ok_or_else(|| {
        Error::parameter(
            "the template reads predictions (predicted, predicted_word, …), but the model to \
             continue has no first pass: it is none of two passes, or the training of the second \
             was interrupted; expected a model of two passes, or a template without these lines",
        )
    })
}

/// Returns the first pass alone as the result of training that ended early, for `reason`.
fn alone(first: FirstPass, reason: EndReason) -> Result<Trained> {
    Ok(Trained {
        model: match Arc::try_unwrap(first.model) {
            Ok(model) => model,
            Err(shared) => Model::from_bytes(shared.as_bytes().to_vec())?,
        },
        end: End { reason, ..first.end },
        is_first_pass: true,
    })
}

/// Begins a pass. Those that have ended are not repeated if the run resumes from a checkpoint.
fn begin_pass(run: &mut Run, pass: Pass, observer: &mut dyn Observer) {
    observer.pass(pass);
    if run.resume_pass() {
        observer.resumed(0);
    }
}

/// Writes a checkpoint of the passes that have ended.
fn save(run: &mut Run, observer: &mut dyn Observer) {
    if run.has_checkpoints() {
        observer.checkpoint();
        if let Err(error) = run.write::<()>(None) {
            observer.checkpoint_failed(&error);
        }
    }
}

/// Returns a fingerprint of everything that determines the passes but the options.
fn fingerprint(
    corpora: &TrainingCorpora,
    template: &Template,
    models: &BaseModels<'_>,
) -> Result<u64> {
    let mut hasher = Xxh3::new();
    template.hash_content(&mut hasher);
    for corpus in [Some(&corpora.labeled), corpora.dev.as_ref(), Some(&corpora.unlabeled)] {
        hasher.write_usize(corpus.map_or(usize::MAX, Corpus::len));
        let sentences = corpus.into_iter().flat_map(Corpus::iter);
        sentences.for_each(|sentence| sentence.hash_content(&mut hasher));
    }
    for (role, model) in models.iter() {
        hasher.write(role.to_string().as_bytes());
        hasher.write_u128(model.fingerprint()?);
    }
    Ok(hasher.finish())
}

/// Divides the sentences of documents into folds, by document if there are enough.
///
/// # Errors
///
/// There is one sentence.
fn folds(documents: &Documents<'_>) -> Result<Folds> {
    let tokens: Vec<usize> = documents.iter().flatten().map(|(_, s)| s.len()).collect();
    let count = FOLDS.min(tokens.len());
    if count < 2 {
        return Err(Error::parameter(
            "there is one sentence to train on; expected at least 2 for training in two passes \
             (the template reads predictions)",
        ));
    }
    let numbers = |document: &Vec<(usize, _)>| document.iter().map(|(number, _)| *number).collect();
    let numbers = documents.iter().map(numbers).collect();
    Ok(Folds::of_documents(numbers, &tokens, count, SEED))
}

/// Checks predictions that were read from a checkpoint.
///
/// # Errors
///
/// They are not for the sentences of these folds.
fn check_predictions(
    predictions: &[Vec<Prediction>],
    folds: &Folds,
    documents: &Documents<'_>,
    types: &LabelTypes,
) -> Result<()> {
    let sentences: Vec<&Sentence> = documents.iter().flatten().map(|(_, s)| *s).collect();
    let fits = |(held_out, predictions): (&Vec<usize>, &Vec<Prediction>)| {
        let mut pairs = held_out.iter().zip(predictions);
        held_out.len() == predictions.len()
            && pairs.all(|(&i, prediction)| prediction.fits(sentences[i].len(), types))
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

/// Returns the documents of a corpus.
fn content(options: DocumentOptions, corpus: &Corpus) -> Documents<'_> {
    let mut numbers = 0..;
    let documents = options.rule.documents(corpus).into_iter();
    let documents = documents.map(|document| {
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
        let predictions = chosen.map(|(i, _)| tagger.predict(&document, i, types));
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
        let sentences = document.iter().map(|(_, sentence)| *sentence);
        let predicted = sentences.zip(predictions.by_ref());
        let document = PredictedDocument::new(predicted, types, options.window as usize);
        push_document(&mut corpus, document.extended()?.into_iter());
    }
    Ok(corpus)
}
