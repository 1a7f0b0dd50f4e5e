//! Training in two passes: the template of the second model reads what the first one predicts.
//!
//! The first model is trained on all data. What it predicts for its own training data is better
//! than what it predicts for other text, so the second model must not learn from that: the
//! predictions for each fold of the training data come from a model trained on the other folds
//! (jackknifing; Krishnan & Manning, ACL 2006), with the number of iterations and the recall bias
//! of the first model.

use rayon::prelude::*;

use super::base_models::BaseModels;
use super::corpora::{TrainingCorpora, is_content};
use super::events::{End, EndReason, Observer, Pass};
use super::folds::Folds;
use super::options::{DevUse, TrainOptions};
use super::settings::TrainSettings;
use super::trainer::{Trained, Trainer};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
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

/// The documents of a corpus, each with its sentences that have tokens.
type Documents<'a> = Vec<Vec<&'a Sentence>>;

impl Trainer<'_> {
    /// Trains a first model with the template `first`, and a second one with `template`, which
    /// reads the predictions of the first. The result has both; if training is interrupted before
    /// the second has a result, only the first.
    pub(super) fn train_two_passes(
        &self,
        corpora: TrainingCorpora,
        template: Template,
        first: Template,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        self.check_two_passes()?;
        let options = template.documents().unwrap_or_default();
        observer.pass(Pass::First);
        let trainer = self.first_pass()?;
        let first_pass = trainer.train_pass(corpora.clone(), Some(first.clone()), observer)?;
        let reason = first_pass.end.reason;
        if first_pass.end.is_early() {
            return Ok(first_pass.as_first_pass(reason));
        }
        let Trained { model, end, .. } = &first_pass;
        let documents = content(options, &corpora.labeled);
        let jackknife = Jackknife {
            trainer: trainer.for_folds(end, corpora.dev.is_some())?,
            template: first,
            documents: &documents,
            types: &LabelTypes::new(&model.header().labels, model.header().scheme),
        };
        let Some(predictions) = jackknife.predict(observer)? else {
            let reason = EndReason::Optimizer(StopReason::Interrupted);
            return Ok(first_pass.as_first_pass(reason));
        };
        let types = jackknife.types;
        let labeled = extend(&documents, &predictions, types, options)?;
        let Trained { model, end, .. } = first_pass;
        let tagger = Tagger::new(model);
        let predict_all = |corpus: &Corpus| {
            let documents = content(options, corpus);
            let predictions = predict(&tagger, types, &documents, |_| true)?;
            extend(&documents, &predictions, types, options)
        };
        let second_corpora = TrainingCorpora {
            labeled,
            dev: corpora.dev.as_ref().map(predict_all).transpose()?,
            unlabeled: predict_all(&corpora.unlabeled)?,
        };
        drop(documents);
        drop(corpora);
        let model = tagger.into_model()?;
        observer.pass(Pass::Second);
        let second = self.train_pass(second_corpora, Some(template), observer)?;
        if !second.end.has_result() {
            let first_pass = Trained {
                model,
                end,
                is_first_pass: true,
            };
            return Ok(first_pass.as_first_pass(second.end.reason));
        }
        Ok(Trained {
            model: Model::combine(&second.model, &model)?,
            ..second
        })
    }

    /// Checks that training can have two passes.
    fn check_two_passes(&self) -> Result<()> {
        if self.checkpoints.is_none() {
            return Ok(());
        }
        Err(Error::parameter(
            "the template reads predictions (predicted, predicted_word, …), so training has two \
             passes, which have no checkpoints; expected training without checkpoints, or a \
             template without these lines",
        ))
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
    fn for_folds(&self, end: &End, has_dev: bool) -> Result<Self> {
        let options = self.settings.options();
        let options = TrainOptions {
            max_iterations: match has_dev && options.dev_use == DevUse::Choose {
                true => Some(end.best_iteration.max(1)),
                false => options.max_iterations,
            },
            recall_bias: (end.recall_bias != 0.0).then_some(end.recall_bias),
            ..options.clone()
        };
        Ok(Self {
            settings: TrainSettings::new(options)?,
            ..self.clone()
        })
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

/// Predictions for training data by models that were trained on other parts of it.
struct Jackknife<'a> {
    trainer: Trainer<'a>,
    template: Template,
    documents: &'a [Vec<&'a Sentence>],
    types: &'a LabelTypes,
}

