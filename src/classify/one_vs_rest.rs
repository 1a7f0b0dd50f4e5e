//! Combines models of one class against the rest that were trained one after another.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::label::LabelSet;
use crate::model::{EdgeWeights, Header, MAX_LABELS, Model, Output, OutputLayer};

/// The weights of a model for each class.
pub(super) struct OneVsRest {
    classes: LabelSet,
    added: usize,
    header: Option<Header>, // of the first model
    /// Of each class, or of its hidden units, which follow those of the class before.
    bias: Vec<f64>,
    weights: BTreeMap<Vec<u8>, Vec<(LabelId, f64)>>,
    /// Of each class, if there are hidden units.
    outputs: Vec<Output>,
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
            classes: labels,
            added: 0,
            header: None,
            bias: Vec::new(),
            weights: BTreeMap::new(),
            outputs: Vec::new(),
        })
    }

    /// Adds the model of the next class. The score of the class is its score there minus that of
    /// the rest.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](crate::Error::Model) if the model is damaged;
    /// [`Error::Parameter`](crate::Error::Parameter) if there are too many hidden units.
    pub fn add(&mut self, model: &Model) -> Result<()> {
        let header = model.header();
        let first = self.bias.len();
        match OutputLayer::of(model)? {
            None => {
                let name = self.classes.name(LabelId(self.added as u16));
                let is_own = |label| header.labels.name(label) == name;
                let signs = (0..header.labels.len() as u16).map(LabelId).map(is_own);
                let signs: Vec<f64> = signs.map(|own| if own { 1.0 } else { -1.0 }).collect();
                self.append(model, |label| (first, signs[label.index()]))?;
            }
            Some(layer) => {
                let all = self.classes.len() * header.labels.len();
                if all > MAX_LABELS {
                    return Err(Error::parameter(format!(
                        "{all} hidden units of all classes; expected at most {MAX_LABELS}"
                    )));
                }
                self.add_outputs(layer);
                self.append(model, |label| (first + label.index(), 1.0))?;
            }
        }
        self.added += 1;
        self.header.get_or_insert_with(|| header.clone());
        Ok(())
    }

    /// Adds the weights of hidden units for the score of the next class.
    fn add_outputs(&mut self, layer: OutputLayer) {
        let name = self.classes.name(LabelId(self.added as u16));
        // The score of a model is that of its second class.
        let is_second = layer.classes.last().is_some_and(|class| class == name);
        let sign = if is_second { 1.0 } else { -1.0 };
        for Output { mut weights, bias } in layer.outputs {
            weights.iter_mut().for_each(|weight| *weight *= sign);
            let bias = sign * bias;
            self.outputs.push(Output { weights, bias });
        }
    }

    /// Adds the weights of a model. `place` returns the row for those of a label, and their sign.
    fn append(&mut self, model: &Model, place: impl Fn(LabelId) -> (usize, f64)) -> Result<()> {
        let boundary = &model.header().label_weights;
        for (label, (start, end)) in (0..).zip(boundary.start.iter().zip(&boundary.end)) {
            let (row, sign) = place(LabelId(label));
            self.bias.resize(self.bias.len().max(row + 1), 0.0);
            self.bias[row] += sign * (start + end);
        }
        for weights in model.node_weights() {
            let (attribute, weights) = weights?;
            let entry = self.weights.entry(attribute.to_vec()).or_default();
            for (label, weight) in weights {
                let (row, sign) = place(label);
                let row = LabelId(row as u16);
                match entry.last_mut().filter(|(last, _)| *last == row) {
                    Some((_, sum)) => *sum += sign * weight,
                    None => entry.push((row, sign * weight)),
                }
            }
        }
        Ok(())
    }

    /// Returns the model of all classes.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision of the models.
    pub fn into_model(self) -> Result<Model> {
        let layer = (!self.outputs.is_empty()).then(|| OutputLayer {
            classes: self.classes.names().to_vec(),
            outputs: self.outputs,
        });
        let labels = match &layer {
            None => self.classes,
            Some(layer) => layer.labels()?,
        };
        let mut header = Header::new(labels);
        if let Some(first) = self.header {
            header.order = first.order;
            header.precision = first.precision;
            header.provenance = first.provenance;
        }
        if let Some(layer) = layer {
            header.provenance.record(&layer)?;
        }
        header.label_weights.start = self.bias;
        let edges: [EdgeWeights<Vec<u8>>; 0] = [];
        Model::from_weights(header, self.weights, edges)
    }
}
