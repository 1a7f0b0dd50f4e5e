//! Input formats.

use std::fmt;
use std::str::FromStr;

use super::conll::ConllParser;
use super::conllu::ConlluParser;
use super::crfsuite::CrfsuiteParser;
use super::jsonl::JsonlParser;
use super::parse::{ReadFormat, ReadOptions, SentenceParser};
use super::text::TextParser;
use crate::error::{Error, Result};

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
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] = [
        Self::Text,
        Self::Conll,
        Self::Conllu,
        Self::Crfsuite,
        Self::Jsonl,
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

impl ReadFormat for Format {
    fn parser(&self, options: &ReadOptions) -> Result<Box<dyn SentenceParser>> {
        let options = options.clone();
        Ok(match self {
            Self::Text => Box::new(TextParser::new(&options)),
            Self::Conll => Box::new(ConllParser::new(options)),
            Self::Conllu => Box::new(ConlluParser::new(options)),
            Self::Crfsuite => Box::new(CrfsuiteParser::new(options)?),
            Self::Jsonl => Box::new(JsonlParser::new(options)),
        })
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
                "unknown input format '{name}': expected text, conll, conllu, crfsuite or jsonl"
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
            "unknown input format 'xml': expected text, conll, conllu, crfsuite or jsonl"
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
