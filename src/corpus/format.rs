//! Input formats.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// An input format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Raw text, which the reader splits into sentences and tokens.
    Text,
    /// One token per line, in columns; a blank line ends a sentence.
    Conll,
    /// CoNLL-U: ten columns, comments, multiword tokens and empty nodes.
    Conllu,
    /// CRFsuite's format: one token per line, its label followed by pre-extracted attributes.
    Crfsuite,
    /// JSON lines: one object per line.
    Jsonl,
    /// JSON with texts and spans of characters, as Prodigy, doccano and Label Studio write it.
    Spans,
    /// BRAT's standoff format: a text `NAME.txt`, its annotations in `NAME.ann`; or a folder of
    /// them.
    Brat,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 7] = [
        Self::Text,
        Self::Conll,
        Self::Conllu,
        Self::Crfsuite,
        Self::Jsonl,
        Self::Spans,
        Self::Brat,
    ];

    /// The name that [`Format::from_str`] parses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Conll => "conll",
            Self::Conllu => "conllu",
            Self::Crfsuite => "crfsuite",
            Self::Jsonl => "jsonl",
            Self::Spans => "spans",
            Self::Brat => "brat",
        }
    }

    /// The memory that a byte of input takes at most once parsed, in bytes: many short cells,
    /// tokens or attributes need more than their text, and growing vectors twice of that.
    pub(super) const fn memory_per_byte(self) -> u64 {
        match self {
            Self::Text => 60,
            Self::Conll | Self::Conllu => 6,
            Self::Crfsuite => 14,
            Self::Jsonl => 30,
            Self::Spans | Self::Brat => 120,
        }
    }

    /// Guesses the format from a file name: its extension `.conllu`, `.crfsuite` or `.jsonl`, and
    /// CoNLL for any other name. A final `.gz` is ignored.
    ///
    /// `.txt` means CoNLL too, as in the files of the CoNLL shared tasks.
    #[must_use]
    pub fn guess(source: &str) -> Self {
        let name = source.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, suffix)| suffix) {
            Some("conllu") => Self::Conllu,
            Some("crfsuite") => Self::Crfsuite,
            Some("jsonl") => Self::Jsonl,
            _ => Self::Conll,
        }
    }

    /// Guesses the format of a file whose labels do not matter: like [`guess`](Self::guess), but
    /// `.txt` and standard input (`-`) are raw text.
    #[must_use]
    pub fn guess_unlabeled(source: &str) -> Self {
        let name = source.to_ascii_lowercase();
        match name.strip_suffix(".gz").unwrap_or(&name) {
            name if name.ends_with(".txt") || name == "-" => Self::Text,
            _ => Self::guess(source),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            Error::parameter(format!(
                "unknown input format '{name}': expected text, conll, conllu, crfsuite, jsonl, \
                 spans or brat"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert_eq!(
            "xml".parse::<Format>().unwrap_err().to_string(),
            "unknown input format 'xml': expected text, conll, conllu, crfsuite, jsonl, spans or \
             brat"
        );
    }

    #[test]
    fn the_extension_selects_the_format_and_the_default_is_conll() {
        assert_eq!(Format::guess("a/en.CONLLU"), Format::Conllu);
        assert_eq!(Format::guess("x.conllu.gz"), Format::Conllu);
        assert_eq!(Format::guess("x.jsonl"), Format::Jsonl);
        assert_eq!(Format::guess("x.crfsuite.gz"), Format::Crfsuite);
        for name in [
            "train.txt",
            "a.conll",
            "a.bio",
            "a.tsv",
            "esp.train",
            "-",
            ".gz",
        ] {
            assert_eq!(Format::guess(name), Format::Conll, "{name}");
        }
    }
}
