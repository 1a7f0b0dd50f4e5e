//! Subtokens: the pieces of text that no rule splits further.

/// The kind of a subtoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SubtokenKind {
    /// Letters or digits.
    Word,
    /// A clitic: `'s`, `n't`.
    Clitic,
    /// Punctuation, a symbol, an emoji.
    Symbol,
}

/// A subtoken, as a byte range of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subtoken {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: SubtokenKind,
}

/// The combining mark that turns a digit, `#` or `*` into an emoji.
const KEYCAP: char = '\u{20E3}';

impl Subtoken {
    /// Classifies the bytes from `start` to `end` of `text` as a word or a symbol.
    pub(super) fn classify(text: &str, start: usize, end: usize) -> Self {
        let text = &text[start..end];
        let word = text.contains(char::is_alphanumeric) && !text.ends_with(KEYCAP);
        Self { start, end, kind: if word { SubtokenKind::Word } else { SubtokenKind::Symbol } }
    }

    /// Returns its part of `text`.
    pub(super) fn slice(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// Returns whether a grapheme cluster is always a separate subtoken.
pub(super) fn stands_alone(cluster: &str) -> bool {
    let binding = ['.', ',', ';', ':', '\'', '’', '．', '，', '；', '：', '＇'];
    cluster.starts_with(binding) || cluster.ends_with(KEYCAP)
}

/// Returns whether a symbol is used as an apostrophe.
pub(super) fn is_apostrophe(symbol: &str) -> bool {
    matches!(symbol, "'" | "’" | "`" | "´")
}

/// Returns whether a word consists of ASCII digits.
pub(super) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}
