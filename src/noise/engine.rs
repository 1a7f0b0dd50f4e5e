//! Selection of the engine by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::adjoint::Adjoint;
use super::message::Message;
use super::regularizer::Regularizer;
use super::window::Window;
use crate::error::Error;

/// The algorithm for the gradient of the quadratic regularizer: the option `gradient`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub enum Engine {
    /// Exact, by scalar messages: [`Adjoint`].
    #[default]
    Exact,
    /// Exact, by the paper's vector messages: [`Message`].
    Message {
        /// Whether attributes that fire once, at the same token, are collapsed into one feature.
        collapse: bool,
    },
    /// Approximate, within a radius in tokens: [`Window`]. Of radius 0, each token is on its own:
    /// `local`.
    Window(usize),
}

impl Engine {
    /// Returns whether the gradient is exactly that of the function being minimized.
    pub fn is_exact(self) -> bool {
        match self {
            Self::Exact | Self::Message { .. } => true,
            Self::Window(_) => false,
        }
    }

    /// Creates what computes R and its gradient.
    pub fn regularizer(self) -> Box<dyn Regularizer> {
        match self {
            Self::Exact => Box::new(Adjoint::default()),
            Self::Message { collapse } => Box::new(Message::new(collapse)),
            Self::Window(radius) => Box::new(Window::new(radius)),
        }
    }
}

/// The name as an option. Collapsing is a separate option.
impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Message { .. } => f.write_str("message"),
            Self::Window(0) => f.write_str("local"),
            Self::Window(radius) => write!(f, "window={radius}"),
        }
    }
}

/// Parses the name as an option; `message` means with collapsing.
impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let error = |expected: &str| Error::parameter(format!("gradient '{name}'; {expected}"));
        match name {
            "exact" => return Ok(Self::Exact),
            "message" => return Ok(Self::Message { collapse: true }),
            "local" => return Ok(Self::Window(0)),
            _ => {}
        }
        let rest = name
            .strip_prefix("window")
            .ok_or_else(|| error("expected exact, message, window=R or local"))?;
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
        for name in ["exact", "message", "window=12", "local"] {
            assert_eq!(name.parse::<Engine>().unwrap().to_string(), name);
        }
        assert_eq!("window=0".parse::<Engine>().unwrap().to_string(), "local");
    }

    #[test]
    fn a_window_without_a_number_is_rejected() {
        for name in ["window", "window=", "window=-1", "window=1.5", "window 3", "windows=3"] {
            let error = name.parse::<Engine>().unwrap_err().to_string();
            let expected = "expected window=R with a whole number R, for example window=2";
            assert_eq!(error, format!("gradient '{name}'; {expected}"));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "approximate".parse::<Engine>().unwrap_err().to_string();
        let expected = "gradient 'approximate'; expected exact, message, window=R or local";
        assert_eq!(error, expected);
    }
}
