//! From the weights that were learned to a model.

use std::sync::Arc;

use serde_json::Value;

use super::base_weights::BaseWeights;
use super::dev_scorer::DevScorer;
use super::events::{DevScore, End, Observer, Pruned, Rounded};
use super::extracted::{DataSource, Extracted};
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::model::{
    APPLIED_RECALL_BIAS, Header, Model, Precision, Provenance, TrainingRecord, add_recall_bias,
};

impl TrainingSet {
    /// Prunes and rounds the weights θ as the settings say, and builds the model. The training set
    /// is freed: the model takes as much memory.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision of the model; the development data cannot be scored.
    pub(super) fn finish(
        self,
        settings: &TrainSettings,
        mut theta: Vec<f64>,
        end: &End,
        observer: &mut dyn Observer,
    ) -> Result<Model> {
        let options = settings.options();
        if options.storage.prune > 0.0 {
            let mut weights = [0; 2];
            let dev = self.score_change(&mut theta, end.recall_bias, |theta| {
                weights = self.class_weights().prune(theta, options.storage.prune);
            })?;
            observer.pruned(&Pruned { before: weights[0], after: weights[1], dev });
        }
        let precision = options.storage.precision;
        // The others have so many bits that no score changes.
        if precision == Precision::F16 {
            let round = |theta: &mut [f64]| self.class_weights().round(theta, precision);
            let dev = self.score_change(&mut theta, end.recall_bias, round)?;
            observer.rounded(&Rounded { precision, dev });
        }
        self.into_model(settings, &theta, end)
    }

    /// Changes parameters, and returns the scores on development data before and after, if there
    /// are any.
    fn score_change(
        &self,
        theta: &mut [f64],
        recall_bias: f64,
        change: impl FnOnce(&mut [f64]),
    ) -> Result<Option<[DevScore; 2]>> {
        let mut scorer = DevScorer::new(self);
        let mut score = |theta: &[f64]| -> Result<Option<DevScore>> {
            let scores = scorer.as_mut().map(|scorer| scorer.score(theta, &[recall_bias]));
            Ok(scores.transpose()?.and_then(|scores| scores.first().copied()))
        };
        let before = score(theta)?;
        change(theta);
        Ok(before.zip(score(theta)?).map(<[_; 2]>::from))
    }

    fn into_model(mut self, settings: &TrainSettings, theta: &[f64], end: &End) -> Result<Model> {
        let data = std::mem::take(&mut self.extracted.data);
        let (sentences, tokens) = (data.labeled() as u64, data.labels.len() as u64);
        drop(data);
        let options = settings.options();
        let names = Arc::unwrap_or_clone(std::mem::take(&mut self.extracted.alphabets));
        let tables = self.class_weights().tables(names, theta, options.storage.precision)?;
        let mut label_weights = LabelWeights::default();
        self.space.label_weights(theta, &mut label_weights);
        let recorded = self.recorded_options(settings, end)?;
        let Extracted { labels, source, base, .. } = self.extracted;
        add_recall_bias(end.recall_bias, &labels.set, &labels.labeling, &mut label_weights);
        let DataSource { mut files, date, columns, template, .. } = source;
        files.extend(base.iter().map(BaseWeights::record));
        let header = Header {
            labels: labels.set,
            labeling: labels.labeling,
            corpus_labeling: labels.corpus,
            columns,
            template,
            order: options.structure.order,
            label_weights,
            precision: options.storage.precision,
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                date,
                files,
                sentences,
                tokens,
                options: recorded.to_string(),
            },
            tables: Default::default(),
        };
        Model::build(header, tables)
    }

    /// Returns the options as JSON, with the record of training, and of continued training with the
    /// recall bias, which a model that continues this one must not apply again.
    fn recorded_options(&self, settings: &TrainSettings, end: &End) -> Result<Value> {
        let mut options = serde_json::to_value(settings)
            .map_err(|e| Error::parameter(format!("cannot write the options as JSON: {e}")))?;
        if !self.extracted.base.is_empty() {
            options[APPLIED_RECALL_BIAS] = end.recall_bias.into();
        }
        let held_out = self.extracted.source.held_out.map(|held_out| held_out.to_string());
        TrainingRecord { held_out, ..end.record() }.add_to(&mut options);
        Ok(options)
    }
}
