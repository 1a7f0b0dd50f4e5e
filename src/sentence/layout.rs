//! The parts of the input around the tokens, which the output reproduces, and the positions of
//! tokens in it.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What positions in a text count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OffsetUnit {
    /// Unicode scalar values (code points), like string indices of Python.
    #[default]
    Chars,
    /// Bytes of UTF-8, like string indices of Rust and Go.
    Bytes,
    /// UTF-16 code units, like string indices of JavaScript, Java and C#.
    Utf16,
}

crate::named!(OffsetUnit, "unit of offsets": Chars = "chars", Bytes = "bytes", Utf16 = "utf16");

/// The position of a token or of several in the text they come from; ends are exclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offsets {
    /// In bytes of UTF-8.
    pub bytes: Range<usize>,
    /// In Unicode scalar values (like Python string indices).
    pub chars: Range<usize>,
    /// In UTF-16 code units (like JavaScript string indices).
    pub utf16: Range<usize>,
}

impl Offsets {
    /// Returns the position of tokens, from the first to the last; `None` if there are none.
    pub fn of_tokens(tokens: &[Self]) -> Option<Self> {
        let (first, last) = (tokens.first()?, tokens.last()?);
        Some(Self {
            bytes: first.bytes.start..last.bytes.end,
            chars: first.chars.start..last.chars.end,
            utf16: first.utf16.start..last.utf16.end,
        })
    }

    /// Returns the position in a file where the text begins at `start`.
    #[must_use]
    pub fn after(&self, start: TextPosition) -> Self {
        let shifted = |range: &Range<usize>, by| range.start + by..range.end + by;
        Self {
            bytes: shifted(&self.bytes, start.bytes),
            chars: shifted(&self.chars, start.chars),
            utf16: shifted(&self.utf16, start.utf16),
        }
    }

    /// Returns the position in a unit.
    pub fn in_unit(&self, unit: OffsetUnit) -> Range<usize> {
        match unit {
            OffsetUnit::Chars => self.chars.clone(),
            OffsetUnit::Bytes => self.bytes.clone(),
            OffsetUnit::Utf16 => self.utf16.clone(),
        }
    }
}

/// A position in a file, or the length of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPosition {
    /// In bytes of UTF-8, after decompression.
    pub bytes: usize,
    /// In Unicode scalar values (like Python string indices).
    pub chars: usize,
    /// In UTF-16 code units (like JavaScript string indices).
    pub utf16: usize,
}

impl TextPosition {
    /// Moves the position past a text.
    pub fn advance(&mut self, text: &str) {
        let chars = text.chars().count();
        let pairs = text.bytes().filter(|&byte| byte >= 0xf0).count(); // of surrogates
        self.bytes += text.len();
        self.chars += chars;
        self.utf16 += chars + pairs;
    }
}

/// What stands between a sentence and the one before it in the input: where a document may begin.
///
/// Readers record it ([`Layout::separation`](super::Layout::separation)); which of it separates
/// documents is up to a [`DocumentRule`](super::DocumentRule).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Separation(u8);

impl Separation {
    /// The beginning of an input.
    pub const INPUT: Self = Self(1);
    /// A mark of a document: `-DOCSTART-`, `# newdoc`, another value of the key `doc`.
    pub const MARK: Self = Self(2);
    /// More blank lines than the format needs between sentences.
    pub const BLANK_LINE: Self = Self(4);
    /// A form feed, in raw text.
    pub const FORM_FEED: Self = Self(8);
    /// The end of a line, in raw text, or of an object, in JSON lines.
    pub const LINE: Self = Self(16);

    /// A border between folds of cross-validation, which every rule respects.
    pub const FOLD: Self = Self(32);

    /// Returns whether all of `other` is part of it.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether any of `other` is part of it.
    pub(super) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Adds `other`.
    pub fn add(&mut self, other: Self) {
        *self = self.and(other);
    }
}

/// The parts of the input around the tokens, which the output reproduces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Comment lines before the sentence (`# sent_id = …`), without line endings.
    pub comments: Vec<String>,
    /// Lines inside the sentence that are not tokens (multiword tokens, empty nodes, comments),
    /// each with the position of the next token; T for those after the last one.
    pub extra_lines: Vec<(usize, String)>,
    /// The text that was tokenized: a line of raw text, or the `text` of a JSON object.
    pub source: Option<Arc<str>>,
    /// Where the source begins in its file, if it is a line of raw text.
    pub source_start: Option<TextPosition>,
    /// Whether this is the last sentence of the source.
    pub ends_source: bool,
    /// The JSON object that the sentence was read from, whose other keys the output copies.
    pub record: Option<Arc<str>>,
    /// Whether this is a document boundary (`-DOCSTART-`), not a sentence to tag.
    pub document_start: bool,
    /// What stands between the sentence and the one before it.
    pub separation: Separation,
}

impl Layout {
    /// Memory on the heap in bytes. Texts are shared by the sentences of a line.
    pub(super) fn memory(&self) -> usize {
        let strings = self.comments.iter().chain(self.extra_lines.iter().map(|(_, line)| line));
        let strings: usize = strings.map(|line| 16 + line.capacity()).sum();
        let shared = [&self.source, &self.record].into_iter().flatten();
        let shared = shared.map(|text| text.len() / Arc::strong_count(text) + 1);
        strings
            + size_of::<String>() * self.comments.capacity()
            + size_of::<(usize, String)>() * self.extra_lines.capacity()
            + shared.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::tokens;

    #[test]
    fn names_of_units_round_trip() {
        for unit in OffsetUnit::ALL {
            assert_eq!(unit.to_string().parse::<OffsetUnit>().unwrap(), unit);
        }
        assert_eq!(
            "utf8".parse::<OffsetUnit>().unwrap_err().to_string(),
            "unknown unit of offsets 'utf8': expected chars, bytes or utf16"
        );
    }

    #[test]
    fn the_units_of_a_text_differ() {
        let tokens = tokens("é 😀 x");
        let positions = |unit| tokens.iter().map(move |token| token.in_unit(unit));
        assert!(positions(OffsetUnit::Chars).eq([0..1, 2..3, 4..5]));
        assert!(positions(OffsetUnit::Bytes).eq([0..2, 3..7, 8..9]));
        assert!(positions(OffsetUnit::Utf16).eq([0..1, 2..4, 5..6]));
        let mut start = TextPosition::default();
        start.advance("é 😀\n");
        let all = Offsets::of_tokens(&tokens).unwrap().after(start);
        assert_eq!((all.bytes, all.chars, all.utf16), (8..17, 4..9, 5..11));
        assert_eq!(Offsets::of_tokens(&[]), None);
    }

    #[test]
    fn parts_add_up() {
        let mut separation = Separation::default();
        separation.add(Separation::MARK);
        assert!(separation.contains(Separation::MARK));
        assert!(!separation.contains(Separation::INPUT));
        let both = separation.and(Separation::LINE);
        assert!(both.contains(Separation::MARK) && both.contains(Separation::LINE));
        assert!(!separation.contains(both) && both.intersects(separation));
    }
}
