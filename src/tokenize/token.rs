//! Tokens, as the rules see them.

use std::ops::Range;

/// What a token is, as far as the end of a sentence depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word, a number, an address.
    Word,
    /// An abbreviation with its stop that never ends a sentence: `Mr.`, `J.`, `e.g.`.
    Title,
    /// An abbreviation with its stop that ends one before a word that begins
    /// sentences: `U.S.`, `Inc.`.
    Abbreviation,
    /// `etc.`: ends one before a capital letter.
    AndSoOn,
    /// An emoticon: ends one before a capital letter.
    Emoticon,
    /// Punctuation, a symbol, an emoji.
    Mark,
}

/// A token of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// Bytes of the text.
    pub(super) bytes: Range<usize>,
    /// What it is.
    pub(super) kind: Kind,
}
