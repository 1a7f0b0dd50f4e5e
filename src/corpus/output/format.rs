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
    /// One sentence per line, with the label after each word and a slash, as Stanford's taggers
    /// write them.
    SlashTags,
    /// One text per line, with spans as XML elements, as Stanford NER writes them.
    InlineXml,
    /// A page with highlighted spans.
    Html,
    /// JSON lines for spaCy's displaCy: one object per text.
    Displacy,
    /// Spans of characters as JSON lines, as Prodigy has them: one object per text.
    Spans,
    /// Spans of characters as JSON lines, as doccano has them: one object per text.
    Doccano,
    /// Tasks with predictions for Label Studio: a JSON array with an item per text.
    LabelStudio,
    /// BRAT's standoff annotations.
    Brat,
}

impl OutputFormat {
    /// Every format.
    pub const ALL: [Self; 12] = [
        Self::Conll,
        Self::Conllu,
        Self::Jsonl,
        Self::Inline,
        Self::SlashTags,
        Self::InlineXml,
        Self::Html,
        Self::Displacy,
        Self::Spans,
        Self::Doccano,
        Self::LabelStudio,
        Self::Brat,
    ];

    /// The name that [`OutputFormat::from_str`] parses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conll => "conll",
            Self::Conllu => "conllu",
            Self::Jsonl => "jsonl",
            Self::Inline => "inline",
            Self::SlashTags => "slash-tags",
            Self::InlineXml => "inline-xml",
            Self::Html => "html",
            Self::Displacy => "displacy",
            Self::Spans => "spans",
            Self::Doccano => "doccano",
            Self::LabelStudio => "label-studio",
            Self::Brat => "brat",
        }
    }

    /// Returns whether the format has texts rather than sentences: lines of raw text, or the `text`
    /// of JSON objects. A [`Writer`](super::Writer) then writes a text once its last sentence has
    /// been written, so all sentences have to pass through one writer, in order.
    #[must_use]
    pub const fn has_texts(self) -> bool {
        match self {
            Self::Conll | Self::Conllu | Self::Jsonl | Self::Inline | Self::SlashTags => false,
            Self::InlineXml
            | Self::Html
            | Self::Displacy
            | Self::Spans
            | Self::Doccano
            | Self::LabelStudio
            | Self::Brat => true,
        }
    }

    /// Returns whether the format shows several label sequences ([`Tagged::nbest`]).
    ///
    /// [`Tagged::nbest`]: super::Tagged::nbest
    #[must_use]
    pub const fn has_candidates(self) -> bool {
        matches!(
            self,
            Self::Conll | Self::Conllu | Self::Jsonl | Self::Inline
        )
    }

    /// Returns whether the format has the probabilities of marks
    /// ([`Tagged::mark_probabilities`]).
    ///
    /// [`Tagged::mark_probabilities`]: super::Tagged::mark_probabilities
    #[must_use]
    pub const fn has_mark_probabilities(self) -> bool {
        matches!(
            self,
            Self::Html | Self::Displacy | Self::Spans | Self::LabelStudio | Self::Brat
        )
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
            let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
            Error::parameter(format!(
                "unknown output format '{name}': expected one of {}",
                names.join(", ")
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
            "unknown output format 'xml': expected one of conll, conllu, jsonl, inline, \
             slash-tags, inline-xml, html, displacy, spans, doccano, label-studio, brat"
        );
    }
}
