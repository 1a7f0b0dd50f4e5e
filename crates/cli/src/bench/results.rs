//! The results of `bench gradients`, as its JSON has them.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The results of `bench gradients`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gradients {
    /// The sentences, and the objective.
    #[serde(flatten)]
    pub corpus: CorpusSummary,
    /// The weights at which gradients are compared.
    pub weights: String,
    /// Number of timed repeats.
    pub repeat: u32,
    /// Number of threads.
    pub threads: usize,
    /// The engines, on the corpus; the first is the likelihood.
    pub engines: Vec<Measurement>,
    /// Costs by what was varied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<Sweep>,
}

/// The sentences that were evaluated, and the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CorpusSummary {
    /// Version of dropchain.
    pub version: String,
    /// Training files.
    pub files: Vec<String>,
    /// The template.
    pub template: Option<String>,
    /// Number of sentences.
    pub sentences: usize,
    /// Number of tokens.
    pub tokens: usize,
    /// Number of labels.
    pub labels: usize,
    /// Number of weights.
    pub parameters: usize,
    /// The training parameters.
    pub options: Value,
}

/// The measurements of the likelihood, or of it with an engine of the noise term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// True if attributes that fire once, at the same token, were collapsed.
    pub collapsed: bool,
    /// Number of sentences that were evaluated.
    pub sentences: usize,
    /// Seconds per evaluation of value and gradient, the median over all repeats.
    pub seconds: f64,
    /// The quartiles around it.
    pub seconds_quartiles: [f64; 2],
    /// Seconds beyond those of the likelihood in the same repeat; of the likelihood, its own.
    pub added_seconds: Spread,
    /// Median of the seconds divided by that of the likelihood.
    pub ratio_to_likelihood: f64,
    /// Multiply-adds of an evaluation, by the formulas of the documentation.
    pub multiply_adds: f64,
    /// Multiply-adds beyond those of the likelihood; of the likelihood, its own.
    pub added_multiply_adds: f64,
    /// Comparison with the exact gradient; absent for the likelihood, and if the exact gradient is
    /// lost in rounding errors.
    #[serde(flatten)]
    pub deviation: Option<Deviation>,
    /// q/T of Wang et al. 2013: distinct attributes of a sentence per token, averaged over tokens;
    /// after collapsing if the engine collapses attributes, otherwise before.
    pub active_per_token: f64,
    /// Peak memory of an evaluation in bytes, if it was measured.
    pub peak_bytes: Option<u64>,
}

impl Measurement {
    /// Returns the name that distinguishes it from other measurements: that of the option.
    pub fn name(&self) -> &str {
        match &*self.engine {
            "message" if !self.collapsed => "message=plain",
            name => name,
        }
    }
}

/// How far a gradient is from the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deviation {
    /// ‖g − g*‖ / ‖g*‖ of the gradient g of the noise term alone, where g* is the exact one.
    pub relative_error: f64,
    /// ‖g − g*‖ / ‖∇J*‖: the error relative to the whole gradient, of likelihood and noise term.
    pub relative_error_whole: f64,
    /// Cosine of the angle between g and g*.
    pub cosine: f64,
}

/// A median and the quartiles around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The first quartile.
    pub low: f64,
    /// The third quartile.
    pub high: f64,
}

impl Spread {
    /// Returns the median and the quartiles of one or more values, between which it interpolates
    /// linearly.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        Self { median: quantile(0.5), low: quantile(0.25), high: quantile(0.75) }
    }

    /// Returns the spread of multiples of the values.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { median: factor * self.median, low: factor * self.low, high: factor * self.high }
    }
}

/// The varied quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SweepAxis {
    Labels,
    Length,
    Attributes,
}

impl SweepAxis {
    /// Returns the name of the quantity with its symbol.
    pub fn label(self) -> &'static str {
        match self {
            Self::Labels => "labels K",
            Self::Length => "tokens T",
            Self::Attributes => "distinct attributes q",
        }
    }
}

/// The cost of the engines on sentences of several sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The varied quantity.
    pub axis: SweepAxis,
    /// The measurements.
    pub points: Vec<SweepPoint>,
}

/// The cost of the engines on sentences of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// The number of labels, of tokens or of distinct attributes of a sentence.
    pub value: f64,
    /// The engines; the first is the likelihood.
    pub engines: Vec<Measurement>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((spread.low, spread.median, spread.high), (1.75, 2.5, 3.25));
        assert_eq!(Spread::of(vec![7.0]).low, 7.0);
    }
}
