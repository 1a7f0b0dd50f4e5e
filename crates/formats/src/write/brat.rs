//! BRAT's standoff format: the annotations of a text in a file of its own (`.ann`).
//!
//! Offsets count code points from the start of the text. Of raw text that is the whole file, as it
//! is; of other input, the texts of its sentences or objects, each followed by a line feed.

use std::fmt::Write;
use std::ops::Range;

use dropchain::{Error, Result};

use super::annotated_text::{AnnotatedText, Mark};
use crate::is_line_break;

/// The state of the annotations of a file.
#[derive(Debug, Default)]
pub(super) struct BratFile {
    annotations: u64, // so far
    chars: usize,     // of the texts so far, unless the input is raw text
}

impl BratFile {
    /// Writes the annotations of a text. Returns whether the text itself is to be written, since
    /// it is no part of a file of raw text.
    pub fn text(&mut self, buffer: &mut String, text: &AnnotatedText) -> Result<bool> {
        let start = text.start.map_or(self.chars, |start| start.chars);
        for mark in &text.marks {
            let is_separator = |c: &char| c.is_whitespace() || c.is_control();
            if let Some(c) = mark.label.chars().find(is_separator) {
                let message = format!(
                    "the label {:?} cannot be written as BRAT: it contains {c:?}; use JSON lines",
                    mark.label
                );
                return Err(Error::input(text.place(mark.tokens.start), message));
            }
            self.annotations += 1;
            self.mark(buffer, text, mark, start);
        }
        if text.start.is_none() {
            self.chars += text.text.chars().count() + 1;
        }
        Ok(text.start.is_none())
    }

    /// Writes `T1<tab>PER 0 12<tab>Ada Lovelace`. A mark that contains line breaks has a fragment
    /// for each of its lines.
    fn mark(&self, buffer: &mut String, text: &AnnotatedText, mark: &Mark, start: usize) {
        let number = self.annotations;
        let first = start + text.tokens[mark.tokens.start].chars.start;
        let (chars, words) = fragments(text.covered(mark));
        let range = |Range { start, end }| format!("{} {}", first + start, first + end);
        let ranges = chars.into_iter().map(range).collect::<Vec<_>>().join(";");
        // Writing to a string cannot fail.
        let _ = writeln!(buffer, "T{number}\t{} {ranges}\t{words}", mark.label);
        if let Some(p) = mark.probability {
            let _ = writeln!(buffer, "#{number}\tAnnotatorNotes T{number}\tprobability {p:.6}");
        }
    }
}

/// Splits a covered text at its line breaks. Returns the fragments, and their texts joined by
/// spaces.
fn fragments(text: &str) -> (Vec<Range<usize>>, String) {
    let (mut chars, mut words, mut position) = (Vec::new(), Vec::new(), 0);
    for line in text.split_inclusive(is_line_break) {
        let content = line.trim_end_matches(is_line_break);
        if !content.is_empty() {
            chars.push(position..position + content.chars().count());
            words.push(content);
        }
        position += line.chars().count();
    }
    if chars.is_empty() {
        chars.push(0..position);
    }
    (chars, words.join(" "))
}
