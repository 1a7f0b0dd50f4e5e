//! All input formats by name.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use dropchain::corpus::{Format, LineReader, ReadFormat, ReadOptions};
use dropchain::{Error, Result};

use super::read::{Brat, SpanOptions, Spans, WebAnno, is_webanno};

/// An input format: of the library, or of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// One of the library.
    Core(Format),
    /// JSON with texts and spans of characters ([`Spans`]).
    Spans,
    /// BRAT's standoff format ([`Brat`]).
    Brat,
    /// TSV 3 of WebAnno and INCEpTION ([`WebAnno`]).
    WebAnno,
}

impl InputFormat {
    /// Every format.
    pub const ALL: [Self; 8] = [
        Self::Core(Format::Text),
        Self::Core(Format::Conll),
        Self::Core(Format::Conllu),
        Self::Core(Format::Crfsuite),
        Self::Core(Format::Jsonl),
        Self::Spans,
        Self::Brat,
        Self::WebAnno,
    ];

    /// The name that [`InputFormat::from_str`] parses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core(format) => format.name(),
            Self::Spans => "spans",
            Self::Brat => "brat",
            Self::WebAnno => "webanno",
        }
    }

    /// Returns options that read this format; `spans`: how those of characters are read.
    pub fn apply(self, spans: SpanOptions, options: ReadOptions) -> ReadOptions {
        let reader: Arc<dyn ReadFormat> = match self {
            Self::Core(format) => {
                return ReadOptions { format: Some(format), reader: None, ..options };
            }
            Self::Spans => Arc::new(Spans(spans)),
            Self::Brat => Arc::new(Brat(spans)),
            Self::WebAnno => Arc::new(WebAnno { spans, by_first_line: false }),
        };
        ReadOptions { format: None, reader: Some(reader), ..options }
    }

    /// Returns options for files whose format is not given: what their first line says
    /// ([`InputFormat::of_first_line`]), or else their names.
    pub fn guess(spans: SpanOptions, options: ReadOptions) -> ReadOptions {
        ReadOptions { reader: Some(Arc::new(WebAnno { spans, by_first_line: true })), ..options }
    }

    /// Returns the format of a file, of which nothing has been read, if its first line names one.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn of_first_line(lines: &mut LineReader) -> Result<Option<Self>> {
        Ok(is_webanno(lines)?.then_some(Self::WebAnno))
    }
}

impl From<Format> for InputFormat {
    fn from(format: Format) -> Self {
        Self::Core(format)
    }
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for InputFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            Error::parameter(format!(
                "unknown input format '{name}': expected text, conll, conllu, crfsuite, jsonl, \
                 spans, brat or webanno"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for format in InputFormat::ALL {
            assert_eq!(format.to_string().parse::<InputFormat>().unwrap(), format);
        }
        assert_eq!(
            "xml".parse::<InputFormat>().unwrap_err().to_string(),
            "unknown input format 'xml': expected text, conll, conllu, crfsuite, jsonl, spans, \
             brat or webanno"
        );
    }
}
