//! Parsing raw text: line by line or, with hard line breaks, paragraph by paragraph.

use std::collections::VecDeque;

use super::lines::{InputLine, LineReader, is_blank};
use super::parse::{ReadOptions, SentenceParser};
use crate::error::Result;
use crate::sentence::{Sentence, Separation, SourceFile, TextPosition};
use crate::tokenize::Tokenizer;

/// Separates pages or documents in text files.
const FORM_FEED: char = '\u{c}';

/// Parses raw text: every line, or every paragraph, has zero or more sentences.
pub(super) struct TextParser {
    tokenizer: Tokenizer,
    separation: Separation, // what stands before the next sentence
    position: TextPosition, // of the next line in the file
    paragraphs: bool,
    paragraph: Option<Paragraph>,
}

/// A paragraph that is being read.
struct Paragraph {
    text: String, // its lines with their endings
    file: SourceFile,
    line: u64,           // of its beginning
    start: TextPosition, // in the file
}

impl TextParser {
    pub fn new(options: &ReadOptions) -> Self {
        Self {
            tokenizer: Tokenizer::new(options.limits.max_sentence),
            separation: Separation::default(),
            position: TextPosition::default(),
            paragraphs: options.text.paragraphs,
            paragraph: None,
        }
    }

    /// Moves the position past a line. Returns where its text begins.
    fn pass(&mut self, line: &InputLine) -> TextPosition {
        let mut start = self.position;
        if line.has_mark {
            start.advance("\u{feff}");
        }
        // What was replaced in the line has another length there.
        self.position = start;
        self.position.advance(line.text);
        self.position.advance(line.ending);
        start
    }

    /// Adds the sentences of a text that begins at `start`, with the form feeds and empty lines
    /// before each.
    fn add(
        &mut self,
        text: &str,
        sentences: Vec<Sentence>,
        start: TextPosition,
        ready: &mut VecDeque<Sentence>,
    ) {
        self.separation.add(Separation::LINE);
        if is_blank(text) {
            self.separation.add(Separation::BLANK_LINE);
        }
        let mut end = 0;
        for mut sentence in sentences {
            if let (Some(first), Some(last)) = (sentence.offsets.first(), sentence.offsets.last()) {
                self.add_form_feed(&text[end..first.bytes.start]);
                end = last.bytes.end;
            }
            sentence.layout.separation = std::mem::take(&mut self.separation);
            sentence.layout.source_start = Some(start);
            ready.push_back(sentence);
        }
        self.add_form_feed(&text[end..]);
    }

    /// Adds a form feed to what stands before the next sentence, if there is one in a text that
    /// belongs to no sentence.
    fn add_form_feed(&mut self, text: &str) {
        if text.contains(FORM_FEED) {
            self.separation.add(Separation::FORM_FEED);
        }
    }

    /// Splits the paragraph, if there is one, into sentences.
    fn end_paragraph(&mut self, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if let Some(paragraph) = self.paragraph.take() {
            let Paragraph { file, line, start, .. } = &paragraph;
            let text = paragraph.text.trim_end_matches(['\r', '\n']);
            let sentences = self.tokenizer.read_lines(text, file, *line)?;
            self.add(text, sentences, *start, ready);
        }
        Ok(())
    }
}

impl SentenceParser for TextParser {
    fn memory_per_byte(&self) -> u64 {
        60
    }

    fn line(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()> {
        if line.has_mark {
            // Another file begins.
            self.end_paragraph(ready)?;
        }
        let start = self.pass(line);
        if !self.paragraphs {
            let sentences = (self.tokenizer).read_line(line.text, line.file, line.number)?;
            self.add(line.text, sentences, start, ready);
        } else if is_blank(line.text) {
            self.end_paragraph(ready)?;
            self.add(line.text, Vec::new(), start, ready);
        } else {
            let paragraph = self.paragraph.get_or_insert_with(|| Paragraph {
                text: String::new(),
                file: line.file.clone(),
                line: line.number,
                start,
            });
            paragraph.text.push_str(line.text);
            paragraph.text.push_str(line.ending);
        }
        Ok(())
    }

    fn end(&mut self, _: &LineReader, ready: &mut VecDeque<Sentence>) -> Result<()> {
        self.end_paragraph(ready)
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        self.paragraph = None;
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
#[derive(Clone, Debug, Default)]
pub struct TextSplitter(());

impl TextSplitter {
    /// Returns the sentences of a text. Their offsets count from the start of their line, whose
    /// position in the text is `layout.source_start`; a blank line has no sentences.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::Error::Input) if a sentence has more than 4 GiB of text.
    pub fn sentences(&self, text: &str) -> Result<Vec<Sentence>> {
        let mut parser = TextParser::new(&ReadOptions::default());
        let file = SourceFile::from(FILE);
        let mut sentences = VecDeque::new();
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let line = InputLine::new(line, &file, number);
            parser.line(&line, &mut sentences)?;
        }
        Ok(sentences.into())
    }
}

#[cfg(test)]
mod tests {
    use super::TextSplitter;
    use crate::corpus::tests::{options, sentences};
    use crate::corpus::{Format, ReadOptions, TextOptions};
    use crate::sentence::DocumentRule;

    #[test]
    fn each_line_is_split_into_sentences_and_empty_lines_are_skipped() {
        let read = sentences("Ann left\n\n \nBob too", &options(Format::Text)).unwrap();
        let words: Vec<Vec<&str>> =
            read.iter().map(|s| (0..s.len()).map(|t| s.cell(t, 0)).collect()).collect();
        assert_eq!(words, [["Ann", "left"], ["Bob", "too"]]);
        assert_eq!(read[1].place(0).to_string(), "x:4");
        assert_eq!(read[1].layout.source.as_deref(), Some("Bob too"));
        assert_eq!(read[1].offsets[1].bytes, 4..7);
    }

    /// The first words of each document.
    fn documents(rule: DocumentRule, text: &str) -> String {
        let read = sentences(text, &options(Format::Text)).unwrap();
        let words = rule.documents(&read).into_iter().map(|document| {
            let words: Vec<&str> = document.iter().map(|s| s.cell(0, 0)).collect();
            words.join(" ")
        });
        words.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn lines_blank_lines_and_form_feeds_separate_documents() {
        let text = "A b. C d.\nE\n\nF\n\x0cG\x0c\nH\n\x0c\nI\n";
        assert_eq!(documents(DocumentRule::Auto, text), "A C E F G H I");
        assert_eq!(documents(DocumentRule::Line, text), "A C | E | F | G | H | I");
        assert_eq!(documents(DocumentRule::BlankLine, text), "A C E | F G H | I");
        let form_feeds = documents(DocumentRule::FormFeed, text);
        assert_eq!(form_feeds, "A C E F | G | H | I");
    }

    #[test]
    fn line_ends_within_a_paragraph_are_blanks() {
        let options = ReadOptions {
            text: TextOptions { paragraphs: true, ..TextOptions::default() },
            ..options(Format::Text)
        };
        let text = "\n Ann left\r\nRome. Bob\nstayed\n \n\n\u{e9}t\u{e9}\n";
        let read = sentences(text, &options).unwrap();
        let words: Vec<Vec<&str>> = read.iter().map(|s| s.words().unwrap().collect()).collect();
        assert_eq!(words, [vec!["Ann", "left", "Rome", "."], vec!["Bob", "stayed"], vec!["été"]]);
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
        for text in [text, "A\n\nB\n"] {
            let read = sentences(text, &options).unwrap();
            assert_eq!(DocumentRule::BlankLine.documents(&read).len(), 2);
        }
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
