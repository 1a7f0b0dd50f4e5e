//! The noise of the objective: its kind, its amounts, its gradient, and the weights of sentences.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, check_not_negative};
use crate::noise::Engine;
use crate::score::FeatureBlock;

/// Maximum number of samples per sentence. The error falls with the square root of the number while
/// the time is proportional to it: more is a typo.
const MAX_SAMPLES: u32 = 1000;

/// Kind of feature noise (Wang et al. 2013, section 2), and the term that stands for it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum NoiseKind {
    /// Each feature is dropped at rate δ and otherwise scaled by 1/(1−δ), with the quadratic
    /// regularizer R of eq. 14: ρ = δ/(1−δ).
    #[default]
    Dropout,
    /// Each feature is multiplied by 1 + ε, ε ~ N(0, σ²), in R: ρ = σ².
    Gaussian,
    /// ε ~ N(0, σ²) is added to every feature, active or not, in R.
    Additive,
    /// Dropout in R with marginals that are held fixed for this number of iterations, at least 1: a
    /// weighted L2 penalty meanwhile.
    Reweighted(usize),
    /// Dropout by sampling, in the quantity that R approximates, with this number of samples per
    /// sentence and iteration, 1 to 1000.
    MonteCarlo(u32),
}

/// The name as an option.
impl fmt::Display for NoiseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropout => f.write_str("dropout"),
            Self::Gaussian => f.write_str("gaussian"),
            Self::Additive => f.write_str("additive"),
            Self::Reweighted(Self::ROUND) => f.write_str("reweighted"),
            Self::Reweighted(iterations) => write!(f, "reweighted={iterations}"),
            Self::MonteCarlo(Self::SAMPLES) => f.write_str("monte-carlo"),
            Self::MonteCarlo(samples) => write!(f, "monte-carlo={samples}"),
        }
    }
}

impl FromStr for NoiseKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let (kind, expected) = match (name, name.split_once('=')) {
            ("dropout", _) => return Ok(Self::Dropout),
            ("gaussian", _) => return Ok(Self::Gaussian),
            ("additive", _) => return Ok(Self::Additive),
            ("reweighted", _) => return Ok(Self::Reweighted(Self::ROUND)),
            ("monte-carlo", _) => return Ok(Self::MonteCarlo(Self::SAMPLES)),
            (_, Some(("reweighted", number))) => (
                number.parse().ok().filter(|&n| n > 0).map(Self::Reweighted),
                "reweighted=N with a whole number N above 0, for example reweighted=20".to_owned(),
            ),
            (_, Some(("monte-carlo", number))) => (
                number.parse().ok().filter(|n| (1..=MAX_SAMPLES).contains(n)).map(Self::MonteCarlo),
                format!("monte-carlo=SAMPLES, 1 to {MAX_SAMPLES}"),
            ),
            _ => (None, "dropout, gaussian, additive, reweighted or monte-carlo".to_owned()),
        };
        kind.ok_or_else(|| Error::parameter(format!("noise '{name}'; expected {expected}")))
    }
}

impl NoiseKind {
    /// The default number of iterations for which reweighted noise holds the marginals fixed.
    pub const ROUND: usize = 20;

    /// The default number of Monte-Carlo samples per sentence.
    pub const SAMPLES: u32 = 4;

    /// Returns whether dropout is sampled.
    pub fn is_sampled(self) -> bool {
        matches!(self, Self::MonteCarlo(_))
    }

    /// Returns whether the noise term is the same function in all iterations.
    pub fn is_fixed(self) -> bool {
        !matches!(self, Self::Reweighted(_) | Self::MonteCarlo(_))
    }

    /// Returns whether amounts are variances, not rates below 1.
    fn has_variances(self) -> bool {
        matches!(self, Self::Gaussian | Self::Additive)
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

/// The noise term λ·( Σ_labeled R(x) + α Σ_unlabeled R(u) ), λ = n/(n + αm) (eq. 11), with the
/// quadratic approximation R of eq. 14, or another term.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
            dropout: Self::DROPOUT,
            edge_dropout: None,
            gradient: Engine::Exact,
            unlabeled_weight: 0.02,
        }
    }
}

impl NoiseOptions {
    /// The default rate of dropout.
    pub const DROPOUT: f64 = 0.3;

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

    /// Returns the rate or variance for transitions, boundary weights and edge attributes.
    pub fn edge_noise(&self) -> f64 {
        self.edge_dropout.unwrap_or(self.dropout)
    }

    /// Returns whether the gradient is that of the function being minimized.
    pub fn has_exact_gradient(&self) -> bool {
        !self.is_on() || self.gradient.is_exact()
    }

    /// Returns whether every attribute has noise at every token, active or not.
    pub fn is_additive(&self) -> bool {
        self.kind == NoiseKind::Additive
    }

    /// Returns the amounts of noise on node attributes and on all other features.
    pub fn amounts(&self) -> [f64; 2] {
        [self.dropout, self.edge_noise()]
    }

    /// Returns ρ (σ² for additive noise) of node attributes, and of all other features.
    pub fn rates(&self) -> [f64; 2] {
        self.amounts().map(|amount| match self.kind.has_variances() {
            true => amount,
            false => amount / (1.0 - amount),
        })
    }

    /// Returns the factors λ = n/(n + αm) and αλ of the terms of a labeled and of an unlabeled
    /// sentence (eq. 11), given the total weights n of labeled and m of unlabeled sentences: their
    /// numbers, if all weigh 1. If n is 0, so is λ.
    pub fn factors(&self, [n, m]: [f64; 2]) -> [f64; 2] {
        let alpha = self.unlabeled_weight;
        let labeled = if n > 0.0 { n / (n + alpha * m) } else { 0.0 };
        [labeled, alpha * labeled]
    }

    /// Checks that amounts are in their ranges, and that the noise has such a gradient.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that does not fit.
    pub fn check(&self) -> Result<()> {
        let edge_dropout = self.edge_dropout.unwrap_or(0.0);
        let (range, limit) = match self.kind.has_variances() {
            true => ("a variance: a finite number that is not negative", f64::INFINITY),
            false => ("a rate of at least 0 and below 1", 1.0),
        };
        for (name, amount) in [("dropout", self.dropout), ("edge dropout", edge_dropout)] {
            if !(0.0..limit).contains(&amount) {
                return Err(Error::parameter(format!("{name} {amount}; expected {range}")));
            }
        }
        check_not_negative("unlabeled weight", self.unlabeled_weight)?;
        let is_quadratic = self.kind == NoiseKind::Dropout || self.kind.has_variances();
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

/// The noise of a pass over sentences.
#[derive(Clone, Debug)]
pub(super) struct SentenceNoise {
    pub options: NoiseOptions,
    /// Whether each class of node and of edge attributes is free of additive noise; empty: none
    /// is.
    pub is_fixed: [Vec<bool>; 2],
}

impl SentenceNoise {
    /// Returns the columns of a block of node (0) or of edge attributes (1) that additive noise is
    /// on.
    pub fn columns(&self, kind: usize, block: &FeatureBlock) -> impl Iterator<Item = usize> {
        let is_fixed = &self.is_fixed[kind];
        (0..block.columns()).filter(|&column| is_fixed.get(column) != Some(&true))
    }
}
