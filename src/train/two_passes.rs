//! Training in two passes: the template of the second model reads what the first one predicts.
//!
//! The first model is trained on all data. What it predicts for its own training data is better
//! than what it predicts for other text, so the second model must not learn from that: the
//! predictions for each fold of the training data come from a model trained on the other folds
//! (jackknifing; Krishnan & Manning, ACL 2006), with the number of iterations and the recall bias
//! of the first model.

use std::sync::Arc;

use super::base_models::BaseModels;
use super::corpora::TrainingCorpora;
use super::events::{End, EndReason, Observer, Pass};
use super::finished_passes::FirstPassResult;
use super::jackknife::{Jackknife, folds};
use super::options::{DevUse, TrainOptions};
use super::passes::Passes;
use super::predicted_corpus::{Documents, content, extend, predict};
use super::settings::TrainSettings;
use super::trained::Trained;
use super::trainer::Trainer;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::label::{PlainLabels, Scheme};
use crate::model::Model;
use crate::optim::StopReason;
use crate::second_pass::{LabelTypes, Prediction};
use crate::sentence::DocumentOptions;
use crate::tag::Tagger;
use crate::template::Template;

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
                let first_pass = FirstPassResult::from(trained);
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
        let options = self.settings.options();
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
