//! A training set with the settings of a run: from corpora to the set, and from weights to a model.

use std::sync::Arc;

use serde_json::Value;

use super::base_models::BaseModels;
use super::corpora::TrainingCorpora;
use super::dev_scorer::DevScorer;
use super::development::DevelopmentSet;
use super::events::{DevScore, End, Pruned, Rounded, Start};
use super::extracted::ExtractedCorpora;
use super::learner::fields;
use super::predictor::Predictor;
use super::settings::{TrainSettings, check_line_options};
use super::training_set::TrainingSet;
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::extract::Classes;
use crate::model::{
    APPLIED_RECALL_BIAS, Header, Model, Precision, Provenance, TrainingRecord, add_recall_bias,
};
use crate::template::Template;

/// A model file, and what became of its weights.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The contents of the file.
    pub model: Vec<u8>,
    /// The effect of pruning.
    pub pruned: Option<Pruned>,
    /// The effect of rounding weights, if they were.
    pub rounded: Option<Rounded>,
}

impl ExtractedCorpora {
    /// Converts all sentences to a training set. If the settings say so, attributes that always
    /// occur together are collapsed into classes.
    pub fn into_training_set(self, settings: &TrainSettings) -> TrainingSet {
        TrainingSet::from_extracted(self, settings.options(), settings.penalty_rule().cloned())
    }

    /// Creates a training set without the held-out sentences, which become its development data.
    ///
    /// Attributes, minimum counts and classes are those of the remaining sentences, as if the
    /// held-out ones did not exist; labels are those of the whole corpus. No model can be built
    /// from it.
    ///
    /// # Errors
    ///
    /// No sentence is held out, or all are; a number is out of range; the sentences were not
    /// extracted [for cross-validation](ExtractedCorpora::for_cross_validation).
    pub fn hold_out(&self, held_out: &[usize], settings: &TrainSettings) -> Result<TrainingSet> {
        Ok(self.without(held_out, settings.options())?.into_training_set(settings))
    }
}

impl TrainingSet {
    /// Extracts the attributes of `corpora` as [`Trainer::train`](super::Trainer::train) does.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train`](super::Trainer::train).
    pub fn new(
        corpora: impl Into<TrainingCorpora>,
        template: impl Into<Option<Template>>,
        settings: &TrainSettings,
    ) -> Result<Self> {
        let models = BaseModels::default();
        let extracted = ExtractedCorpora::from_models(corpora, template.into(), settings, &models)?;
        check_line_options(extracted.template.as_ref(), settings)?;
        Ok(extracted.into_training_set(settings))
    }

    /// Returns the number of parameters that the learner of the settings has.
    pub(super) fn parameters(&self, settings: &TrainSettings) -> usize {
        let predictor = settings.learner().predictor();
        predictor.map_or(self.space.dimension(), |it| it.parameters(self))
    }

    /// Returns the event before the first iteration of training.
    pub(super) fn start_event(&self, settings: &TrainSettings) -> Start {
        let ExtractedCorpora { data, labels, development, .. } = &self.corpora;
        let per_token = |entries: usize| entries as f64 / data.tokens().max(1) as f64;
        let [active_per_token, collapsed_active_per_token] = self.entries.map(per_token);
        Start {
            options: fields(settings).into(),
            sentences: data.labeled(),
            tokens: data.labeled_tokens(),
            total_weight: data.is_weighted().then(|| data.total_weights()[0]),
            partial_tokens: data.partial_tokens(),
            unlabeled_sentences: data.unlabeled(),
            dev_sentences: development.as_ref().map_or(0, DevelopmentSet::len),
            labels: labels.set.len(),
            reading: self.corpora.reading(),
            attributes: self.attributes(),
            collapsed_attributes: self.classes.iter().map(Classes::len).sum(),
            parameters: self.parameters(settings),
            weights: self.weights(),
            active_per_token,
            collapsed_active_per_token,
            estimated_memory: self.memory().saturating_add(self.memory_to_train(settings)),
        }
    }

    /// Returns what the model records of its training.
    pub(super) fn record(&self, end: &End) -> TrainingRecord {
        let held_out = self.corpora.held_out;
        TrainingRecord { held_out: held_out.map(|held_out| held_out.to_string()), ..end.record() }
    }

    /// Prunes and rounds the weights as the settings say, and makes the file of the model. Of
    /// `record` the recall bias is that of the model.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision of the model.
    pub fn finish(
        self,
        settings: &TrainSettings,
        mut weights: Vec<f64>,
        record: &TrainingRecord,
    ) -> Result<Finished> {
        let bias = record.recall_bias;
        let pruned = self.prune(settings, &mut weights, bias)?;
        let rounded = self.round(settings, &mut weights, bias)?;
        let model = match settings.learner().predictor() {
            Some(predictor) => {
                let options = serde_json::to_value(settings).map_err(|e| {
                    Error::parameter(format!("cannot write the options as JSON: {e}"))
                })?;
                let precision = settings.options().precision;
                predictor.encode(&self, &weights, precision, options, record)?
            }
            None => {
                let model = self.into_model(settings, &weights, bias, Some(record))?;
                model.as_bytes().to_vec()
            }
        };
        Ok(Finished { model, pruned, rounded })
    }

