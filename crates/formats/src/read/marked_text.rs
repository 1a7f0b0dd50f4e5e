//! A text with labeled spans, as annotation tools have it.

use std::sync::Arc;

use dropchain::Place;

/// A text with labeled spans.
#[derive(Debug)]
pub(super) struct MarkedText {
    pub text: Arc<str>,
    /// Where the text begins, in its file.
    pub line: u64,
    /// Whether the text is that of a file, with its lines.
    pub is_file: bool,
    /// Empty if the text is to be tagged.
    pub spans: Vec<MarkedSpan>,
    /// The tokens, if they are known.
    pub tokens: Option<Vec<MarkedToken>>,
    /// The rest of the object, which the output copies.
    pub record: Option<Arc<str>>,
}

/// A token. Offsets are as written, in any unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkedToken {
    pub start: u64,
    pub end: u64, // exclusive
    pub line: u64,
    /// Whether a sentence begins here, if that is known.
    pub starts_sentence: Option<bool>,
}

/// A labeled span. Offsets are as written, in any unit.
#[derive(Clone, Debug)]
pub(super) struct MarkedSpan {
    pub start: u64,
    pub end: u64, // exclusive
    pub label: String,
    /// The text of the span, if the annotation repeats it.
    pub text: Option<String>,
    /// The gaps between its fragments, if it has several.
    pub gaps: Vec<(u64, u64)>,
    pub place: Place,
}
