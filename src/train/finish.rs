//! From the class parameters that were learned to a model with the weights of single attributes.
//!
//! A member of a class of m attributes with parameter φ has the weight θ = φ/√m. If φ is still
//! where training started, √m·θ0, it has exactly the weight θ0, without the rounding of the way
//! there and back.

use std::sync::Arc;

use serde_json::Value;

use super::base_models::BaseWeights;
use super::development::DevScorer;
use super::events::{DevScore, End, Observer, Pruned, Rounded};
use super::settings::TrainSettings;
use super::training_set::{DataSource, Extracted, TrainingSet};
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::extract::Alphabet;
use crate::model::{
    APPLIED_RECALL_BIAS, AttributeKind, Header, Model, Precision, Provenance, TableBuilder,
    TrainingRecord, add_recall_bias,
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
                weights = self.prune(theta, options.storage.prune);
            })?;
            observer.pruned(&Pruned { before: weights[0], after: weights[1], dev });
        }
        let precision = options.storage.precision;
        // The others have so many bits that no score changes.
        if precision == Precision::F16 {
            let round = |theta: &mut [f64]| self.round(theta, precision);
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
        let Some(development) = &self.extracted.development else {
            change(theta);
            return Ok(None);
        };
        let mut scorer = DevScorer::new(development, &self.space);
        let before = scorer.score(theta, &[recall_bias])?[0].0;
        change(theta);
        Ok(Some([before, scorer.score(theta, &[recall_bias])?[0].0]))
    }

    fn into_model(mut self, settings: &TrainSettings, theta: &[f64], end: &End) -> Result<Model> {
        let data = std::mem::take(&mut self.extracted.data);
        let (sentences, tokens) = (data.labeled() as u64, data.labels.len() as u64);
        drop(data);
        let options = settings.options();
        let precision = options.storage.precision;
        let names = Arc::unwrap_or_clone(std::mem::take(&mut self.extracted.alphabets));
        let nodes = self.table(AttributeKind::Node, names.nodes, theta, precision)?;
        let edges = self.table(AttributeKind::Edge, names.edges, theta, precision)?;
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
            precision,
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
        Model::build(header, [nodes, edges])
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

    /// Builds the table of the weights of node or edge attributes with these names.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision.
    fn table(
        &self,
        kind: AttributeKind,
        names: Alphabet,
        theta: &[f64],
        precision: Precision,
    ) -> Result<TableBuilder> {
        let (labels, stride) = (self.space.labels(), self.space.stride());
        let classes = &self.classes[kind as usize];
        let block = self.space.blocks()[kind as usize];
        let parameters = block.weights(theta);
        // θ0, unless all are 0.
        let initial = self.origin.as_ref().map(|origin| block.weights(&origin.initial));
        let table = TableBuilder::new(kind, labels, precision);
        table.with_names(names.names, |id, row| {
            let class = classes.class(id as u32);
            let factor = 1.0 / f64::from(classes.size(class)).sqrt();
            let class = class as usize;
            block.targets.for_each(class, |position, index| {
                let parameter = parameters[index];
                let is_initial = |initial: &f64| parameter == initial * block.scale[class];
                let unchanged = initial.map(|initial| initial[index]).filter(is_initial);
                let weight = unchanged.unwrap_or(parameter * factor);
                // From a position in the padded scores to a column of the table.
                let column = position / stride * labels + position % stride;
                row.push((column as u32, weight));
            });
        })
    }

    /// Sets class parameters to 0 if the weights of the members have an absolute value below
    /// `threshold`. Returns the number of nonzero weights before and after.
    fn prune(&self, theta: &mut [f64], threshold: f64) -> [usize; 2] {
        let mut count = [0; 2];
        for (classes, block) in self.classes.iter().zip(self.space.blocks()) {
            let weights = block.weights_mut(theta);
            for class in 0..classes.len() as u32 {
                let members = classes.size(class);
                let scale = 1.0 / f64::from(members).sqrt();
                block.targets.for_each(class as usize, |_, index| {
                    let weight = &mut weights[index];
                    count[0] += members as usize * usize::from(*weight != 0.0);
                    if (*weight * scale).abs() < threshold {
                        *weight = 0.0;
                    }
                    count[1] += members as usize * usize::from(*weight != 0.0);
                });
            }
        }
        count
    }

    /// Sets class parameters so that the weights of the members have a precision. Those of weights
    /// that are too large for it stay.
    fn round(&self, theta: &mut [f64], precision: Precision) {
        for (classes, block) in self.classes.iter().zip(self.space.blocks()) {
            let weights = block.weights_mut(theta);
            for class in 0..classes.len() as u32 {
                let factor = f64::from(classes.size(class)).sqrt();
                for weight in &mut weights[block.targets.range(class as usize)] {
                    let rounded = precision.round(*weight / factor) * factor;
                    if rounded.is_finite() {
                        *weight = rounded;
                    }
                }
            }
        }
    }
}
