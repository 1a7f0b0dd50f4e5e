//! Parsing raw text.

use std::collections::VecDeque;

use super::lines::{BYTE_ORDER_MARK, LineReader, is_blank};
use super::parse::{ReadOptions, SentenceParser};
use crate::error::Result;
use crate::sentence::{Sentence, Separation, TextPosition};
use crate::tokenize::Tokenizer;

/// Separates pages or documents in text files.
const FORM_FEED: char = '\u{c}';

/// Parses raw text: every line has zero or more sentences.
pub(super) struct TextParser {
    tokenizer: Tokenizer,
    ready: VecDeque<Sentence>,
    separations: TextSeparations,
    position: TextPosition, // of the next line in the file
}

impl TextParser {
    pub fn new(options: &ReadOptions) -> Self {
        Self {
            tokenizer: Tokenizer::new(options.max_sentence),
            ready: VecDeque::new(),
            separations: TextSeparations::default(),
            position: TextPosition::default(),
        }
    }

    /// Moves the position past a line with this content. Returns where the content begins.
    fn advance(&mut self, bytes: usize, chars: usize, raw: &[u8]) -> TextPosition {
        let mut start = self.position;
        if start == TextPosition::default() && raw.starts_with(BYTE_ORDER_MARK) {
            start.bytes += BYTE_ORDER_MARK.len();
            start.chars += 1;
        }
        // The ending of a line, LF or CRLF, has as many characters as bytes.
        let ending = self.position.bytes + raw.len() - (start.bytes + bytes);
        self.position.bytes += raw.len();
        self.position.chars = start.chars + chars + ending;
        start
    }
}

/// What stands between the sentences of raw text.
#[derive(Default)]
pub(crate) struct TextSeparations {
    next: Separation, // what stands before the next sentence
}

impl TextSeparations {
    /// Records the form feeds and empty lines before each of the sentences of a line.
    pub(crate) fn separate(&mut self, text: &str, sentences: &mut [Sentence]) {
        self.next.add(Separation::LINE);
        if is_blank(text) {
            self.next.add(Separation::BLANK_LINE);
        }
        let mut end = 0;
        for sentence in sentences {
            if let (Some(first), Some(last)) = (sentence.offsets.first(), sentence.offsets.last()) {
                self.add_form_feed(&text[end..first.bytes.start]);
                end = last.bytes.end;
            }
            sentence.layout.separation = std::mem::take(&mut self.next);
        }
        self.add_form_feed(&text[end..]);
    }

    /// Adds a form feed to what stands before the next sentence, if there is one in a text that
    /// belongs to no sentence.
    fn add_form_feed(&mut self, text: &str) {
        if text.contains(FORM_FEED) {
            self.next.add(Separation::FORM_FEED);
        }
    }
}

impl SentenceParser for TextParser {
    fn next_sentence(&mut self, lines: &mut LineReader) -> Result<Option<Sentence>> {
        while self.ready.is_empty() {
            let Some(line) = lines.next_line()? else {
                return Ok(None);
            };
            let mut sentences = self
                .tokenizer
                .read_line(line.text, line.file, line.number)?;
            self.separations.separate(line.text, &mut sentences);
            let (bytes, chars) = (line.text.len(), line.text.chars().count());
            let start = self.advance(bytes, chars, lines.raw_line());
            for sentence in &mut sentences {
                sentence.layout.source_start = Some(start);
            }
            self.ready.extend(sentences);
        }
        Ok(self.ready.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus::tests::{options, sentences};
    use crate::corpus::{DocumentRule, Format};

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

    /// The first words of each document.
    fn documents(rule: DocumentRule, text: &str) -> String {
        let read = sentences(text, &options(Format::Text)).unwrap();
        let documents = rule.documents(&read).into_iter();
        let words = documents.map(|document| {
            let words: Vec<&str> = document.iter().map(|s| s.cell(0, 0)).collect();
            words.join(" ")
        });
        words.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn lines_blank_lines_and_form_feeds_separate_documents() {
        let text = "A b. C d.\nE\n\nF\n\x0cG\x0c\nH\n\x0c\nI\n";
        assert_eq!(documents(DocumentRule::Auto, text), "A C E F G H I");
        assert_eq!(
            documents(DocumentRule::Line, text),
            "A C | E | F | G | H | I"
        );
        assert_eq!(
            documents(DocumentRule::BlankLine, text),
            "A C E | F G H | I"
        );
        let form_feeds = documents(DocumentRule::FormFeed, text);
        assert_eq!(form_feeds, "A C E F | G | H | I");
    }
}
