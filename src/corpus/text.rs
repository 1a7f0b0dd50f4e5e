//! Raw text: a line in, its sentences out.

use std::collections::VecDeque;

use super::lines::Lines;
use super::reader::Parse;
use crate::error::Result;
use crate::sentence::Sentence;
use crate::tokenize::Tokenizer;

/// Reads raw text. A line can have several sentences; an empty one has none.
#[derive(Default)]
pub(super) struct Text {
    tokenizer: Tokenizer,
    ready: VecDeque<Sentence>,
}

impl Parse for Text {
    fn next(&mut self, lines: &mut Lines) -> Result<Option<Sentence>> {
        while self.ready.is_empty() {
            let Some(line) = lines.next_line()? else {
                return Ok(None);
            };
            let sentences = self
                .tokenizer
                .read_line(line.text, line.file, line.number)?;
            self.ready.extend(sentences);
        }
        Ok(self.ready.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::Format;
    use crate::corpus::reader::tests::{options, sentences};

    #[test]
    fn each_line_gives_its_sentences_and_empty_lines_none() {
        let read = sentences("Ann left\n\n \nBob too", &options(Format::Text)).unwrap();
        let words: Vec<Vec<&str>> = read
            .iter()
            .map(|s| (0..s.len()).map(|t| s.cell(t, 0)).collect())
            .collect();
        assert_eq!(words, [["Ann", "left"], ["Bob", "too"]]);
        assert_eq!(read[1].place(0).to_string(), "x:4");
        assert_eq!(read[1].layout.source.as_deref(), Some("Bob too"));
        assert_eq!(read[1].offsets[1].bytes, 4..7);
    }
}
