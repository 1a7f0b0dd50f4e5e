//! Parsers that look at one line after the other.

use std::collections::VecDeque;

use super::lines::{InputLine, LineReader};
use super::parse::SentenceParser;
use crate::error::Result;
use crate::sentence::Sentence;

/// Parses one line after the other.
pub(super) trait LineParser: Send {
    /// See [`SentenceParser::memory_per_byte`].
    const MEMORY_PER_BYTE: u64;

    /// Looks at the first lines, of which none has been read yet. See
    /// [`SentenceParser::next_sentence`] for how far.
    fn look_ahead(&mut self, _: &mut LineReader) -> Result<()> {
        Ok(())
    }

    /// Parses the next line, and appends the sentences that it completes to `ready`.
    fn line(&mut self, line: &InputLine, ready: &mut VecDeque<Sentence>) -> Result<()>;

    /// Appends what is left at the end of the file.
    fn end(&mut self, _: &LineReader, _: &mut VecDeque<Sentence>) -> Result<()> {
        Ok(())
    }

    /// See [`SentenceParser::recover`].
    fn recover(&mut self, lines: &mut LineReader) -> Result<()>;

    /// See [`SentenceParser::separator`].
    fn separator(&self) -> Option<char> {
        None
    }
}

/// Reads the lines for a parser, up to the one that completes a sentence.
pub(super) struct ByLine<P> {
    parser: P,
    ready: VecDeque<Sentence>,
    is_begun: bool,
}

impl<P> ByLine<P> {
    pub fn new(parser: P) -> Self {
        Self { parser, ready: VecDeque::new(), is_begun: false }
    }
}

impl<P: LineParser> SentenceParser for ByLine<P> {
    fn memory_per_byte(&self) -> u64 {
        P::MEMORY_PER_BYTE
    }

    fn next_sentence(&mut self, lines: &mut LineReader) -> Result<Option<Sentence>> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.parser.look_ahead(lines)?;
        }
        while self.ready.is_empty() {
            let Some(line) = lines.next_line()? else {
                self.parser.end(lines, &mut self.ready)?;
                break;
            };
            self.parser.line(&line, &mut self.ready)?;
        }
        Ok(self.ready.pop_front())
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        self.parser.recover(lines)
    }

    fn separator(&self) -> Option<char> {
        self.parser.separator()
    }
}
