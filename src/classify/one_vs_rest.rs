//! Models of a class against the rest, side by side.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::ids::LabelId;
use crate::label::LabelSet;
use crate::model::{EdgeWeights, Header, Model};

/// The weights of a model for each class.
pub(super) struct OneVsRest {
    labels: LabelSet,
    header: Option<Header>, // of the first model
    bias: Vec<f64>,
    weights: BTreeMap<Vec<u8>, Vec<(LabelId, f64)>>,
}

impl OneVsRest {
    /// Creates a model without weights.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](crate::Error::Parameter) if there are too many classes.
    pub fn new(classes: &[&str]) -> Result<Self> {
        let mut labels = LabelSet::default();
        for class in classes {
            labels.insert(class)?;
        }
        Ok(Self {
            labels,
            header: None,
            bias: Vec::new(),
            weights: BTreeMap::new(),
        })
    }

    /// Adds the model of the next class. The score of the class is its score there minus that of
    /// the rest.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](crate::Error::Model) if the model is damaged.
    pub fn add(&mut self, model: &Model) -> Result<()> {
        let header = model.header();
        let class = LabelId(self.bias.len() as u16);
        let name = self.labels.name(class);
        let sign = |label| match header.labels.name(label) == name {
            true => 1.0,
            false => -1.0,
        };
        let boundary = &header.label_weights;
        let bias = (0..).zip(boundary.start.iter().zip(&boundary.end));
        let bias = bias.map(|(label, (start, end))| sign(LabelId(label)) * (start + end));
        let bias = bias.sum();
        for row in model.node_weights() {
            let (attribute, weights) = row?;
            let weights = weights.iter();
            let weight = weights.map(|&(label, weight)| sign(label) * weight).sum();
            let entry = self.weights.entry(attribute.to_vec()).or_default();
            entry.push((class, weight));
        }
        self.bias.push(bias);
        self.header.get_or_insert_with(|| header.clone());
        Ok(())
    }

    /// Returns the model of all classes.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision of the models.
    pub fn into_model(self) -> Result<Model> {
        let mut header = Header::new(self.labels);
        if let Some(first) = self.header {
            header.order = first.order;
            header.precision = first.precision;
            header.provenance = first.provenance;
        }
        header.label_weights.start = self.bias;
        let edges: [EdgeWeights<Vec<u8>>; 0] = [];
        Model::from_weights(header, self.weights, edges)
    }
}
