//! Raw text to sentences of words.
//!
//! Word boundaries are those of UAX #29 (`unicode-segmentation`), joined and cut where UAX #29
//! alone hurts a tagger, after the conventions of the corpora that taggers are trained on (English
//! Web Treebank, CoNLL, W-NUT). `docs/tokenization.md` has every rule with examples, and is tested.
//!
//! Both functions take time linear in the length of the text, whatever is in it.

mod abbreviation;
mod atom;
mod emoticon;
mod sentence;
mod token;
mod web;
mod word;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::error::Result;
use crate::sentence::{Offsets, Schema, Sentence};

use token::Token;

/// The words of a text, with their places in it.
///
/// Tokens are in order, do not overlap, are not empty and hold every character that is not white
/// space ([`char::is_whitespace`]) exactly once; none holds white space. No token boundary lies
/// inside a grapheme cluster, save where one has white space for its base.
#[must_use]
pub fn tokens(text: &str) -> Vec<Offsets> {
    Ruler::new(text).measure(&word::tokens(text))
}

/// The sentences of a text (a line, a paragraph or more): its [`tokens`], in groups of at least
/// one.
#[must_use]
pub fn sentences(text: &str) -> Vec<Vec<Offsets>> {
    let tokens = word::tokens(text);
    let mut ruler = Ruler::new(text);
    let mut first = 0;
    sentence::ends(text, &tokens)
        .into_iter()
        .map(|end| {
            let sentence = ruler.measure(&tokens[first..end]);
            first = end;
            sentence
        })
        .collect()
}

/// Reads raw text, line by line, as [`Sentence`]s with the single column `word`.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    schema: Arc<Schema>,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self::new()
    }
}

impl Tokenizer {
    /// A tokenizer; its sentences share one schema, [`Schema::words`].
    #[must_use]
    pub fn new() -> Self {
        Self {
            schema: Arc::new(Schema::words()),
        }
    }

    /// The schema of the sentences.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The sentences of line `number` (from 1) of `file`; none if the line is blank.
    ///
    /// `offsets` and `layout.source` are filled; the source is the whole line, shared by its
    /// sentences, and the offsets count from its start.
    ///
    /// # Errors
    ///
    /// [`Error::Input`](crate::Error::Input) when a sentence has more than 4 GiB of text.
    pub fn read_line(&self, line: &str, file: &Arc<str>, number: u64) -> Result<Vec<Sentence>> {
        let source: Arc<str> = Arc::from(line);
        sentences(line)
            .into_iter()
            .map(|offsets| {
                let mut sentence = Sentence::new(Arc::clone(&self.schema), Arc::clone(file));
                for token in &offsets {
                    sentence.push([&line[token.bytes.clone()]], number)?;
                }
                sentence.offsets = offsets;
                sentence.layout.source = Some(Arc::clone(&source));
                Ok(sentence)
            })
            .collect()
    }
}

/// Counts the characters of a text from its start on, as far as tokens are asked for.
struct Ruler<'t> {
    text: &'t str,
    byte: usize,
    char: usize,
}

impl<'t> Ruler<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            byte: 0,
            char: 0,
        }
    }

    /// The places of tokens that follow all that were measured before.
    fn measure(&mut self, tokens: &[Token]) -> Vec<Offsets> {
        tokens
            .iter()
            .map(|token| Offsets {
                chars: self.advance(token.bytes.start)..self.advance(token.bytes.end),
                bytes: token.bytes.clone(),
            })
            .collect()
    }

    /// The number of characters before `byte`.
    fn advance(&mut self, byte: usize) -> usize {
        self.char += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.char
    }
}
