//! Training in two passes: the template of the second model reads what the first one predicts.
//!
//! The first model is trained on all data. What it predicts for its own training data is better
//! than what it predicts for other text, so the second model must not learn from that: the
//! predictions for each fold of the training data come from a model trained on the other folds
//! (jackknifing; Krishnan & Manning, ACL 2006), with the number of iterations and the recall bias
//! of the first model.

use std::hash::Hasher;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::base_models::BaseModels;
use super::checkpoint::OpenCheckpoints;
use super::corpora::TrainingCorpora;
use super::events::{End, EndReason, Observer, Pass};
use super::finished_passes::{FinishedPasses, FirstPassResult};
use super::folds::Folds;
use super::options::{DevUse, TrainOptions};
use super::predicted_corpus::{Documents, content, extend, predict, push_document};
use super::settings::TrainSettings;
use super::trainer::{Trained, Trainer};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::label::{PlainLabels, Scheme};
use crate::model::Model;
use crate::optim::StopReason;
use crate::second_pass::{LabelTypes, Prediction};
use crate::sentence::{DocumentOptions, Sentence};
use crate::tag::Tagger;
use crate::template::Template;

/// Number of folds of the training data.
const FOLDS: usize = 5;

/// Seed of the division into folds.
const SEED: u64 = 1;

impl Trainer<'_> {
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
        let options = template.documents().unwrap_or_default();
        let trainer = self.first_pass()?;
        let mut passes = Passes::begin(self, &corpora, template)?;
        let documents = content(options, &corpora.labeled);
        let folds = folds(&documents)?;
        let first_pass = match passes.finished.first.clone() {
            Some(first_pass) => first_pass,
            None => {
                passes.begin_pass(Pass::First, observer);
                let trained = passes.train(&trainer, corpora.clone(), &first, observer)?;
                let is_early = trained.end.is_early();
                let first_pass = FirstPassResult {
                    model: Arc::new(trained.model),
                    end: trained.end,
                };
                if is_early {
                    let reason = first_pass.end.reason;
                    return first_pass.alone(reason);
                }
                passes.finished.first = Some(first_pass.clone());
                passes.save(observer);
                first_pass
            }
        };
        let header = first_pass.model.header();
        let jackknife = Jackknife {
            trainer: trainer.for_folds(
                &first_pass.end,
                corpora.dev.is_some(),
                header.corpus_scheme,
            )?,
            template: first,
            documents: &documents,
            types: &LabelTypes::new(&header.labels, header.scheme),
        };
        if !jackknife.run(&folds, &mut passes, observer)? {
            let reason = EndReason::Optimizer(StopReason::Interrupted);
            return first_pass.alone(reason);
        }
        let predictor = Predictor {
            tagger: Tagger::new(Arc::clone(&first_pass.model)),
            types: jackknife.types,
            options,
        };
        let predictions = passes.finished.predictions(&folds);
        let second_corpora = TrainingCorpora {
            labeled: predictor.extend(&documents, &predictions)?,
            dev: (corpora.dev.as_ref())
                .map(|dev| predictor.extend_predicted(dev))
                .transpose()?,
            unlabeled: predictor.extend_predicted(&corpora.unlabeled)?,
        };
        drop(predictor);
        drop(documents);
        drop(corpora);
        passes.begin_pass(Pass::Second, observer);
        let second = passes.train(self, second_corpora, template, observer)?;
        if !second.end.has_result() {
            return first_pass.alone(second.end.reason);
        }
        Ok(Trained {
            model: Model::combine(&second.model, &first_pass.model)?,
            ..second
        })
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
    fn for_folds(&self, end: &End, has_dev: bool, scheme: Scheme) -> Result<Self> {
        let options = self.settings.all_options();
        let options = TrainOptions {
            max_iterations: match has_dev && options.dev_use == DevUse::Choose {
                true => Some(end.best_iteration.max(1)),
                false => options.max_iterations,
            },
            recall_bias: (end.recall_bias != 0.0).then_some(end.recall_bias),
            // A fold has fewer labels to detect what they are.
            plain_labels: match scheme {
                Scheme::Plain => PlainLabels::Spans,
                _ => PlainLabels::Tags,
            },
            ..options
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

/// Adds what the first pass predicts to corpora.
struct Predictor<'a> {
    tagger: Tagger,
    types: &'a LabelTypes,
    options: DocumentOptions,
}

impl Predictor<'_> {
    /// Returns a corpus with columns of the predictions for it.
    fn extend_predicted(&self, corpus: &Corpus) -> Result<Corpus> {
        let documents = content(self.options, corpus);
        let predictions = predict(&self.tagger, self.types, &documents, |_| true)?;
        self.extend(&documents, &predictions.iter().collect::<Vec<_>>())
    }

    /// Returns documents with columns of predictions.
    fn extend(&self, documents: &Documents<'_>, predictions: &[&Prediction]) -> Result<Corpus> {
        extend(documents, predictions, self.types, self.options)
    }
}

