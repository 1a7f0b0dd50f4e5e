//! The tokenizer: raw text to sentences of tokens with offsets.

use std::ops::Range;
use std::sync::Arc;

use super::sentence::sentence_lengths;
use super::word;
use crate::error::Result;
use crate::sentence::{Offsets, Schema, Sentence, SourceFile, TextPosition};

/// Splits a text into tokens and returns their offsets.
///
/// Tokens are in order, do not overlap, and are not empty. Every character that is not white space
/// ([`char::is_whitespace`]) is in exactly one token, and tokens contain no white space. Token
/// boundaries never fall inside a grapheme cluster, except in a cluster whose base is white space.
pub fn tokens(text: &str) -> Vec<Offsets> {
    offsets(text, word::tokens(text).into_iter().map(|token| token.bytes))
}

/// Returns the offsets of tokens at these bytes of a text, which are in order and do not overlap.
pub fn offsets(text: &str, tokens: impl IntoIterator<Item = Range<usize>>) -> Vec<Offsets> {
    let mut position = TextPosition::default();
    let mut advance = |to: usize| {
        position.advance(&text[position.bytes..to]);
        position
    };
    let tokens = tokens.into_iter().map(|bytes| {
        let (start, end) = (advance(bytes.start), advance(bytes.end));
        Offsets { bytes, chars: start.chars..end.chars, utf16: start.utf16..end.utf16 }
    });
    tokens.collect()
}

/// Splits a text (a line, a paragraph or more) into sentences: its [`tokens`] in nonempty groups.
pub fn sentences(text: &str) -> Vec<Vec<Offsets>> {
    let tokens = word::tokens(text);
    let mut offsets = offsets(text, tokens.iter().map(|token| token.bytes.clone())).into_iter();
    let lengths = sentence_lengths(text, &tokens).into_iter();
    lengths.map(|length| offsets.by_ref().take(length).collect()).collect()
}

/// Reads raw text, line by line, as [`Sentence`]s with the single column `word`.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    schema: Arc<Schema>,
    max_sentence: usize,
}

impl Tokenizer {
    /// Creates a tokenizer that splits sentences after `max_sentence` tokens. Its sentences share
    /// one schema, [`Schema::words`].
    pub fn new(max_sentence: usize) -> Self {
        Self { max_sentence: max_sentence.max(1), schema: Arc::new(Schema::words()) }
    }

    /// Returns the sentences of line `number` (from 1) of `file`; none if the line is blank.
    ///
    /// Sets `offsets` and `layout.source`. The source is the whole line, shared by its sentences,
    /// and the offsets are relative to its start.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::Error::Input) if a sentence has more than 4 GiB of text.
    pub fn read_line(&self, line: &str, file: &SourceFile, number: u64) -> Result<Vec<Sentence>> {
        self.read(line, file, &|_| number)
    }

    /// Like [`read_line`](Self::read_line), of a text of several lines, the first of which is
    /// number `first`. Sentences go on across their ends.
    pub fn read_lines(&self, text: &str, file: &SourceFile, first: u64) -> Result<Vec<Sentence>> {
        let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
        let number = |start| first + ends.partition_point(|&end| end < start) as u64;
        self.read(text, file, &number)
    }

    /// Returns the sentences of a text; `number` returns the line of a position.
    fn read(
        &self,
        line: &str,
        file: &SourceFile,
        number: &dyn Fn(usize) -> u64,
    ) -> Result<Vec<Sentence>> {
        let source: Arc<str> = Arc::from(line);
        let mut read = Vec::new();
        for offsets in sentences(line) {
            // Splitting copies, so it is for the rare sentence that needs it.
            let parts = if offsets.len() <= self.max_sentence {
                vec![offsets]
            } else {
                offsets.chunks(self.max_sentence).map(<[_]>::to_vec).collect()
            };
            for offsets in parts {
                let mut sentence = Sentence::new(Arc::clone(&self.schema), file.clone());
                for token in &offsets {
                    sentence.push([&line[token.bytes.clone()]], number(token.bytes.start))?;
                }
                sentence.shrink_to_fit();
                sentence.offsets = offsets;
                sentence.layout.source = Some(Arc::clone(&source));
                read.push(sentence);
            }
        }
        if let Some(last) = read.last_mut() {
            last.layout.ends_source = true;
        }
        Ok(read)
    }
}
