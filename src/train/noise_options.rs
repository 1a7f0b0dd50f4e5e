//! Which noise training minimizes, how much of it, and how its gradient is computed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::defaults::Defaults;
use crate::error::{Error, Result};
use crate::model::NoiseExposure;
use crate::noise::Engine;
use crate::objective::{Noise, NoiseDistribution, NoiseTerm, ROUND};

/// Maximum number of samples per sentence. The error falls with the square root of the number while
/// the time is proportional to it: more is a typo.
const MAX_SAMPLES: u32 = 1000;

/// Kind of feature noise.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum NoiseKind {
    /// Quadratic approximation of dropout: [`NoiseDistribution::Dropout`].
    #[default]
    Dropout,
    /// Quadratic approximation of multiplicative noise: [`NoiseDistribution::Gaussian`].
    Gaussian,
    /// Quadratic approximation of additive noise: [`NoiseDistribution::Additive`].
    Additive,
    /// Dropout as a weighted L2 penalty, whose strengths are recomputed every so many iterations:
    /// [`NoiseTerm::Reweighted`].
    Reweighted(usize),
    /// Sampled dropout, with so many samples of a sentence per iteration, 1 to 1000:
    /// [`NoiseTerm::MonteCarlo`].
    MonteCarlo(u32),
}

/// The name as an option.
impl fmt::Display for NoiseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropout => f.write_str("dropout"),
            Self::Gaussian => f.write_str("gaussian"),
            Self::Additive => f.write_str("additive"),
            Self::Reweighted(ROUND) => f.write_str("reweighted"),
            Self::Reweighted(iterations) => write!(f, "reweighted={iterations}"),
            Self::MonteCarlo(Defaults::SAMPLES) => f.write_str("monte-carlo"),
            Self::MonteCarlo(samples) => write!(f, "monte-carlo={samples}"),
        }
    }
}

impl FromStr for NoiseKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "dropout" => Self::Dropout,
            "gaussian" => Self::Gaussian,
            "additive" => Self::Additive,
            "reweighted" => Self::Reweighted(ROUND),
            "monte-carlo" => Self::MonteCarlo(Defaults::SAMPLES),
            _ => return Self::with_number(name),
        })
    }
}

impl NoiseKind {
    /// Parses `reweighted=N` and `monte-carlo=SAMPLES`.
    fn with_number(name: &str) -> Result<Self> {
        let (kind, expected) = match name.split_once('=') {
            Some(("reweighted", number)) => (
                number.parse().ok().filter(|&n| n > 0).map(Self::Reweighted),
                "reweighted=N with a whole number N above 0, for example reweighted=20".to_owned(),
            ),
            Some(("monte-carlo", number)) => (
                number.parse().ok().filter(|n| (1..=MAX_SAMPLES).contains(n)).map(Self::MonteCarlo),
                format!("monte-carlo=SAMPLES, 1 to {MAX_SAMPLES}"),
            ),
            _ => (None, "dropout, gaussian, additive, reweighted or monte-carlo".to_owned()),
        };
        kind.ok_or_else(|| Error::parameter(format!("noise '{name}'; expected {expected}")))
    }

    /// Returns whether dropout is sampled.
    pub fn is_sampled(self) -> bool {
        matches!(self, Self::MonteCarlo(_))
    }
}

impl TryFrom<String> for NoiseKind {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<NoiseKind> for String {
    fn from(kind: NoiseKind) -> Self {
        kind.to_string()
    }
}

/// The noise term of the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseOptions {
    /// Kind of feature noise.
    #[serde(rename = "noise")]
    pub kind: NoiseKind,
    /// Amount of noise: the dropout rate δ, or the variance σ² of Gaussian noise; 0 is no noise.
    pub dropout: f64,
    /// Amount of noise on transitions, boundary weights and edge attributes. `None`: that of
    /// `dropout`.
    pub edge_dropout: Option<f64>,
    /// How the gradient of the quadratic regularizer is computed. Other kinds have one gradient and
    /// require the default.
    pub gradient: Engine,
    /// Weight α of an unlabeled sentence in the noise term.
    pub unlabeled_weight: f64,
}

