//! The output layer of a classifier with hidden units.
//!
//! The labels of such a model are its hidden units: their scores are the inputs of the units, the
//! boundary weights their biases. The output layer, which makes scores of classes of them, is
//! stored with the training options, as are other things that only classifiers have.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file::Model;
use super::header::Provenance;
use crate::error::{Error, Result};
#[cfg(feature = "train")]
use crate::label::LabelSet;
use crate::math::sigmoid;

/// What makes scores of classes of the inputs of hidden units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputLayer {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// Of two classes one output: the score of the second minus that of the first. Of more, one for
    /// each class. The units of an output follow those of the one before.
    pub outputs: Vec<Output>,
}

/// A sum over hidden units: f = b + Σ_k w_k·σ(u_k).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// w, `[K]`.
    pub weights: Vec<f64>,
    /// b.
    pub bias: f64,
}

impl Output {
    /// Returns f, given u `[K]`.
    pub fn score(&self, inputs: &[f64]) -> f64 {
        output_score(&self.weights, self.bias, inputs)
    }
}

/// Returns b + Σ_k w_k·σ(u_k); w and u are `[K]`.
pub fn output_score(weights: &[f64], bias: f64, inputs: &[f64]) -> f64 {
    let units = weights.iter().zip(inputs);
    bias + units.map(|(w, &u)| w * sigmoid(u)).sum::<f64>()
}

impl OutputLayer {
    /// The field of the options that holds the layer.
    pub const KEY: &str = "output_layer";

    /// Returns the layer of a model; `None` if its labels are classes.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if it does not fit the labels.
    pub fn of(model: &Model) -> Result<Option<Self>> {
        let header = model.header();
        let Some(value) = header.provenance.output_layer() else {
            return Ok(None);
        };
        let layer: Option<Self> = serde_json::from_value(value).ok();
        let layer = layer.filter(|layer| layer.units() == header.labels.len() && layer.is_sound());
        let message = "the output layer of the model does not fit its hidden units";
        layer
            .map(Some)
            .ok_or_else(|| Error::model(model.path(), message))
    }

    /// Returns the number of hidden units.
    fn units(&self) -> usize {
        self.outputs.iter().map(|output| output.weights.len()).sum()
    }

    fn is_sound(&self) -> bool {
        let expected = match self.classes.len() {
            0 | 1 => return false,
            2 => 1,
            more => more,
        };
        let mut numbers = self.outputs.iter();
        self.outputs.len() == expected
            && numbers.all(|output| {
                let mut numbers = output.weights.iter().chain([&output.bias]);
                numbers.all(|number| number.is_finite())
            })
    }

    /// Returns for each unit the class of its output, and its weight there.
    pub fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        let outputs = self.named_outputs();
        outputs.flat_map(|(class, output)| output.weights.iter().map(move |&w| (class, w)))
    }

    /// Returns the bias of each class.
    pub fn biases(&self) -> Vec<f64> {
        match &self.outputs[..] {
            [output] => vec![-0.5 * output.bias, 0.5 * output.bias],
            outputs => outputs.iter().map(|output| output.bias).collect(),
        }
    }

    /// Returns the outputs with their classes; that of two classes is of the second.
    fn named_outputs(&self) -> impl Iterator<Item = (&str, &Output)> {
        let skipped = self.classes.len().saturating_sub(self.outputs.len());
        let classes = self.classes.iter().skip(skipped).map(String::as_str);
        classes.zip(&self.outputs)
    }

    /// Returns the hidden units as labels, with names such as `class#1`. Those of two classes are
    /// named after the second.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are too many.
    #[cfg(feature = "train")]
    pub fn labels(&self) -> Result<LabelSet> {
        let mut labels = LabelSet::default();
        for (class, output) in self.named_outputs() {
            for unit in 1..=output.weights.len() {
                labels.insert(&format!("{class}#{unit}"))?;
            }
        }
        Ok(labels)
    }

    /// Adds the layer to options in JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if a number is not finite.
    #[cfg(feature = "train")]
    pub fn add_to(&self, options: &mut Value) -> Result<()> {
        if !self.is_sound() {
            return Err(Error::parameter("the weights of hidden units overflow"));
        }
        let value = serde_json::to_value(self);
        let value = value.map_err(|e| Error::parameter(format!("cannot record outputs: {e}")))?;
        options[Self::KEY] = value;
        Ok(())
    }

    /// Returns the score of each class, given the inputs of all units.
    pub fn scores(&self, mut inputs: &[f64]) -> Vec<f64> {
        let mut scores = Vec::with_capacity(self.classes.len());
        for output in &self.outputs {
            let (own, rest) = inputs.split_at(output.weights.len());
            scores.push(output.score(own));
            inputs = rest;
        }
        match scores[..] {
            [difference] => vec![-0.5 * difference, 0.5 * difference],
            _ => scores,
        }
    }
}

impl Provenance {
    /// Returns the output layer that was recorded, if there is one.
    pub(super) fn output_layer(&self) -> Option<Value> {
        self.parsed_options()
            .get_mut(OutputLayer::KEY)
            .map(Value::take)
    }

    /// Records an output layer, in the place of another.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if a number is not finite.
    #[cfg(feature = "train")]
    pub fn record(&mut self, layer: &OutputLayer) -> Result<()> {
        let mut options = self.parsed_options();
        layer.add_to(&mut options)?;
        self.options = options.to_string();
        Ok(())
    }
}
