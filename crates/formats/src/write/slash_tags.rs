//! Slash tags as Stanford's taggers write them: `Ada/B-PER Lovelace/I-PER left/O`. A line per
//! sentence.
//!
//! In words and labels, `\`, `/`, space, tab, LF and CR are escaped as `\\`, `\/`, `\s`, `\t`, `\n`
//! and `\r`. So a line splits at spaces, and a token at its last slash, unless labels contain some.

use dropchain::Result;
use dropchain::corpus::{SentenceWriter, Tagged, WriteFormat, WriteOptions};

/// One sentence per line, with the label after each word and a slash, as Stanford's taggers write
/// them.
#[derive(Clone, Copy, Debug)]
pub struct SlashTags;

impl WriteFormat for SlashTags {
    fn writer(&self, _: &WriteOptions) -> Result<Box<dyn SentenceWriter>> {
        Ok(Box::new(*self))
    }
}

impl SentenceWriter for SlashTags {
    fn sentence(&mut self, buffer: &mut String, tagged: &Tagged) -> Result<()> {
        for (t, label) in tagged.labels.iter().enumerate() {
            if t > 0 {
                buffer.push(' ');
            }
            escape(buffer, tagged.word(t));
            buffer.push('/');
            escape(buffer, label);
        }
        buffer.push('\n');
        Ok(())
    }
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
