//! Parsing raw text: line by line or, with hard line breaks, paragraph by paragraph.

use std::collections::VecDeque;
use std::sync::Arc;

use super::lines::{BYTE_ORDER_MARK, LineReader, is_blank};
use super::parse::{ReadOptions, SentenceParser};
use crate::error::Result;
use crate::sentence::{Sentence, Separation, TextPosition};
use crate::tokenize::Tokenizer;

/// Separates pages or documents in text files.
const FORM_FEED: char = '\u{c}';

/// Parses raw text: every line, or every paragraph, has zero or more sentences.
pub(super) struct TextParser {
    tokenizer: Tokenizer,
    ready: VecDeque<Sentence>,
    separations: TextSeparations,
    position: TextPosition, // of the next line in the file
    paragraphs: bool,
}

impl TextParser {
    pub fn new(options: &ReadOptions) -> Self {
        Self {
            tokenizer: Tokenizer::new(options.max_sentence),
            ready: VecDeque::new(),
            separations: TextSeparations::default(),
            position: TextPosition::default(),
            paragraphs: options.paragraphs,
        }
    }

    /// Moves the position past a line with this content. Returns where the content begins.
    fn advance(&mut self, bytes: usize, chars: usize, raw: &[u8]) -> TextPosition {
        let mut start = self.position;
        if start == TextPosition::default() && raw.starts_with(BYTE_ORDER_MARK) {
            start.bytes += BYTE_ORDER_MARK.len();
            start.chars += 1;
        }
        let ending = match raw.ends_with(b"\r\n") {
            true => 2,
            false => usize::from(raw.ends_with(b"\n")),
        };
        // What was replaced in the line has another length there.
        self.position.bytes = start.bytes + bytes + ending;
        self.position.chars = start.chars + chars + ending;
        start
    }
}

/// What stands between the sentences of raw text.
#[derive(Default)]
struct TextSeparations {
    next: Separation, // what stands before the next sentence
}

impl TextSeparations {
    /// Records the form feeds and empty lines before each of the sentences of a line.
    fn separate(&mut self, text: &str, sentences: &mut [Sentence]) {
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

/// A paragraph that is being read.
struct Paragraph {
    text: String,        // its lines with their endings
    line: u64,           // of its beginning
    start: TextPosition, // in the file
}

impl TextParser {
    /// Reads the sentences of the next line; returns whether there is one.
    fn read_line(&mut self, lines: &mut LineReader) -> Result<bool> {
        let Some(line) = lines.next_line()? else {
            return Ok(false);
        };
        let mut sentences = self
            .tokenizer
            .read_line(line.text, line.file, line.number)?;
        self.separations.separate(line.text, &mut sentences);
        let (bytes, chars) = (line.text.len(), line.text.chars().count());
        let start = self.advance(bytes, chars, lines.raw_line());
        self.add(sentences, start);
        Ok(true)
    }

    /// Reads the sentences of the next paragraph, up to a blank line; returns whether there is one.
    fn read_paragraph(&mut self, lines: &mut LineReader) -> Result<bool> {
        let mut paragraph: Option<Paragraph> = None;
        loop {
            let Some(line) = lines.next_line()? else {
                return Ok(self.end_paragraph(paragraph, lines)?.is_some());
            };
            let is_blank = is_blank(line.text);
            if is_blank {
                self.separations.separate(line.text, &mut []);
            } else {
                let paragraph = paragraph.get_or_insert_with(|| Paragraph {
                    text: String::new(),
                    line: line.number,
                    start: TextPosition::default(),
                });
                paragraph.text.push_str(line.text);
            }
            let (bytes, chars) = (line.text.len(), line.text.chars().count());
            let start = self.advance(bytes, chars, lines.raw_line());
            let is_crlf = lines.raw_line().ends_with(b"\r\n");
            match &mut paragraph {
                Some(_) if is_blank => {
                    self.end_paragraph(paragraph, lines)?;
                    return Ok(true);
                }
                Some(paragraph) => {
                    if paragraph.text.len() == bytes {
                        paragraph.start = start;
                    }
                    paragraph.text.push_str(if is_crlf { "\r\n" } else { "\n" });
                }
                None => {}
            }
        }
    }

    /// Splits a paragraph into sentences.
    fn end_paragraph(
        &mut self,
        paragraph: Option<Paragraph>,
        lines: &LineReader,
    ) -> Result<Option<()>> {
        let Some(Paragraph { text, line, start }) = paragraph else {
            return Ok(None);
        };
        let text = text.trim_end_matches(['\r', '\n']);
        let mut sentences = self.tokenizer.read_lines(text, lines.file(), line)?;
        self.separations.separate(text, &mut sentences);
        self.add(sentences, start);
        Ok(Some(()))
    }

    /// Adds the sentences of a text that begins at this position.
    fn add(&mut self, sentences: Vec<Sentence>, start: TextPosition) {
        self.ready.extend(sentences.into_iter().map(|mut sentence| {
            sentence.layout.source_start = Some(start);
            sentence
        }));
    }
}

impl SentenceParser for TextParser {
    fn memory_per_byte(&self) -> u64 {
        60
    }

    fn next_sentence(&mut self, lines: &mut LineReader) -> Result<Option<Sentence>> {
        while self.ready.is_empty() {
            let has_more = match self.paragraphs {
                true => self.read_paragraph(lines)?,
                false => self.read_line(lines)?,
            };
            if !has_more {
                break;
            }
        }
        Ok(self.ready.pop_front())
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        lines.skip_line()
    }
}

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
    use super::TextSplitter;
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

    #[test]
    fn line_ends_within_a_paragraph_are_blanks() {
        let options = crate::corpus::ReadOptions {
            paragraphs: true,
            ..options(Format::Text)
        };
        let text = "\n Ann left\r\nRome. Bob\nstayed\n \n\n\u{e9}t\u{e9}\n";
        let read = sentences(text, &options).unwrap();
        let words: Vec<Vec<&str>> = read.iter().map(|s| s.words().unwrap().collect()).collect();
        assert_eq!(
            words,
            [
                vec!["Ann", "left", "Rome", "."],
                vec!["Bob", "stayed"],
                vec!["été"]
            ]
        );
        let places: Vec<String> = (0..4).map(|t| read[0].place(t).to_string()).collect();
        assert_eq!(places, ["x:2", "x:2", "x:3", "x:3"]);
        // Offsets refer to the input.
        for sentence in &read {
            let start = sentence.layout.source_start.unwrap();
            for (t, word) in sentence.words().unwrap().enumerate() {
                let offsets = &sentence.offsets[t];
                let bytes = start.bytes + offsets.bytes.start..start.bytes + offsets.bytes.end;
                assert_eq!(&text[bytes], word);
                let skipped = text.chars().skip(start.chars + offsets.chars.start);
                assert!(skipped.take(word.chars().count()).eq(word.chars()));
            }
        }
        let rule = DocumentRule::BlankLine;
        assert_eq!(rule.documents(&read).len(), 2);
    }

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
