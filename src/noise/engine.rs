//! Selection of the engine by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::adjoint::Adjoint;
use super::direct::Direct;
use super::gaussian::{Expectation, Gaussian};
use super::message::Message;
use super::regularizer::Regularizer;
use super::window::Window;
use crate::error::Error;

/// The noise term of a sentence and the algorithm for its gradient: `--gradient` on the command
/// line. All but the last are algorithms for the quadratic regularizer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Engine {
    /// Exact, by scalar messages: [`Adjoint`].
    #[default]
    Adjoint,
    /// Exact, by the paper's vector messages: [`Message`].
    Message {
        /// Whether attributes that fire once, at the same token, are collapsed into one feature.
        collapse: bool,
    },
    /// Approximate, within a radius in tokens: [`Window`].
    Window(usize),
    /// Approximate, each token on its own: [`Window`] of radius 0.
    Local,
    /// The marginals are held fixed for this number of iterations, at least 1: R is a weighted L2
    /// penalty meanwhile, whose strengths come from [`Direct`].
    Reweighted(usize),
    /// Not the quadratic regularizer but the expectation over Gaussian scores that it approximates,
    /// at order 0: [`Gaussian`].
    Gaussian(Expectation),
}

/// The default number of iterations for which [`Engine::Reweighted`] holds the marginals fixed.
pub const ROUND: usize = 20;

impl Engine {
    /// Creates the engine.
    #[must_use]
    pub fn regularizer(self) -> Box<dyn Regularizer> {
        match self {
            Self::Adjoint => Box::new(Adjoint::default()),
            Self::Message { collapse } => Box::new(Message::new(collapse)),
            Self::Window(radius) => Box::new(Window::new(radius)),
            Self::Local => Box::new(Window::new(0)),
            Self::Reweighted(_) => Box::new(Direct::default()),
            Self::Gaussian(expectation) => Box::new(Gaussian::new(expectation)),
        }
    }

    /// Returns whether the gradient is exactly that of the function being minimized: eq. 14,
    /// eq. 14 with fixed marginals, or the expectation over Gaussian scores.
    #[must_use]
    pub fn is_exact(self) -> bool {
        match self {
            Self::Adjoint | Self::Message { .. } | Self::Reweighted(_) | Self::Gaussian(_) => true,
            Self::Window(_) | Self::Local => false,
        }
    }

    /// Returns the number of iterations for which the marginals are held fixed, if they are.
    #[must_use]
    pub fn round(self) -> Option<usize> {
        match self {
            Self::Reweighted(iterations) => Some(iterations),
            _ => None,
        }
    }

    /// Returns how the expectation over Gaussian scores is computed, if the noise term is that.
    #[must_use]
    pub fn expectation(self) -> Option<Expectation> {
        match self {
            Self::Gaussian(expectation) => Some(expectation),
            _ => None,
        }
    }
}

/// The command-line name. Collapsing is a separate option.
impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adjoint => f.write_str("exact"),
            Self::Message { .. } => f.write_str("message"),
            Self::Window(radius) => write!(f, "window={radius}"),
            Self::Local => f.write_str("local"),
            Self::Reweighted(iterations) => write!(f, "reweighted={iterations}"),
            Self::Gaussian(Expectation::Best) => f.write_str("gaussian"),
            Self::Gaussian(Expectation::Unscented) => f.write_str("unscented"),
        }
    }
}

/// Parses the command-line name; `message` means with collapsing.
impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let error = |expected: &str| Error::parameter(format!("gradient '{name}'; {expected}"));
        match name {
            "exact" => return Ok(Self::Adjoint),
            "message" => return Ok(Self::Message { collapse: true }),
            "local" => return Ok(Self::Local),
            "reweighted" => return Ok(Self::Reweighted(ROUND)),
            "gaussian" => return Ok(Self::Gaussian(Expectation::Best)),
            "unscented" => return Ok(Self::Gaussian(Expectation::Unscented)),
            _ => {}
        }
        if let Some(rest) = name.strip_prefix("reweighted") {
            let iterations = rest.strip_prefix('=').and_then(|n| n.parse().ok());
            return (iterations.filter(|&n| n > 0).map(Self::Reweighted)).ok_or_else(|| {
                error(
                    "expected reweighted=N with a whole number N above 0, for example \
                     reweighted=20",
                )
            });
        }
        let rest = name.strip_prefix("window").ok_or_else(|| {
            error("expected exact, reweighted, gaussian, unscented, message, window=R or local")
        })?;
        let radius = rest.strip_prefix('=').and_then(|r| r.parse().ok());
        (radius.map(Self::Window))
            .ok_or_else(|| error("expected window=R with a whole number R, for example window=2"))
    }
}

impl TryFrom<String> for Engine {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        name.parse()
    }
}

impl From<Engine> for String {
    fn from(engine: Engine) -> Self {
        engine.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in [
            "exact",
            "message",
            "window=0",
            "window=12",
            "local",
            "reweighted=7",
            "gaussian",
            "unscented",
        ] {
            assert_eq!(name.parse::<Engine>().unwrap().to_string(), name);
        }
        let default = "reweighted".parse::<Engine>().unwrap();
        assert_eq!(default.to_string(), "reweighted=20");
    }

    #[test]
    fn a_window_without_a_number_is_rejected() {
        for name in [
            "window",
            "window=",
            "window=-1",
            "window=1.5",
            "window 3",
            "windows=3",
        ] {
            let error = name.parse::<Engine>().unwrap_err().to_string();
            let expected = "expected window=R with a whole number R, for example window=2";
            assert_eq!(error, format!("gradient '{name}'; {expected}"));
        }
    }

    #[test]
    fn reweighting_takes_a_number_above_0() {
        for name in [
            "reweighted=",
            "reweighted=0",
            "reweighted=-3",
            "reweighted7",
        ] {
            let error = name.parse::<Engine>().unwrap_err().to_string();
            let expected = "expected reweighted=N with a whole number N above 0, for example \
                            reweighted=20";
            assert_eq!(error, format!("gradient '{name}'; {expected}"));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "adjoint".parse::<Engine>().unwrap_err().to_string();
        let expected = "gradient 'adjoint'; expected exact, reweighted, gaussian, unscented, \
                        message, window=R or local";
        assert_eq!(error, expected);
    }
}