impl FirstPassResult {
    /// Returns the first pass alone as the result of training that ended early, for `reason`.
    fn alone(self, reason: EndReason) -> Result<Trained> {
        Ok(Trained {
            model: match Arc::try_unwrap(self.model) {
                Ok(model) => model,
                Err(shared) => Model::from_bytes(shared.as_bytes().to_vec())?,
            },
            end: End { reason, ..self.end },
            is_first_pass: true,
        })
    }
}

/// A run of several passes. Those that have ended are not repeated if the run resumes from a
/// checkpoint.
struct Passes {
    finished: FinishedPasses,
    checkpoints: Option<OpenCheckpoints>,
}

impl Passes {
    /// Begins or resumes a run with these data and this template.
    ///
    /// # Errors
    ///
    /// Those of [`Checkpoints::open`](super::Checkpoints); the checkpoint to resume from belongs to
    /// other data or another template.
    fn begin(
        trainer: &Trainer<'_>,
        corpora: &TrainingCorpora,
        template: &Template,
    ) -> Result<Self> {
        let mut checkpoints = trainer.open_checkpoints(2)?;
        let mut finished = FinishedPasses::default();
        if let Some(open) = &mut checkpoints {
            open.set_fingerprint(fingerprint(corpora, template, &trainer.models)?)?;
            finished = open.take_finished().unwrap_or_default();
        }
        Ok(Self {
            finished,
            checkpoints,
        })
    }

    /// Begins a pass.
    fn begin_pass(&mut self, pass: Pass, observer: &mut dyn Observer) {
        observer.pass(pass);
        if self
            .checkpoints
            .as_mut()
            .is_some_and(OpenCheckpoints::resume_pass)
        {
            observer.resumed(0);
        }
    }

    /// Trains the model of the pass.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::train`].
    fn train(
        &mut self,
        trainer: &Trainer<'_>,
        corpora: TrainingCorpora,
        template: &Template,
        observer: &mut dyn Observer,
    ) -> Result<Trained> {
        let open = self.checkpoints.as_mut();
        let checkpoints = open.map(|open| open.of_pass(Some(&self.finished)));
        trainer.train_pass(corpora, Some(template.clone()), checkpoints, observer)
    }

    /// Writes a checkpoint of the passes that have ended.
    fn save(&mut self, observer: &mut dyn Observer) {
        let Some(open) = &mut self.checkpoints else {
            return;
        };
        observer.checkpoint();
        if let Err(error) = open.write::<()>(Some(&self.finished), None) {
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
    for corpus in [
        Some(&corpora.labeled),
        corpora.dev.as_ref(),
        Some(&corpora.unlabeled),
    ] {
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
struct Jackknife<'a> {
    trainer: Trainer<'a>,
    template: Template,
    documents: &'a [Vec<&'a Sentence>],
    types: &'a LabelTypes,
}

impl Jackknife<'_> {
    /// Trains the models of the folds that have none yet, and adds their predictions to those of
    /// `passes`. Returns false if training was interrupted.
    ///
    /// # Errors
    ///
    /// Those of training; there are too few sentences; the predictions of `passes` are not for
    /// these sentences.
    fn run(&self, folds: &Folds, passes: &mut Passes, observer: &mut dyn Observer) -> Result<bool> {
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
