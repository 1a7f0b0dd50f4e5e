//! A text with labeled spans, as annotation tools have it, and the faults of its spans.

use std::sync::Arc;

use dropchain::{Error, Place, Result};

/// Maximum number of faults that are listed.
const LISTED: usize = 20;

/// A text with labeled spans.
#[derive(Debug, Default)]
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

impl MarkedSpan {
    /// Creates a span of one fragment whose text is not repeated.
    pub fn new((start, end): (u64, u64), label: String, place: Place) -> Self {
        Self { start, end, label, text: None, gaps: Vec::new(), place }
    }
}

/// Faults of annotations, collected until the end of a file.
#[derive(Debug, Default)]
pub(super) struct Faults {
    listed: Vec<(Place, String)>,
    count: u64,
    hints: Vec<&'static str>, // what repairs them, each once
}

impl Faults {
    /// Adds a fault, and what repairs it.
    pub fn add(&mut self, place: Place, message: String, hint: &'static str) {
        self.count += 1;
        if self.listed.len() < LISTED {
            self.listed.push((place, message));
        }
        self.hint(hint);
    }

    /// Adds what repairs some of the faults.
    pub fn hint(&mut self, hint: &'static str) {
        if !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
    }

    /// Returns the faults as an error, if there are any.
    pub fn finish(&mut self) -> Result<()> {
        let Self { listed, count, hints } = std::mem::take(self);
        let mut listed = listed.into_iter();
        let Some((place, mut message)) = listed.next() else { return Ok(()) };
        for (place, fault) in listed {
            message += &format!("\n{place}: {fault}");
        }
        if count > LISTED as u64 {
            message += &format!("\n… and {} more", count - LISTED as u64);
        }
        for hint in hints {
            message += if count == 1 { "; " } else { "\n" };
            message += hint;
        }
        Err(Error::input(place, message))
    }
}
