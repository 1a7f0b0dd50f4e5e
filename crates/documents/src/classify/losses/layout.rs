//! Where θ has the weights of features, and what it predicts.

use dropchain::extract::{Classes, Dataset};
use dropchain::model::Precision;
use rayon::prelude::*;

use super::super::header::{Output, OutputLayer, output_score};

/// The layout of the parameters of D columns and L labels.
///
/// Without hidden units θ has, for each label that has a problem, its D weights and half of its
/// bias (`linear.rs`). Of two labels that is the second, and its half is half of its own bias, as
/// the score f is shared by both: ∓½·f. With K units, θ is α `[D][K]`, their biases c `[K]`, their
/// output weights `[K]`, and the bias b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub columns: usize,
    pub labels: usize,
    /// The number of hidden units K; 0 for none.
    pub units: usize,
}

impl Layout {
    /// Returns the number of weights of each column.
    pub fn outputs(self) -> usize {
        match (self.units, self.labels) {
            (0, 2) => 1,
            (0, labels) => labels,
            (units, _) => units,
        }
    }

    /// Returns the number of parameters.
    pub fn dimension(self) -> usize {
        match self.units {
            0 => (self.columns + 1).saturating_mul(self.outputs()),
            units => (self.columns + 2).saturating_mul(units) + 1,
        }
    }

    /// Returns whether the weights are those of f, of two classes.
    pub fn is_binary(self) -> bool {
        self.units == 0 && self.labels == 2
    }

    /// Returns the index in θ of a weight of a column.
    pub fn at(self, column: usize, output: usize) -> usize {
        match self.units {
            0 => output * (self.columns + 1) + column,
            units => column * units + output,
        }
    }

    /// Returns the bias of each column of weights.
    pub fn biases(self, theta: &[f64]) -> Vec<f64> {
        let outputs = 0..self.outputs();
        match self.units {
            0 => {
                let factor = if self.is_binary() { 4.0 } else { 2.0 };
                let halves = outputs.map(|output| theta[self.at(self.columns, output)]);
                halves.map(|half| factor * half).collect()
            }
            units => outputs.map(|k| theta[self.columns * units + k]).collect(),
        }
    }

    /// Returns the output layer of hidden units.
    pub fn output_layer(self, theta: &[f64]) -> Option<OutputLayer> {
        let weights = (self.columns + 1) * self.units;
        let output = || Output {
            weights: theta[weights..weights + self.units].to_vec(),
            bias: theta[weights + self.units],
        };
        (self.units > 0).then(|| OutputLayer(vec![output()]))
    }

    /// Predicts the labels of documents, whose values times `scales` are the rows.
    pub fn predict(self, theta: &[f64], data: &Dataset, scales: &[f64]) -> Vec<usize> {
        let biases = self.biases(theta);
        let layer = self.output_layer(theta);
        let predict = |row: usize| {
            let mut scores = biases.clone();
            for (column, value) in data.nodes.entries(row) {
                let column = column as usize;
                for (output, score) in scores.iter_mut().enumerate() {
                    *score += scales[column] * value * theta[self.at(column, output)];
                }
            }
            match &layer {
                Some(OutputLayer(outputs)) => {
                    let Output { weights, bias } = &outputs[0];
                    usize::from(output_score(weights, *bias, &scores) > 0.0)
                }
                None if self.is_binary() => usize::from(scores[0] > 0.0),
                None => first_best(&scores),
            }
        };
        (0..data.len()).into_par_iter().map(predict).collect()
    }

    /// Returns how many parameters of labels a parameter stands for: weights of f are of both.
    pub fn copies(self) -> usize {
        if self.is_binary() { 2 } else { 1 }
    }

    /// Counts the weights of single features that are not 0.
    pub fn nonzero_weights(self, theta: &[f64], classes: &Classes) -> usize {
        let of_column = |column: usize| {
            let outputs = 0..self.outputs();
            let nonzero = outputs.filter(|&output| theta[self.at(column, output)] != 0.0);
            nonzero.count() * classes.size(column as u32) as usize
        };
        (0..self.columns).map(of_column).sum::<usize>() * self.copies()
    }

    /// Returns the number of parameters of labels that are not 0, and ‖θ‖ of these, without hidden
    /// units.
    pub fn of_labels(self, theta: &[f64]) -> (usize, f64) {
        let [half, copies] = if self.is_binary() { [0.5, 2.0] } else { [1.0, 1.0] };
        let (mut nonzero, mut squares) = (0, 0.0);
        for weights in theta.chunks_exact(self.columns + 1) {
            let (weights, bias) = weights.split_at(self.columns);
            // The bias is that of the first and of the last token.
            let squared = |numbers: &[f64]| numbers.iter().map(|w| w * w).sum::<f64>();
            squares += copies * (half * half * squared(weights) + 2.0 * squared(bias));
            let count = |numbers: &[f64]| numbers.iter().filter(|&&w| w != 0.0).count();
            nonzero += self.copies() * (count(weights) + 2 * count(bias));
        }
        (nonzero, squares.sqrt())
    }

    /// Sets the weights of features to 0 whose absolute value is below a threshold. Returns the
    /// number of those that are not 0, before and after.
    pub fn prune(self, theta: &mut [f64], classes: &Classes, threshold: f64) -> [usize; 2] {
        let before = self.nonzero_weights(theta, classes);
        let threshold = threshold * self.copies() as f64;
        for column in 0..self.columns {
            let scale = 1.0 / f64::from(classes.size(column as u32)).sqrt();
            for output in 0..self.outputs() {
                let weight = &mut theta[self.at(column, output)];
                if (*weight * scale).abs() < threshold {
                    *weight = 0.0;
                }
            }
        }
        [before, self.nonzero_weights(theta, classes)]
    }

    /// Rounds the weights of features to a precision. Those that are too large for it stay.
    pub fn round(self, theta: &mut [f64], classes: &Classes, precision: Precision) {
        for column in 0..self.columns {
            let factor = f64::from(classes.size(column as u32)).sqrt();
            let outputs = 0..self.outputs();
            let row: Vec<f64> = outputs.map(|k| theta[self.at(column, k)] / factor).collect();
            let scale = precision.scale(row.iter().copied());
            for (output, weight) in row.into_iter().enumerate() {
                let rounded = precision.round(weight, scale) * factor;
                if rounded.is_finite() {
                    theta[self.at(column, output)] = rounded;
                }
            }
        }
    }

    /// Returns the weights of a feature in a class of so many, by output.
    pub fn row(self, theta: &[f64], column: usize, size: u32) -> Vec<(u32, f64)> {
        let scale = 1.0 / f64::from(size).sqrt();
        let outputs = 0..self.outputs();
        let weights = outputs.map(|k| (k as u32, theta[self.at(column, k)] * scale));
        weights.collect()
    }
}

/// Returns the index of the largest number, the first of several.
fn first_best(numbers: &[f64]) -> usize {
    let best = (0, f64::NEG_INFINITY);
    let numbers = numbers.iter().enumerate();
    numbers.fold(best, |best, (i, &x)| if x > best.1 { (i, x) } else { best }).0
}
