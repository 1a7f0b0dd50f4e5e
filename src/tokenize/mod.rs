//! tokenize

use std::sync::Arc;

use crate::error::Result;
use crate::sentence::{Offsets, Sentence};

/// The sentences of a line of raw text: here one sentence, cut at white space.
///
/// # Errors
///
/// [`crate::Error::Input`] when a sentence outgrows its bounds.
pub fn read_line(line: &str, file: &Arc<str>, number: u64) -> Result<Vec<Sentence>> {
    let schema = Arc::new(crate::sentence::Schema::words());
    let mut sentence = Sentence::new(schema, file.clone());
    let mut start = 0;
    for piece in line.split(char::is_whitespace) {
        if !piece.is_empty() {
            sentence.push([piece], number)?;
            let chars = line[..start].chars().count();
            sentence.offsets.push(Offsets {
                bytes: start..start + piece.len(),
                chars: chars..chars + piece.chars().count(),
            });
        }
        start += piece.len();
        start += line[start..].chars().next().map_or(0, char::len_utf8);
    }
    if sentence.is_empty() {
        return Ok(Vec::new());
    }
    sentence.layout.source = Some(Arc::from(line));
    Ok(vec![sentence])
}
