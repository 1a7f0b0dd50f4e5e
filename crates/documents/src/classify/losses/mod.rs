//! The learner of losses of y·score: by iteratively reweighted least squares, or with hidden units
//! by L-BFGS.

mod fit;
mod layout;
mod linear;

use std::sync::Arc;

use dropchain::error::Result;
use dropchain::ids::AttributeId;
use dropchain::model::{Precision, TrainingRecord};
use dropchain::objective::Terms;
use dropchain::optim::Outcome;
use dropchain::train::{
    AnyLearner, Course, DevScore, Lbfgs, Learner, Predictor, Regularization, TrainOptions,
    TrainingSet,
};
use serde_json::{Map, Value};

use super::header::{ClassifierHeader, ClassifierParts, OutputLayer};
use crate::irls::{Loss, hidden_memory, hidden_start, irls_memory};
pub use fit::MAX_HIDDEN;
use layout::Layout;

/// Learns classifiers with a loss of y·score.
#[derive(Clone, Debug)]
pub struct LossLearner {
    /// The loss.
    pub loss: Loss,
    /// The number of hidden units; 0 for none.
    pub hidden: usize,
    /// The seed of the weights of hidden units that training starts from.
    pub seed: u64,
    /// Whether the bias is penalized like the weights of features.
    pub penalizes_bias: bool,
    /// Penalties, noise, the stopping tests, and with hidden units the memory of L-BFGS.
    pub method: Lbfgs,
}

impl LossLearner {
    fn layout(&self, set: &TrainingSet) -> Layout {
        Layout {
            columns: set.space().nodes.columns(),
            labels: set.labels().len(),
            units: self.hidden,
        }
    }
}

impl Learner for LossLearner {
    fn name(&self) -> &'static str {
        Lbfgs::NAME
    }

    fn record(&self) -> Map<String, Value> {
        let mut record = self.method.record();
        let loss = serde_json::to_value(self.loss).unwrap_or_default();
        record.insert("loss".to_owned(), loss);
        record.insert("hidden".to_owned(), self.hidden.into());
        record.insert("penalize_bias".to_owned(), self.penalizes_bias.into());
        record
    }

    fn check(&self, options: &TrainOptions<()>) -> Result<()> {
        self.method.check(options)?;
        fit::check_loss(self, options)
    }

    fn regularization(&self) -> Regularization {
        self.method.regularization()
    }

    fn with_regularization(&self, regularization: Regularization) -> Result<AnyLearner> {
        let method = self.method.regularized(regularization);
        Ok(Arc::new(Self { method, ..self.clone() }))
    }

    fn predictor(&self) -> Option<&dyn Predictor> {
        Some(self)
    }

    fn memory(&self, set: &TrainingSet) -> usize {
        let (rows, layout) = (&set.data().nodes, self.layout(set));
        let bytes = match self.hidden {
            0 => irls_memory(rows, layout.columns, layout.outputs()),
            units => hidden_memory(rows, layout.columns, units, self.method.optimizer.memory),
        };
        // θ, that of the best iteration, and the result.
        bytes.saturating_add(layout.dimension().saturating_mul(8 * 3))
    }

    fn learn(&self, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        linear::learn(self, self.layout(course.set()), course)
    }

    fn state_length(&self, set: &TrainingSet, _seed: u64) -> Result<usize> {
        Ok(self.layout(set).dimension())
    }
}

impl Predictor for LossLearner {
    fn start(&self, set: &TrainingSet) -> Vec<f64> {
        match self.hidden {
            0 => vec![0.0; self.layout(set).dimension()],
            units => {
                let scales = &set.space().nodes.scale;
                hidden_start(&set.data().nodes, scales, units, self.seed)
            }
        }
    }

    fn parameters(&self, set: &TrainingSet) -> usize {
        match self.hidden {
            0 => set.space().dimension(),
            _ => self.layout(set).dimension(),
        }
    }

    fn nonzero_weights(&self, set: &TrainingSet, theta: &[f64]) -> usize {
        self.layout(set).nonzero_weights(theta, set.node_classes())
    }

    fn score(&self, set: &TrainingSet, theta: &[f64]) -> Option<DevScore> {
        let (data, gold) = set.development()?;
        let scales = &set.space().nodes.scale;
        let predicted = self.layout(set).predict(theta, data, scales);
        let names = set.labels().names();
        let pairs = predicted.into_iter().zip(gold);
        let right = pairs.filter(|(label, gold)| names[*label] == gold[0]).count();
        Some(DevScore::Accuracy(right as f64 / gold.len() as f64))
    }

    fn prune(&self, set: &TrainingSet, theta: &mut [f64], threshold: f64) -> [usize; 2] {
        let classes = set.node_classes();
        self.layout(set).prune(theta, classes, threshold)
    }

    fn round(&self, set: &TrainingSet, theta: &mut [f64], precision: Precision) {
        self.layout(set).round(theta, set.node_classes(), precision);
    }

    fn encode(
        &self,
        set: &TrainingSet,
        theta: &[f64],
        precision: Precision,
        options: Value,
        record: &TrainingRecord,
    ) -> Result<Vec<u8>> {
        let layout = self.layout(set);
        let classes = set.node_classes();
        let rows = (0..classes.classes().len() as u32).map(|attribute| {
            let class = classes.class(attribute);
            let row = layout.row(theta, class as usize, classes.size(class));
            (set.node_name(AttributeId(attribute)).to_vec(), row)
        });
        let layer = layout.output_layer(theta);
        let parts = ClassifierParts {
            header: ClassifierHeader {
                classes: set.labels().names().to_vec(),
                loss: Some(self.loss),
                biases: layout.biases(theta),
                outputs: layer.map(OutputLayer::check).transpose()?,
                documents: set.data().labeled() as u64,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                options,
                result: Some(record.clone()),
                ..ClassifierHeader::default()
            },
            precision,
            rows: rows.collect(),
        };
        parts.encode()
    }
}
