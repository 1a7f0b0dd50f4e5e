//! The results of `bench gradients`, as its JSON has them.

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
    /// Random seed of the weights.
    pub seed: u64,
    /// Number of timed repeats.
    pub repeat: usize,
    /// Number of threads.
    pub threads: usize,
    /// The engines.
    pub engines: Vec<Measurement>,
    /// The errors of the gradient within a window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorRow>,
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

/// The measurements of an engine of the noise term, alone or with attributes collapsed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// Whether the engine collapses attributes.
    pub collapsed: bool,
    /// Seconds per evaluation of value and gradient: the median over all repeats.
    pub seconds: f64,
    /// The quartiles of the seconds.
    pub seconds_quartiles: (f64, f64),
    /// Multiply-adds of an evaluation, by the formulas of the documentation.
    pub multiply_adds: f64,
    /// `seconds` divided by that of the likelihood.
    pub ratio_to_likelihood: f64,
    /// Comparison with the exact gradient; absent for the likelihood, and if the exact gradient is
    /// lost in rounding errors.
    #[serde(flatten)]
    pub deviation: Option<Deviation<f64>>,
    /// q/T of Wang et al. 2013: distinct attributes of a sentence per token, averaged over tokens;
    /// after collapsing if `collapsed`, otherwise before.
    pub active_per_token: f64,
    /// Peak memory of an evaluation in bytes, if it was measured.
    pub peak_bytes: Option<u64>,
}

/// How far a gradient is from the exact one: a number, or its spread over sentences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deviation<T> {
    /// ‖g − g*‖ / ‖g*‖ of the gradient g of the noise term alone, where g* is the exact one.
    pub relative_error: T,
    /// ‖g − g*‖ / ‖∇J*‖: the error relative to the whole gradient, of likelihood and noise term.
    pub relative_error_whole: T,
    /// Cosine of the angle between g and g*.
    pub cosine: T,
    /// Cosine of the angle between the whole gradients.
    pub cosine_whole: T,
}

/// The error of the gradient within a window, over sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorRow {
    /// The radius r.
    pub radius: usize,
    /// Number of sentences.
    pub sentences: usize,
    /// Comparison with the exact gradient.
    #[serde(flatten)]
    pub deviation: Deviation<Spread>,
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
    /// Returns the median and the quartiles of values, between which it interpolates linearly;
    /// `None` without any.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let quantile = |share: f64| {
            let place = share * last as f64;
            let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        Some(Self { median: quantile(0.5), low: quantile(0.25), high: quantile(0.75) })
    }

    /// Returns the spread of multiples of the values.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { median: factor * self.median, low: factor * self.low, high: factor * self.high }
    }
}

/// The varied quantity, and the cost of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// `window`, `labels`, `length` or `attributes`.
    pub axis: String,
    /// Generator of the sentences.
    pub construction: String,
    /// The measurements.
    pub rows: Vec<SweepRow>,
    /// Fitted growth of the cost.
    pub exponents: Vec<Exponent>,
}

/// The cost of an engine at one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// The radius, number of labels, of tokens or of distinct attributes; `None` of an engine that
    /// does not depend on it.
    pub value: Option<f64>,
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// Whether the engine collapses attributes.
    pub collapsed: bool,
    /// Number of sentences that were evaluated.
    pub sentences: usize,
    /// Seconds per sentence for value and gradient of likelihood and noise term.
    pub seconds: Spread,
    /// Seconds per sentence beyond those of the likelihood in the same repeat; of the likelihood,
    /// its own.
    pub part_seconds: Spread,
    /// Multiply-adds per sentence, by the formulas of the documentation.
    pub multiply_adds: f64,
    /// Multiply-adds per sentence beyond those of the likelihood; of the likelihood, its own.
    pub part_multiply_adds: f64,
    /// Distinct attributes of a sentence per token, after collapsing if `collapsed`.
    pub active_per_token: f64,
    /// Peak memory of an evaluation of one of the sentences in bytes, if it was measured.
    pub peak_bytes: Option<u64>,
}

/// The slope of the cost on logarithmic axes, of the part that an engine adds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exponent {
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// Whether the engine collapses attributes.
    pub collapsed: bool,
    /// Fitted to seconds.
    pub seconds: f64,
    /// Fitted to multiply-adds.
    pub multiply_adds: f64,
    /// Asymptotic exponent of the theory, without terms linear in attributes and labels.
    pub theory: f64,
}

/// Returns the display name of an engine.
pub fn display_name(engine: &str, collapsed: bool) -> String {
    match engine {
        "message" if collapsed => "message, collapsed".to_owned(),
        "message" => "message, plain".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high), (1.75, 2.5, 3.25));
        assert_eq!(Spread::of(vec![7.0]).map(|s| s.low), Some(7.0));
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
