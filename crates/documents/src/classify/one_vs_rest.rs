//! Combines models of one class against the rest that were trained one after another.

use std::collections::BTreeMap;

use super::header::ClassifierParts;
use super::output_layer::{Output, OutputLayer};

/// The weights of a model for each class.
#[derive(Default)]
pub(super) struct OneVsRest {
    classes: Vec<String>,
    added: usize,
    combined: ClassifierParts, // all but the weights: of the first model
    biases: Vec<f64>,          // of each class, or of its hidden units
    weights: BTreeMap<Vec<u8>, Vec<(u32, f64)>>,
    outputs: Vec<Output>, // of each class, if there are hidden units
}

impl OneVsRest {
    /// Creates a model of these classes without weights.
    pub fn new(classes: &[&str]) -> Self {
        Self {
            classes: classes.iter().map(|&class| class.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Adds the model of the next class. The score of the class is its score there minus that of
    /// the rest.
    pub fn add(&mut self, mut model: ClassifierParts) {
        let class = &self.classes[self.added];
        let first = self.biases.len();
        // The column of a column of the model, and the sign of its weights.
        let place = |column: u32| match &model.header.outputs {
            Some(_) => (first + column as usize, 1.0),
            None => match model.header.classes[column as usize] == *class {
                true => (first, 1.0),
                false => (first, -1.0),
            },
        };
        for (column, bias) in (0..).zip(&model.header.biases) {
            let (own, sign) = place(column);
            self.biases.resize(self.biases.len().max(own + 1), 0.0);
            self.biases[own] += sign * bias;
        }
        for (name, weights) in std::mem::take(&mut model.rows) {
            let row = self.weights.entry(name).or_default();
            for (column, weight) in weights {
                let (own, sign) = place(column);
                let own = own as u32;
                match row.last_mut().filter(|(last, _)| *last == own) {
                    Some((_, sum)) => *sum += sign * weight,
                    None => row.push((own, sign * weight)),
                }
            }
        }
        // The score of a model with hidden units is that of its second class.
        let is_second = model.header.classes.last() == Some(class);
        let sign = if is_second { 1.0 } else { -1.0 };
        let outputs = model.header.outputs.take().into_iter();
        for Output { mut weights, bias } in outputs.flat_map(|layer| layer.0) {
            weights.iter_mut().for_each(|weight| *weight *= sign);
            let bias = sign * bias;
            self.outputs.push(Output { weights, bias });
        }
        if self.added == 0 {
            self.combined = model;
        }
        self.added += 1;
    }

    /// Returns the model of all classes.
    pub fn into_parts(self) -> ClassifierParts {
        let mut parts = self.combined;
        parts.header.classes = self.classes;
        parts.header.biases = self.biases;
        let outputs = (!self.outputs.is_empty()).then_some(OutputLayer(self.outputs));
        parts.header.outputs = outputs;
        parts.rows = self.weights.into_iter().collect();
        parts
    }
}
