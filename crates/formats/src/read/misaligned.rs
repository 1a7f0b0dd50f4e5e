//! What to do with spans that cut tokens.

use std::fmt;
use std::str::FromStr;

use dropchain::corpus::Repair;
use dropchain::{Error, Result};

use crate::offset_unit::OffsetUnit;

/// Spans that [`Misaligned::Expand`] extends.
pub(super) const EXPANDED: Repair = Repair {
    one: "span cuts a token",
    many: "spans cut tokens",
    fate: "extended to whole tokens",
};

/// Spans that [`Misaligned::Drop`] leaves out.
pub(super) const DROPPED: Repair = Repair {
    fate: "left out",
    ..EXPANDED
};

/// How spans of characters are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanOptions {
    /// What their offsets count.
    pub offsets: OffsetUnit,
    /// What becomes of those that cut tokens.
    pub misaligned: Misaligned,
}

/// What to do with annotated spans that begin or end inside a token, or are discontinuous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Misaligned {
    /// They are an error, which lists them.
    #[default]
    Error,
    /// They are extended to whole tokens, and counted.
    Expand,
    /// They are left out, and counted.
    Drop,
}

impl Misaligned {
    /// Every choice.
    pub const ALL: [Self; 3] = [Self::Error, Self::Expand, Self::Drop];

    /// The name that [`Misaligned::from_str`] parses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Expand => "expand",
            Self::Drop => "drop",
        }
    }
}

impl fmt::Display for Misaligned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Misaligned {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|choice| choice.name() == name);
        found.ok_or_else(|| {
            Error::parameter(format!(
                "unknown treatment of misaligned spans '{name}': expected error, expand or drop"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for choice in Misaligned::ALL {
            assert_eq!(choice.to_string().parse::<Misaligned>().unwrap(), choice);
        }
        assert!("snap".parse::<Misaligned>().is_err());
    }
}
