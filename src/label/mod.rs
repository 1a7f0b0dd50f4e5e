//! Labels: the spans that a label sequence writes, and the schemes it may write them in.
//!
//! Spans are the common currency: [`spans`] reads any label sequence as conlleval does, whatever
//! its scheme and however broken; [`encode`] writes spans in a scheme; [`convert`] is the one
//! after the other. [`detect`] asks the reverse question, and [`SchemeConstraint`] says which labels may
//! follow each other.

mod chunk;
mod detect;
mod encode;
mod scheme_constraint;
mod set;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

pub(crate) use chunk::ChunkLabel;
pub use chunk::{Span, spans};
pub use detect::{SchemeDetector, detect};
pub use encode::{convert, encode};
pub use scheme_constraint::SchemeConstraint;
pub use set::LabelSet;

/// How a label sequence writes spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Labels without structure (parts of speech): no spans.
    Raw,
    /// `I-X` inside a span of type X, `O` outside; adjacent spans of one type merge.
    Io,
    /// As IO, with `B-X` only where a span follows another of its own type.
    Iob1,
    /// `B-X` first in a span, `I-X` in the rest of it.
    Iob2,
    /// As IOB2, with `E-X` last in a span and `S-X` for a span of one token.
    Bioes,
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 5] = [Self::Raw, Self::Io, Self::Iob1, Self::Iob2, Self::Bioes];

    /// The name that [`Scheme::from_str`] reads.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Io => "io",
            Self::Iob1 => "iob1",
            Self::Iob2 => "iob2",
            Self::Bioes => "bioes",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Scheme {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::Parameter`] when `name` is none of `raw`, `io`, `iob1`, `iob2`, `bioes`.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|scheme| scheme.name() == name)
            .ok_or_else(|| {
                Error::parameter(format!(
                    "'{name}' is no label scheme: expected raw, io, iob1, iob2 or bioes"
                ))
            })
    }
}
