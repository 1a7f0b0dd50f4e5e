//! Parsing raw text.

use std::collections::VecDeque;

use super::lines::LineReader;
use super::parse::{ReadOptions, SentenceParser};
use crate::error::Result;
use crate::sentence::Sentence;
use crate::tokenize::Tokenizer;

/// Parses raw text: every line has zero or more sentences.
pub(super) struct TextParser {
    tokenizer: Tokenizer,
    ready: VecDeque<Sentence>,
}

impl TextParser {
    pub fn new(options: &ReadOptions) -> Self {
        Self {
            tokenizer: Tokenizer::new(options.max_sentence),
            ready: VecDeque::new(),
        }
    }
}

impl SentenceParser for TextParser {
    fn next_sentence(&mut self, lines: &mut LineReader) -> Result<Option<Sentence>> {
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
    use crate::corpus::tests::{options, sentences};

    #[test]
    fn each_line_is_split_into_sentences_and_empty_lines_are_skipped() {
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
