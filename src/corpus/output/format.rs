//! Output formats.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputFormat {
    /// The input's columns, with the predicted label as an additional one.
    Conll,
    /// CoNLL-U, with the predicted label in a column or as a key in `MISC`.
    Conllu,
    /// JSON lines: one object per sentence.
    Jsonl,
    /// One sentence per line, with spans in brackets or a tag after each word.
    Inline,
}

impl OutputFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Conll, Self::Conllu, Self::Jsonl, Self::Inline];

    /// The name that [`OutputFormat::from_str`] parses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conll => "conll",
            Self::Conllu => "conllu",
            Self::Jsonl => "jsonl",
            Self::Inline => "inline",
        }
    }
}

impl fmt::Display for OutputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for OutputFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            Error::parameter(format!(
                "unknown output format '{name}': expected conll, conllu, jsonl or inline"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for format in OutputFormat::ALL {
            assert_eq!(format.to_string().parse::<OutputFormat>().unwrap(), format);
        }
        assert_eq!(
            "xml".parse::<OutputFormat>().unwrap_err().to_string(),
            "unknown output format 'xml': expected conll, conllu, jsonl or inline"
        );
    }
}