    /// Sets attribute weights below the threshold of the settings to 0. Returns `None` if there is
    /// no threshold.
    ///
    /// # Errors
    ///
    /// The development data cannot be scored.
    pub fn prune(
        &self,
        settings: &TrainSettings,
        theta: &mut [f64],
        recall_bias: f64,
    ) -> Result<Option<Pruned>> {
        let threshold = settings.options().prune;
        if threshold <= 0.0 {
            return Ok(None);
        }
        let mut weights = [0; 2];
        let predictor = settings.learner().predictor();
        let dev = self.score_change(predictor, theta, recall_bias, |theta| {
            weights = match predictor {
                Some(predictor) => predictor.prune(self, theta, threshold),
                None => self.class_weights().prune(theta, threshold),
            };
        })?;
        Ok(Some(Pruned { before: weights[0], after: weights[1], dev }))
    }

    /// Rounds attribute weights as the model will store them. Returns `None` if it stores them with
    /// so many bits that no score changes: in [`Precision::F32`] or [`Precision::F64`].
    ///
    /// # Errors
    ///
    /// The development data cannot be scored.
    pub fn round(
        &self,
        settings: &TrainSettings,
        theta: &mut [f64],
        recall_bias: f64,
    ) -> Result<Option<Rounded>> {
        let precision = settings.options().precision;
        if matches!(precision, Precision::F32 | Precision::F64) {
            return Ok(None);
        }
        let predictor = settings.learner().predictor();
        let dev = self.score_change(predictor, theta, recall_bias, |theta| match predictor {
            Some(predictor) => predictor.round(self, theta, precision),
            None => self.class_weights().round(theta, precision),
        })?;
        Ok(Some(Rounded { precision, dev }))
    }

    /// Changes parameters, and returns the scores on development data before and after, if there
    /// are any.
    fn score_change(
        &self,
        predictor: Option<&dyn Predictor>,
        theta: &mut [f64],
        recall_bias: f64,
        change: impl FnOnce(&mut [f64]),
    ) -> Result<Option<[DevScore; 2]>> {
        let mut scorer = DevScorer::new(self, predictor);
        let mut score = |theta: &[f64]| -> Result<Option<DevScore>> {
            let Some(scorer) = &mut scorer else {
                return Ok(None);
            };
            Ok(scorer.score(theta, &[recall_bias])?.first().copied())
        };
        let before = score(theta)?;
        change(theta);
        Ok(before.zip(score(theta)?).map(|(b, a)| [b, a]))
    }

    /// Builds a model from the weights θ and a recall bias. The model stores the settings and the
    /// record of training, if there is one. The training set is freed: the model takes as much
    /// memory.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision of the model.
    pub fn into_model(
        mut self,
        settings: &TrainSettings,
        theta: &[f64],
        recall_bias: f64,
        record: Option<&TrainingRecord>,
    ) -> Result<Model> {
        let data = std::mem::take(&mut self.corpora.data);
        let (sentences, tokens) = (data.labeled() as u64, data.labeled_tokens() as u64);
        drop(data);
        let options = settings.options();
        let names = Arc::unwrap_or_clone(std::mem::take(&mut self.corpora.alphabets));
        let tables = self.class_weights().tables(names, theta, options.precision)?;
        let mut label_weights = LabelWeights::default();
        self.space.label_weights(theta, &mut label_weights);
        let mut options_json = self.options_json(settings, recall_bias)?;
        if let Some(record) = record {
            record.add_to(&mut options_json);
        }
        let ExtractedCorpora { labels, source, template, .. } = self.corpora;
        add_recall_bias(recall_bias, &labels.set, &labels.labeling, &mut label_weights);
        let header = Header {
            labels: labels.set,
            labeling: labels.labeling,
            corpus_labeling: labels.corpus,
            columns: source.columns,
            template,
            order: options.order,
            label_weights,
            precision: options.precision,
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                files: source.files,
                sentences,
                tokens,
                options: options_json.to_string(),
            },
            tables: Default::default(),
        };
        Model::build(header, tables)
    }

    /// Returns the options as JSON, with the fingerprints of the models that training continued
    /// from and the recall bias, which a model that continues this one must not apply again.
    fn options_json(&self, settings: &TrainSettings, recall_bias: f64) -> Result<Value> {
        let mut options = serde_json::to_value(settings)
            .map_err(|e| Error::parameter(format!("cannot write the options as JSON: {e}")))?;
        let Some(base) = &self.corpora.base else {
            return Ok(options);
        };
        for model in base.iter() {
            let flag = model.role.to_string();
            let fingerprint = format!("{:032x}", model.fingerprint);
            options[flag.trim_start_matches('-')] = fingerprint.into();
        }
        options[APPLIED_RECALL_BIAS] = recall_bias.into();
        Ok(options)
    }
}
