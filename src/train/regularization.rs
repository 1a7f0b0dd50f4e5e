//! The penalties and the noise, and how long the warm-up without noise is.

use crate::model::NoiseExposure;
use crate::objective::NoiseOptions;

/// The penalties and the noise term of an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularization {
    /// Strength c1 of the L1 penalty c1·‖θ‖₁.
    pub l1: f64,
    /// Strength c2 of the L2 penalty c2·‖θ‖²; `None` for the default.
    pub l2: Option<f64>,
    /// The noise.
    pub noise: NoiseOptions,
    /// Number of iterations without noise before those with it; `None` for the default.
    pub warm_up: Option<usize>,
}

impl Regularization {
    /// No penalties and no noise.
    pub fn none() -> Self {
        Self { l1: 0.0, l2: Some(0.0), noise: NoiseOptions::none(), warm_up: None }
    }

    /// Describes what regularizes weights that have seen so much noise, such as `dropout 0.3, edges
    /// 0.6, L2 0.1`.
    pub fn describe(&self, noise: Option<&NoiseExposure>) -> String {
        let mut parts = Vec::new();
        if noise.is_some_and(NoiseExposure::is_any) {
            let [node, edge] = [self.noise.dropout, self.noise.edge_noise()];
            parts.push(format!("{} {node}", self.noise.kind));
            if edge != node {
                parts.push(format!("edges {edge}"));
            }
        }
        let penalties = [("L1", self.l1), ("L2", self.l2.unwrap_or(0.0))];
        let penalties = penalties.iter().filter(|(_, strength)| *strength > 0.0);
        parts.extend(penalties.map(|(name, strength)| format!("{name} {strength}")));
        if parts.is_empty() { "no penalty".to_owned() } else { parts.join(", ") }
    }

    /// Returns how much noise the weights of iteration `kept` have seen, if there is noise, given
    /// the number of iterations before it.
    pub fn exposure(&self, kept: usize, warm_up: usize) -> Option<NoiseExposure> {
        let exposure = || NoiseExposure::new(self.noise.kind.to_string(), kept, warm_up);
        self.noise.is_on().then(exposure)
    }

    /// Returns the number of iterations without noise, given the default, which is at most half of
    /// the maximum number of iterations.
    pub fn warm_up_or(&self, default: usize, max_iterations: Option<usize>) -> usize {
        let half = max_iterations.map_or(usize::MAX, |n| n / 2);
        self.warm_up.unwrap_or(default.min(half))
    }
}
