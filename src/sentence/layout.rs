//! The parts of the input around the tokens, which the output reproduces.

use std::ops::Range;
use std::sync::Arc;

use super::separation::Separation;

/// The position of a token in the text it comes from; ends are exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// In bytes of UTF-8.
    pub bytes: Range<usize>,
    /// In Unicode scalar values (like Python string indices).
    pub chars: Range<usize>,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPosition {
    /// In bytes of UTF-8, after decompression.
    pub bytes: usize,
    /// In Unicode scalar values (like Python string indices).
    pub chars: usize,
}

/// The parts of the input around the tokens, which the output reproduces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        let strings = self.comments.iter();
        let strings = strings.chain(self.extra_lines.iter().map(|(_, line)| line));
        let strings: usize = strings.map(|line| 16 + line.capacity()).sum();
        let shared = [&self.source, &self.record].into_iter().flatten();
        let shared = shared.map(|text| text.len() / Arc::strong_count(text) + 1);
        strings
            + size_of::<String>() * self.comments.capacity()
            + size_of::<(usize, String)>() * self.extra_lines.capacity()
            + shared.sum::<usize>()
    }
}