impl Default for NoiseOptions {
    fn default() -> Self {
        Self {
            kind: NoiseKind::Dropout,
            dropout: Defaults::DROPOUT,
            edge_dropout: None,
            gradient: Engine::Exact,
            unlabeled_weight: Defaults::UNLABELED_WEIGHT,
        }
    }
}

impl NoiseOptions {
    /// No noise.
    pub fn none() -> Self {
        Self::dropout(0.0)
    }

    /// Dropout of this rate.
    pub fn dropout(rate: f64) -> Self {
        Self { dropout: rate, ..Self::default() }
    }

    /// Returns whether there is any noise.
    pub fn is_on(&self) -> bool {
        self.dropout > 0.0 || self.edge_noise() > 0.0
    }

    /// Returns whether amounts are rates below 1, not variances.
    fn has_rates(&self) -> bool {
        !matches!(self.kind, NoiseKind::Gaussian | NoiseKind::Additive)
    }

    /// Returns the rate or variance for transitions, boundary weights and edge attributes.
    pub fn edge_noise(&self) -> f64 {
        self.edge_dropout.unwrap_or(self.dropout)
    }

    /// Returns whether the gradient is that of the function being minimized.
    pub fn has_exact_gradient(&self) -> bool {
        !self.is_on() || self.gradient.is_exact()
    }

    /// Returns how much noise the weights of iteration `kept` have seen, if there is noise, given
    /// the number of iterations before it.
    pub fn exposure(&self, kept: usize, warm_up: usize) -> Option<NoiseExposure> {
        let exposure = || NoiseExposure::new(self.kind.to_string(), kept, warm_up);
        self.is_on().then(exposure)
    }

    /// Returns the noise term, if there is noise. Sampled noise is drawn from `seed`.
    pub fn feature_noise(&self, seed: u64) -> Option<Noise> {
        let quadratic = NoiseTerm::Quadratic(self.gradient);
        let (distribution, term) = match self.kind {
            NoiseKind::Dropout => (NoiseDistribution::Dropout, quadratic),
            NoiseKind::Gaussian => (NoiseDistribution::Gaussian, quadratic),
            NoiseKind::Additive => (NoiseDistribution::Additive, quadratic),
            NoiseKind::Reweighted(iterations) => {
                (NoiseDistribution::Dropout, NoiseTerm::Reweighted(iterations))
            }
            NoiseKind::MonteCarlo(samples) => {
                (NoiseDistribution::Dropout, NoiseTerm::MonteCarlo { samples, seed })
            }
        };
        self.is_on().then(|| Noise {
            distribution,
            node: self.dropout,
            edge: self.edge_noise(),
            term,
            unlabeled_weight: self.unlabeled_weight,
        })
    }

    /// Checks that amounts are in their ranges, and that the noise has such a gradient.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that does not fit.
    pub fn check(&self) -> Result<()> {
        let edge_dropout = self.edge_dropout.unwrap_or(0.0);
        for (name, amount) in [("dropout", self.dropout), ("edge dropout", edge_dropout)] {
            let (range, is_valid) = match self.has_rates() {
                true => ("a rate of at least 0 and below 1", amount < 1.0),
                false => {
                    let range = "a variance: a finite number that is not negative";
                    (range, amount.is_finite())
                }
            };
            if !is_valid || amount.is_nan() || amount < 0.0 {
                return Err(Error::parameter(format!("{name} {amount}; expected {range}")));
            }
        }
        check_not_negative("unlabeled weight", self.unlabeled_weight)?;
        let is_quadratic =
            matches!(self.kind, NoiseKind::Dropout | NoiseKind::Gaussian | NoiseKind::Additive);
        if !is_quadratic && self.gradient != Engine::Exact {
            return Err(Error::parameter(format!(
                "gradient '{}' with {} noise; expected `gradient` exact, since this noise has \
                 only one gradient",
                self.gradient, self.kind
            )));
        }
        Ok(())
    }
}

