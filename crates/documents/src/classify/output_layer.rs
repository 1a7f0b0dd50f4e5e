//! The output layer of a classifier with hidden units.

use dropchain::error::{Error, Result};
use dropchain::math::sigmoid;
use serde::{Deserialize, Serialize};

/// What makes scores of classes of the inputs of hidden units. Of two classes it has one output:
/// the score of the second minus that of the first. Of more, one for each class. The units of an
/// output follow those of the one before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutputLayer(pub Vec<Output>);

/// A sum over hidden units: f = b + Σ_k w_k·σ(u_k).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// w, `[K]`.
    pub weights: Vec<f64>,
    /// b.
    pub bias: f64,
}

/// Returns b + Σ_k w_k·σ(u_k); w and u are `[K]`.
pub fn output_score(weights: &[f64], bias: f64, inputs: &[f64]) -> f64 {
    let units = weights.iter().zip(inputs);
    bias + units.map(|(w, &u)| w * sigmoid(u)).sum::<f64>()
}

impl OutputLayer {
    /// Returns whether the layer fits so many classes and hidden units.
    #[must_use]
    pub fn fits(&self, classes: usize, units: usize) -> bool {
        let outputs = if classes == 2 { 1 } else { classes };
        let own: usize = self.0.iter().map(|output| output.weights.len()).sum();
        classes > 1 && self.0.len() == outputs && own == units && self.is_finite()
    }

    fn is_finite(&self) -> bool {
        self.0.iter().all(|output| {
            let mut numbers = output.weights.iter().chain([&output.bias]);
            numbers.all(|number| number.is_finite())
        })
    }

    /// Checks that all numbers are finite.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if they are not.
    pub fn check(self) -> Result<Self> {
        match self.is_finite() {
            true => Ok(self),
            false => Err(Error::parameter("the weights of hidden units overflow")),
        }
    }

    /// Returns for each unit the class of its output, and its weight there; those of two classes
    /// are of the second.
    pub fn weights<'a>(&'a self, classes: &'a [String]) -> impl Iterator<Item = (&'a str, f64)> {
        let skipped = classes.len().saturating_sub(self.0.len());
        let outputs = classes.iter().skip(skipped).zip(&self.0);
        outputs.flat_map(|(class, output)| output.weights.iter().map(move |&w| (&**class, w)))
    }

    /// Returns the bias of each class.
    #[must_use]
    pub fn biases(&self) -> Vec<f64> {
        of_classes(self.0.iter().map(|output| output.bias).collect())
    }

    /// Returns the score of each class, given the inputs of all units.
    #[must_use]
    pub fn scores(&self, mut inputs: &[f64]) -> Vec<f64> {
        let mut scores = Vec::with_capacity(self.0.len());
        for output in &self.0 {
            let (own, rest) = inputs.split_at(output.weights.len());
            scores.push(output_score(&output.weights, output.bias, own));
            inputs = rest;
        }
        of_classes(scores)
    }
}

/// Returns a number for each class, given one for each, or of two classes that of the second minus
/// that of the first.
pub fn of_classes(numbers: Vec<f64>) -> Vec<f64> {
    match numbers[..] {
        [difference] => vec![-0.5 * difference, 0.5 * difference],
        _ => numbers,
    }
}
