//! Raw text in memory as sentences.

use std::sync::Arc;

use super::parse::ReadOptions;
use super::text::TextSeparations;
use crate::error::Result;
use crate::sentence::{Sentence, TextPosition};
use crate::tokenize::Tokenizer;

/// The file of sentences in memory.
const FILE: &str = "-";

/// Splits texts into sentences and tokens, as files of raw text are read: every line is on its own.
///
/// ```
/// use dropchain::corpus::TextSplitter;
///
/// # fn main() -> dropchain::Result<()> {
/// let sentences = TextSplitter::default().sentences("Ada left. Bob stayed.\nWhy?")?;
/// let words: Vec<&str> = sentences[1].words().unwrap().collect();
/// assert_eq!(words, ["Bob", "stayed", "."]);
/// assert_eq!(sentences.len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TextSplitter {
    tokenizer: Tokenizer,
    file: Arc<str>,
}

impl Default for TextSplitter {
    fn default() -> Self {
        Self {
            tokenizer: Tokenizer::new(ReadOptions::MAX_SENTENCE),
            file: Arc::from(FILE),
        }
    }
}

impl TextSplitter {
    /// Returns the sentences of a text. Their offsets count from the start of their line, whose
    /// position in the text is `layout.source_start`; a blank line has no sentences.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::Error::Input) if a sentence has more than 4 GiB of text.
    pub fn sentences(&self, text: &str) -> Result<Vec<Sentence>> {
        let mut sentences = Vec::new();
        let mut separations = TextSeparations::default();
        let mut start = TextPosition::default();
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let content = line.strip_suffix('\n').unwrap_or(line);
            let content = content.strip_suffix('\r').unwrap_or(content);
            let mut of_line = self
                .tokenizer
                .read_line(content, &self.file, number as u64 + 1)?;
            separations.separate(content, &mut of_line);
            for mut sentence in of_line {
                sentence.layout.source_start = Some(start);
                sentences.push(sentence);
            }
            start.bytes += line.len();
            start.chars += line.chars().count();
        }
        Ok(sentences)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Format;
    use crate::corpus::tests::{options, sentences};

    #[test]
    fn texts_are_split_as_files_are() {
        let texts = [
            "",
            "\n",
            "Ann left. Bob stayed.",
            "Ann left.\r\n\r\n \nÉmile   stayed.\x0c\x0cWhy? No.\n\x0c\nBob\u{85}too\r",
        ];
        for text in texts {
            let split = TextSplitter::default().sentences(text).unwrap();
            let read = sentences(text, &options(Format::Text)).unwrap();
            assert_eq!(split.len(), read.len(), "{text:?}");
            for (i, (a, b)) in split.iter().zip(&read).enumerate() {
                assert!(a.words().unwrap().eq(b.words().unwrap()), "{text:?}");
                assert_eq!(a.offsets, b.offsets);
                assert_eq!(a.place(0).line, b.place(0).line);
                assert_eq!(a.layout.source, b.layout.source);
                assert_eq!(a.layout.source_start, b.layout.source_start);
                // A file begins a document; who has texts decides what a document is.
                if i > 0 {
                    assert_eq!(a.layout.separation, b.layout.separation);
                }
            }
        }
    }
}
