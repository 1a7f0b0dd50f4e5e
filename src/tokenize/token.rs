//! Tokens with their kinds, the input of the sentence splitter.

use std::ops::Range;

/// The kind of a token, as needed to find sentence boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word, a number, an address.
    Word,
    /// An abbreviation, with its period, that never ends a sentence: `Mr.`, `J.`, `e.g.`.
    NonFinalAbbreviation,
    /// An abbreviation, with its period, that ends a sentence if a sentence starter follows:
    /// `U.S.`, `Inc.`.
    Abbreviation,
    /// `etc.`: ends a sentence before a capital letter.
    EtCetera,
    /// An emoticon: ends a sentence before a capital letter.
    Emoticon,
    /// Punctuation, a symbol, an emoji.
    Symbol,
}

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// Byte range in the text.
    pub(super) bytes: Range<usize>,
    pub(super) kind: TokenKind,
}
