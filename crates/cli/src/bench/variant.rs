//! The variants of the objective that are compared.

use std::fmt;
use std::str::FromStr;

use dropchain::kernel::noise::Engine;
use dropchain::train::{NoiseKind, NoiseOptions};
use dropchain::{Error, Result};

/// A variant of the objective: the likelihood alone, or with the noise term computed by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The likelihood without noise: the baseline.
    Likelihood,
    /// The quadratic regularizer, with the gradient of an engine.
    Quadratic(Engine),
    /// The weighted L2 penalty that stands for it for a number of iterations.
    Reweighted(usize),
}

impl Variant {
    /// Sets the kind of noise and its gradient.
    pub fn apply(self, noise: &mut NoiseOptions) {
        match self {
            Self::Likelihood => *noise = NoiseOptions::none(),
            Self::Quadratic(engine) => noise.gradient = engine,
            Self::Reweighted(iterations) => noise.kind = NoiseKind::Reweighted(iterations),
        }
    }

    /// Returns the name of the engine, collapsing or not.
    pub fn engine(self) -> String {
        match self {
            Self::Quadratic(Engine::Message { .. }) => "message".to_owned(),
            _ => self.to_string(),
        }
    }

    /// Returns true if attributes that fire once, at the same token, are collapsed (Wang et al.
    /// 2013, section 4.1).
    pub fn is_collapsed(self) -> bool {
        self == Self::Quadratic(Engine::Message { collapse: true })
    }
}

/// The name as an option, or `likelihood`.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Likelihood => f.write_str("likelihood"),
            Self::Quadratic(Engine::Message { collapse: false }) => f.write_str("message=plain"),
            Self::Quadratic(engine) => engine.fmt(f),
            Self::Reweighted(iterations) => NoiseKind::Reweighted(*iterations).fmt(f),
        }
    }
}

/// Parses the name of an engine.
impl FromStr for Variant {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match (name, name.parse(), name.parse()) {
            ("message=plain", ..) => Ok(Self::Quadratic(Engine::Message { collapse: false })),
            (_, Ok(engine), _) => Ok(Self::Quadratic(engine)),
            (_, _, Ok(NoiseKind::Reweighted(iterations))) => Ok(Self::Reweighted(iterations)),
            _ => Err(Error::parameter(
                "expected exact, message, message=plain, reweighted, reweighted=N, local, or \
                 window=R with integers N above 0 and R",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["exact", "message", "message=plain", "window=2", "local", "reweighted=7"] {
            assert_eq!(name.parse::<Variant>().unwrap().to_string(), name);
        }
        assert!("message".parse::<Variant>().unwrap().is_collapsed());
    }

    #[test]
    fn unknown_names_are_rejected() {
        for name in ["", "likelihood", "adjoint", "window", "window=-1", "message=on", "gaussian"] {
            let error = name.parse::<Variant>().unwrap_err().to_string();
            assert!(error.starts_with("expected exact, message, message=plain,"), "{error}");
        }
    }
}