/// The penalties and the noise term of an objective.
#[derive(Clone, Debug, PartialEq)]
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
        match parts.is_empty() {
            true => "no penalty".to_owned(),
            false => parts.join(", "),
        }
    }

    /// Returns the number of iterations without noise, given the default, which is at most half of
    /// the maximum number of iterations.
    pub fn warm_up_or(&self, default: usize, max_iterations: Option<usize>) -> usize {
        let half = max_iterations.map_or(usize::MAX, |n| n / 2);
        self.warm_up.unwrap_or(default.min(half))
    }
}

/// Checks a number.
///
/// # Errors
///
/// [`Error::Parameter`] if it is negative or not finite.
pub fn check_not_negative(name: &str, value: f64) -> Result<()> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} {value}; expected a finite number that is not negative")))
}

/// Checks a number that may be missing.
///
/// # Errors
///
/// [`Error::Parameter`] if it is not finite.
pub(super) fn check_finite(name: &str, value: Option<f64>) -> Result<()> {
    match value.filter(|value| !value.is_finite()) {
        Some(value) => Err(Error::parameter(format!("{name} {value}; expected a finite number"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(change: impl FnOnce(&mut NoiseOptions)) -> String {
        let mut options = NoiseOptions::default();
        change(&mut options);
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn names_round_trip() {
        let kinds = ["dropout", "gaussian", "additive", "reweighted", "reweighted=7"];
        for name in kinds.into_iter().chain(["monte-carlo", "monte-carlo=2"]) {
            assert_eq!(name.parse::<NoiseKind>().unwrap().to_string(), name);
        }
        for name in ["reweighted=", "reweighted=0", "reweighted=-3"] {
            let error = name.parse::<NoiseKind>().unwrap_err().to_string();
            assert!(error.contains("expected reweighted=N"), "{error}");
        }
        for name in ["monte-carlo=", "monte-carlo=0", "monte-carlo=1001", "monte-carlo=x"] {
            let error = name.parse::<NoiseKind>().unwrap_err().to_string();
            assert!(error.contains("expected monte-carlo=SAMPLES, 1 to 1000"), "{error}");
        }
        assert_eq!(
            "reweighted7".parse::<NoiseKind>().unwrap_err().to_string(),
            "noise 'reweighted7'; expected dropout, gaussian, additive, reweighted or \
             monte-carlo"
        );
    }

    #[test]
    fn edges_have_the_noise_of_nodes_unless_they_are_given_their_own() {
        assert_eq!(NoiseOptions::dropout(0.25).edge_noise(), 0.25);
        let given = NoiseOptions { edge_dropout: Some(0.1), ..NoiseOptions::default() };
        assert_eq!(given.edge_noise(), 0.1);
    }

    #[test]
    fn a_dropout_rate_is_below_1_and_a_variance_is_finite() {
        let expected = "expected a rate of at least 0 and below 1";
        assert_eq!(error(|o| o.dropout = 1.0), format!("dropout 1; {expected}"));
        assert_eq!(
            error(|o| o.edge_dropout = Some(-0.5)),
            format!("edge dropout -0.5; {expected}")
        );
        assert_eq!(
            error(|o| (o.kind, o.dropout) = (NoiseKind::Additive, f64::INFINITY)),
            "dropout inf; expected a variance: a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.unlabeled_weight = -0.1),
            "unlabeled weight -0.1; expected a finite number that is not negative"
        );
        assert_eq!(
            error(|o| (o.kind, o.dropout) = (NoiseKind::MonteCarlo(4), 1.0)),
            format!("dropout 1; {expected}")
        );
    }

    #[test]
    fn noise_that_is_not_quadratic_has_one_gradient() {
        for kind in [NoiseKind::MonteCarlo(4), NoiseKind::Reweighted(3)] {
            let expected = format!(
                "gradient 'local' with {kind} noise; expected `gradient` exact, since this noise \
                 has only one gradient"
            );
            assert_eq!(error(|o| (o.kind, o.gradient) = (kind, Engine::Local)), expected);
        }
    }
}
