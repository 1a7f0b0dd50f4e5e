//! Slash tags as Stanford's taggers write them: `Ada/B-PER Lovelace/I-PER left/O`. A line per
//! sentence.
//!
//! In words and labels, `\`, `/`, space, tab, LF and CR are escaped as `\\`, `\/`, `\s`, `\t`, `\n`
//! and `\r`. So a line splits at spaces, and a token at its last slash, unless labels contain some.

use super::tagged::{Tagged, word};

/// Writes a sentence.
pub(super) fn sentence(buffer: &mut String, tagged: &Tagged) {
    for (t, label) in tagged.labels.iter().enumerate() {
        if t > 0 {
            buffer.push(' ');
        }
        escape(buffer, word(tagged.sentence, t));
        buffer.push('/');
        escape(buffer, label);
    }
    buffer.push('\n');
}

fn escape(buffer: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\\' => buffer.push_str("\\\\"),
            '/' => buffer.push_str("\\/"),
            ' ' => buffer.push_str("\\s"),
            '\t' => buffer.push_str("\\t"),
            '\n' => buffer.push_str("\\n"),
            '\r' => buffer.push_str("\\r"),
            c => buffer.push(c),
        }
    }
}