impl Jackknife<'_> {
    /// Returns the predictions for each sentence; `None` if training was interrupted.
    fn predict(&self, observer: &mut dyn Observer) -> Result<Option<Vec<Prediction>>> {
        let folds = self.folds()?;
        let sentences = self.documents.iter().map(Vec::len).sum();
        let mut predictions: Vec<Option<Prediction>> = vec![None; sentences];
        for (i, held_out) in folds.held_out().iter().enumerate() {
            observer.pass(Pass::Fold {
                number: i + 1,
                of: folds.held_out().len(),
            });
            let is_held_out = |number: usize| held_out.binary_search(&number).is_ok();
            let rest = self.without(is_held_out);
            let template = Some(self.template.clone());
            let Trained { model, end, .. } =
                self.trainer.train_pass(rest.into(), template, observer)?;
            if is_interrupted(&end) {
                return Ok(None);
            }
            let tagger = Tagger::new(model);
            let types = self.types.of_labels(&tagger.model().header().labels)?;
            let predicted = predict(&tagger, &types, self.documents, is_held_out)?;
            for (&number, prediction) in held_out.iter().zip(predicted) {
                predictions[number] = Some(prediction);
            }
        }
        Ok(predictions.into_iter().collect())
    }

    /// Divides the sentences into folds, by document if there are enough.
    fn folds(&self) -> Result<Folds> {
        let tokens: Vec<usize> = self.documents.iter().flatten().map(|s| s.len()).collect();
        let count = FOLDS.min(tokens.len());
        if count < 2 {
            return Err(Error::parameter(
                "there is one sentence to train on; expected at least 2 for training in two passes \
                 (the template reads predictions)",
            ));
        }
        let mut next = 0;
        let numbers = self.documents.iter().map(|document| {
            let first = next;
            next += document.len();
            (first..next).collect()
        });
        Ok(Folds::of_documents(numbers.collect(), &tokens, count, SEED))
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

/// Returns the documents of a corpus.
fn content(options: DocumentOptions, corpus: &Corpus) -> Documents<'_> {
    let mut documents = options.rule.documents(corpus);
    for document in &mut documents {
        document.retain(|sentence| is_content(sentence));
    }
    documents.retain(|document| !document.is_empty());
    documents
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
    documents: &[Vec<&Sentence>],
    is_chosen: impl Fn(usize) -> bool + Sync,
) -> Result<Vec<Prediction>> {
    let mut first = 0;
    let numbered: Vec<(usize, &Vec<&Sentence>)> = documents
        .iter()
        .map(|document| {
            first += document.len();
            (first - document.len(), document)
        })
        .collect();
    let predicted = numbered.into_par_iter().map(|(first, document)| {
        let chosen = (0..document.len()).filter(|i| is_chosen(first + i));
        let document = Document::new(document.iter().copied());
        let predictions = chosen.map(|i| tagger.predict(&document, i, types));
        predictions.collect::<Result<Vec<_>>>()
    });
    Ok(predicted.collect::<Result<Vec<_>>>()?.concat())
}

/// Returns the documents with columns of predictions.
fn extend(
    documents: &[Vec<&Sentence>],
    predictions: &[Prediction],
    types: &LabelTypes,
    options: DocumentOptions,
) -> Result<Corpus> {
    let mut corpus = Corpus::new();
    let mut predictions = predictions.iter();
    for document in documents {
        let predicted = document.iter().copied().zip(predictions.by_ref());
        let document = PredictedDocument::new(predicted, types, options.window as usize);
        push_document(&mut corpus, document.extended()?.into_iter());
    }
    Ok(corpus)
}

fn is_interrupted(end: &End) -> bool {
    end.reason == EndReason::Optimizer(StopReason::Interrupted)
}
