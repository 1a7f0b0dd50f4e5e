//! What training works on: matrices, parameters, and the way from weights to a model.

use super::development::Development;
use super::events::{DevScore, Pruned};
use super::expand;
use super::extracted::Source;
use super::options::TrainOptions;
use super::prepare::{Labels, Prepared};
use super::recall_bias::Search;
use crate::chain::LabelWeights;
use crate::error::{Error, Result};
use crate::model::{Header, Model, Provenance};
use crate::objective::PenalizedLikelihood;
use crate::optim;
use crate::score::ParameterSpace;
use crate::template::Template;

/// Training data as matrices, with the parameters over them and development data, if there are any.
///
/// It does not change: several trainings may share it.
pub struct TrainingSet {
    pub(super) prepared: Prepared,
    pub(super) space: ParameterSpace,
    pub(super) development: Option<Development>,
    pub(super) template: Option<Template>,
    pub(super) source: Source,
}

impl TrainingSet {
    pub(super) fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    pub(super) fn development(&self) -> Option<&Development> {
        self.development.as_ref()
    }

    fn labels(&self) -> &Labels {
        &self.prepared.labels
    }

    /// The layout of the parameters θ.
    #[must_use]
    pub fn space(&self) -> &ParameterSpace {
        &self.space
    }

    /// Number of attributes, before collapsing.
    #[must_use]
    pub fn attributes(&self) -> usize {
        self.prepared.attributes()
    }

    /// −Σ log p(y|x) and the L2 penalty.
    pub(super) fn likelihood(&self, l2: f64) -> PenalizedLikelihood<'_> {
        PenalizedLikelihood::new(&self.prepared.data, &self.space, l2)
    }

    /// The search for the recall bias.
    pub(super) fn search(&self, options: &TrainOptions) -> Result<Search> {
        Search::new(options, self.labels())
    }

    /// Bytes of memory.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.prepared.memory() + self.space.memory()
    }

    /// Bytes that training takes beside the material.
    pub(super) fn memory_to_train(
        &self,
        options: &TrainOptions,
        objective: &PenalizedLikelihood<'_>,
    ) -> usize {
        let steps = 2 * 4 * optim::LbfgsOptions::default().memory;
        let vectors = 8 * (5 + 2 * usize::from(options.l1 > 0.0));
        objective.memory() + (steps + vectors) * self.space.dimension()
    }

    /// Leaves out weights that are nearer to 0 than the options say; none where they say nothing.
    ///
    /// # Errors
    ///
    /// None that data can cause.
    pub fn prune(
        &self,
        options: &TrainOptions,
        theta: &mut [f64],
        recall_bias: f64,
    ) -> Result<Option<Pruned>> {
        if options.prune <= 0.0 {
            return Ok(None);
        }
        let score = |theta: &[f64]| -> Result<Option<DevScore>> {
            let development = self.development.as_ref();
            let scores = development.map(|d| d.score(&self.space, theta, &[recall_bias]));
            Ok(scores
                .transpose()?
                .and_then(|scores| scores.first().copied()))
        };
        let before = score(theta)?;
        let weights = expand::prune(&self.prepared, &self.space, theta, options.prune);
        Ok(Some(Pruned {
            before: weights[0],
            after: weights[1],
            dev: before.zip(score(theta)?).map(|(b, a)| [b, a]),
        }))
    }

    /// The model with the weights θ and a recall bias. `options` are told in the model.
    ///
    /// # Errors
    ///
    /// A weight that is too large for the model's precision.
    pub fn model(
        mut self,
        options: &TrainOptions,
        theta: &[f64],
        recall_bias: f64,
    ) -> Result<Model> {
        self.prepared.drop_matrices();
        let prepared = &self.prepared;
        let [nodes, edges] = expand::tables(prepared, &self.space, theta, options.precision)?;
        let mut label_weights = LabelWeights::default();
        self.space.label_weights(theta, &mut label_weights);
        self.labels()
            .add_recall_bias(recall_bias, &mut label_weights);
        let options_text = serde_json::to_string(options)
            .map_err(|e| Error::parameter(format!("cannot write the options as JSON: {e}")))?;
        let provenance = Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: self.source.files,
            sentences: prepared.data.labeled() as u64,
            tokens: prepared.data.labels.len() as u64,
            options: options_text,
        };
        let header = Header {
            labels: prepared.labels.set.clone(),
            scheme: prepared.labels.scheme,
            corpus_scheme: prepared.labels.corpus_scheme,
            columns: self.source.columns,
            label_column: self.source.label_column,
            template: self.template,
            order: options.order,
            label_weights,
            precision: options.precision,
            provenance,
            tables: Default::default(),
        };
        Model::build(header, &nodes, &edges)
    }
}
