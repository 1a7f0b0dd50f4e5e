//! The input formats, by name and by file name.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// An input format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Raw text, cut into sentences and tokens here.
    Text,
    /// One token per line, in columns; a blank line ends a sentence.
    Conll,
    /// CoNLL-U: ten columns, comments, multiword tokens and empty nodes.
    Conllu,
    /// CRFsuite's ready-made attributes: label and attributes of a token per line.
    Crfsuite,
    /// A JSON object per line.
    Jsonl,
}

impl Format {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Text, "text"),
        (Self::Conll, "conll"),
        (Self::Conllu, "conllu"),
        (Self::Crfsuite, "crfsuite"),
        (Self::Jsonl, "jsonl"),
    ];

    /// The format that a file name tells: `.conllu`, `.crfsuite` and `.jsonl` for these three,
    /// CoNLL for every other name. A last `.gz` is ignored.
    ///
    /// `.txt` means CoNLL too: that is what the files of the shared tasks are called.
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
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(format, _)| format == self);
        f.pad(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL.iter().find(|(_, n)| *n == name);
        found.map(|(format, _)| *format).ok_or_else(|| {
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
    fn names_are_read_as_they_are_shown() {
        for (format, name) in Format::ALL {
            assert_eq!(format.to_string(), name);
            assert_eq!(name.parse::<Format>().unwrap(), format);
        }
        assert_eq!(
            "xml".parse::<Format>().unwrap_err().to_string(),
            "unknown input format 'xml': expected text, conll, conllu, crfsuite or jsonl"
        );
    }

    #[test]
    fn file_names_tell_their_format_and_the_rest_is_conll() {
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
