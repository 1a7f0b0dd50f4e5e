//! Spans of characters as JSON lines, an object per text: as Prodigy has them, and doccano's.
//!
//! The other members of an input object come first, verbatim; then `text`, `tokens` and `spans`, or
//! `text` and `label`.

use std::ops::Range;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::annotated_text::{AnnotatedText, Mark};
use crate::corpus::offset_unit::OffsetUnit;

/// An object as Prodigy reads and writes them.
pub(super) struct SpansRecord<'a> {
    text: &'a AnnotatedText,
    positions: Vec<Range<usize>>, // of the tokens
}

/// An object as doccano reads and writes them.
pub(super) struct DoccanoRecord<'a>(SpansRecord<'a>);

impl<'a> SpansRecord<'a> {
    pub fn new(text: &'a AnnotatedText, unit: OffsetUnit) -> Self {
        let positions = unit.positions(&text.text, &text.tokens);
        Self { text, positions }
    }

    /// Returns the position of a mark.
    pub fn position(&self, mark: &Mark) -> Range<usize> {
        self.positions[mark.tokens.start].start..self.positions[mark.tokens.end - 1].end
    }
}

impl<'a> DoccanoRecord<'a> {
    pub fn new(text: &'a AnnotatedText, unit: OffsetUnit) -> Self {
        Self(SpansRecord::new(text, unit))
    }
}

impl Serialize for SpansRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.text.serialize_members(&mut map)?;
        map.serialize_entry("text", &*self.text.text)?;
        map.serialize_entry("tokens", &Tokens(self))?;
        map.serialize_entry("spans", &Spans(self))?;
        map.end()
    }
}

impl Serialize for DoccanoRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let text = self.0.text;
        text.serialize_members(&mut map)?;
        map.serialize_entry("text", &*text.text)?;
        let label = |mark| {
            let Range { start, end } = self.0.position(mark);
            (start, end, mark.label.as_str())
        };
        let labels: Vec<(usize, usize, &str)> = text.marks.iter().map(label).collect();
        map.serialize_entry("label", &labels)?;
        map.end()
    }
}

struct Tokens<'a>(&'a SpansRecord<'a>);

impl Serialize for Tokens<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SpansRecord { text, positions } = self.0;
        let mut tokens = serializer.serialize_seq(Some(positions.len()))?;
        for (id, (offsets, position)) in text.tokens.iter().zip(positions).enumerate() {
            tokens.serialize_element(&Token {
                text: &text.text[offsets.bytes.clone()],
                start: position.start,
                end: position.end,
                id,
                ws: text.text[offsets.bytes.end..].starts_with(char::is_whitespace),
                sent_start: text.starts_sentence(id),
            })?;
        }
        tokens.end()
    }
}

#[derive(serde::Serialize)]
struct Token<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    id: usize,
    ws: bool, // white space follows
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sent_start: bool,
}

struct Spans<'a>(&'a SpansRecord<'a>);

impl Serialize for Spans<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let marks = &self.0.text.marks;
        let mut spans = serializer.serialize_seq(Some(marks.len()))?;
        for mark in marks {
            let Range { start, end } = self.0.position(mark);
            spans.serialize_element(&Span {
                start,
                end,
                label: &mark.label,
                token_start: mark.tokens.start,
                token_end: mark.tokens.end - 1,
                score: mark.probability,
            })?;
        }
        spans.end()
    }
}

#[derive(serde::Serialize)]
struct Span<'a> {
    start: usize,
    end: usize,
    label: &'a str,
    token_start: usize,
    token_end: usize, // the last one, as Prodigy counts
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}
