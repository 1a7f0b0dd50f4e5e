//! Tokens, whose kinds the sentence splitter takes, and subtokens: the pieces of text that no rule
//! splits further. Among these are English clitics (`'s`, `n't`) and words shortened by an
//! apostrophe (`'em`, `'90s`).

use std::ops::Range;

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

/// Merges each apostrophe of `text` with the letters it belongs to: a clitic becomes one subtoken
/// (`'s`, `n't`), and so does a word that starts with an apostrophe (`'90s`).
pub(super) fn merge_clitics(text: &str, subtokens: &[Subtoken]) -> Vec<Subtoken> {
    let apostrophe = |i: usize| subtokens.get(i).is_some_and(|s| is_apostrophe(s.slice(text)));
    let mut out: Vec<Subtoken> = Vec::with_capacity(subtokens.len());
    let mut i = 0;
    while i < subtokens.len() {
        let current = subtokens[i];
        let word = subtokens.get(i + 1).filter(|s| s.kind == SubtokenKind::Word && apostrophe(i));
        let merged = word.and_then(|word| {
            let before = out.last().copied();
            merged_with_apostrophe(text, before, current.start, *word, apostrophe(i + 2))
        });
        if let Some(merged) = merged
            && let Some(before) = out.last_mut()
        {
            // The new subtoken may take a part of the one before it.
            before.end = before.end.min(merged.start);
            if before.start == before.end {
                out.pop();
            }
        }
        out.push(merged.unwrap_or(current));
        i += if merged.is_some() { 2 } else { 1 };
    }
    out
}

/// Returns the subtoken of an apostrophe and the `word` after it, if they belong together, given
/// the subtoken before. `closed` is true if another apostrophe follows, so that the two may be
/// quotation marks.
fn merged_with_apostrophe(
    text: &str,
    before: Option<Subtoken>,
    apostrophe: usize,
    word: Subtoken,
    closed: bool,
) -> Option<Subtoken> {
    use SubtokenKind::{Clitic, Symbol, Word};
    let letters = word.slice(text);
    let any = |list: &[&str]| list.iter().any(|s| letters.eq_ignore_ascii_case(s));
    let clitic = any(&["s", "m", "re", "ve", "ll", "d"]);
    let (start, kind) = match before.map(|before| (before.kind, before, before.slice(text))) {
        // `n't`: the last letter of the preceding word belongs to the clitic.
        Some((Word, before, stem)) if any(&["t"]) && ends_in_n(stem) => (before.end - 1, Clitic),
        // `80's`: the apostrophe and the word belong to the preceding number.
        Some((Word, before, stem)) if any(&["s"]) && is_number(stem) => (before.start, Word),
        Some((Word | Clitic, ..)) if clitic => (apostrophe, Clitic),
        Some((Symbol, _, symbol)) if clitic && takes_clitic(symbol) => (apostrophe, Clitic),
        None if clitic && !closed => (apostrophe, Clitic),
        // `'90s`, `'em`: the apostrophe stands for omitted characters at the start of the word.
        None | Some((Symbol, ..)) if !closed && is_shortened(letters) => (apostrophe, Word),
        Some((Word, _, stem)) if is_year(letters) && !is_number(stem) => (apostrophe, Word),
        _ => return None,
    };
    Some(Subtoken { start, end: word.end, kind })
}

fn ends_in_n(stem: &str) -> bool {
    stem.ends_with(['n', 'N']) && stem.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Returns whether a symbol can end a word that takes a clitic: `U.S.'s`, `C++'s`, `“X”'s`.
fn takes_clitic(symbol: &str) -> bool {
    matches!(symbol, "." | "+" | "#" | "%" | "!" | ")" | "]" | "\"" | "”")
}

/// Returns whether a word can follow an apostrophe that marks an omission: `'em`, `'90s`.
fn is_shortened(word: &str) -> bool {
    let words = ["em", "til", "cause", "bout", "tis", "twas", "n"];
    is_year(word) || words.iter().any(|w| word.eq_ignore_ascii_case(w))
}

fn is_year(word: &str) -> bool {
    let year = word.strip_suffix('s').unwrap_or(word);
    year.len() == 2 && is_number(year)
}
