//! Runs of text without white space, split into subtokens.
//!
//! The splits are the UAX #29 word boundaries that are also grapheme cluster boundaries, so a
//! combining mark is never separated from its base, and flags and emoji families stay whole. UAX
//! #29 lets some symbols (`. , ; : ' ’`) bind the letters around them. That is too much for a
//! tagger (`end.The`, `it's`, `a:b`), so these are always subtokens of their own, and the rules in
//! `word`, `web` and `abbreviation` determine where they bind. English clitics are merged last.
//! Also the tokens that those rules make of subtokens.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

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
struct Subtoken {
    start: usize,
    end: usize,
    kind: SubtokenKind,
}

/// The combining mark that turns a digit, `#` or `*` into an emoji.
const KEYCAP: char = '\u{20E3}';

impl Subtoken {
    /// Classifies the bytes from `start` to `end` of `text` as a word or a symbol.
    fn classify(text: &str, start: usize, end: usize) -> Self {
        let text = &text[start..end];
        let word = text.contains(char::is_alphanumeric) && !text.ends_with(KEYCAP);
        Self { start, end, kind: if word { SubtokenKind::Word } else { SubtokenKind::Symbol } }
    }

    /// Returns its part of `text`.
    fn slice(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// Returns whether a grapheme cluster is always a separate subtoken.
fn stands_alone(cluster: &str) -> bool {
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
fn merge_clitics(text: &str, subtokens: &[Subtoken]) -> Vec<Subtoken> {
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
        // `U.S.'s`, `C++'s`, `“X”'s`
        Some((Symbol, _, "." | "+" | "#" | "%" | "!" | ")" | "]" | "\"" | "”")) if clitic => {
            (apostrophe, Clitic)
        }
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

/// Returns whether a word can follow an apostrophe that marks an omission: `'em`, `'90s`.
fn is_shortened(word: &str) -> bool {
    let words = ["em", "til", "cause", "bout", "tis", "twas", "n"];
    is_year(word) || words.iter().any(|w| word.eq_ignore_ascii_case(w))
}

fn is_year(word: &str) -> bool {
    let year = word.strip_suffix('s').unwrap_or(word);
    year.len() == 2 && is_number(year)
}

/// A run of text without white space, split into subtokens, and the text after it.
#[derive(Debug)]
pub(super) struct TextRun<'t> {
    text: &'t str,
    after: &'t str,
    subtokens: Vec<Subtoken>,
    /// Whether the run contains `@`. Most do not and need not be searched for e-mail addresses.
    pub(super) has_at: bool,
}

impl<'t> TextRun<'t> {
    /// Splits `text`, which has no white space and is followed by `after`. Linear time.
    pub(super) fn new(text: &'t str, after: &'t str) -> Self {
        let mut subtokens = Vec::new();
        let mut boundaries = text.split_word_bound_indices().map(|(i, w)| i + w.len());
        let mut boundary = boundaries.next();
        let mut open = 0;
        for (start, cluster) in text.grapheme_indices(true) {
            let end = start + cluster.len();
            let alone = stands_alone(cluster);
            if alone && open < start {
                subtokens.push(Subtoken::classify(text, open, start));
                open = start;
            }
            while boundary.is_some_and(|boundary| boundary < end) {
                boundary = boundaries.next();
            }
            if alone || boundary == Some(end) {
                subtokens.push(Subtoken::classify(text, open, end));
                open = end;
            }
        }
        if subtokens.len() > 1 {
            subtokens = merge_clitics(text, &subtokens);
        }
        Self { text, after, subtokens, has_at: text.contains('@') }
    }

    /// Returns the number of subtokens.
    pub(super) fn len(&self) -> usize {
        self.subtokens.len()
    }

    /// Returns the byte offset of subtoken `i` in the run; past the last subtoken, the length of
    /// the run.
    pub(super) fn start(&self, i: usize) -> usize {
        self.subtokens.get(i).map_or(self.text.len(), |s| s.start)
    }

    /// Returns the text of subtoken `i`; empty past the last.
    pub(super) fn text(&self, i: usize) -> &'t str {
        self.subtokens.get(i).map_or("", |s| s.slice(self.text))
    }

    /// Returns the text from subtoken `i` to the end of the run.
    pub(super) fn tail(&self, i: usize) -> &'t str {
        &self.text[self.start(i)..]
    }

    /// Returns the text from subtoken `i` on, in the run or after the white space that follows it.
    pub(super) fn following(&self, i: usize) -> &'t str {
        if i < self.len() { self.tail(i) } else { self.after.trim_start() }
    }

    /// Returns the kind of subtoken `i`, if there is one.
    pub(super) fn kind(&self, i: usize) -> Option<SubtokenKind> {
        self.subtokens.get(i).map(|s| s.kind)
    }

    /// Returns the text of subtoken `i` if it is a word.
    pub(super) fn word(&self, i: usize) -> Option<&'t str> {
        (self.kind(i) == Some(SubtokenKind::Word)).then(|| self.text(i))
    }

    /// Returns the index of the subtoken, from `i` on, that starts at byte `start` of the run. The
    /// end of the run counts as the start of one more subtoken.
    pub(super) fn index_at(&self, i: usize, start: usize) -> Option<usize> {
        let subtokens = self.subtokens.get(i..)?;
        if start == self.text.len() {
            return Some(self.len());
        }
        subtokens.binary_search_by_key(&start, |s| s.start).ok().map(|k| i + k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subtokens(text: &str) -> Vec<&str> {
        let run = TextRun::new(text, "");
        (0..run.len()).map(|i| run.text(i)).collect()
    }

    #[test]
    fn binding_symbols_stand_alone_and_clitics_are_whole() {
        assert_eq!(subtokens("end.The"), ["end", ".", "The"]);
        assert_eq!(subtokens("a:b;c"), ["a", ":", "b", ";", "c"]);
        assert_eq!(subtokens("shouldn’t've"), ["should", "n’t", "'ve"]);
        assert_eq!(subtokens("n't"), ["n't"]);
        assert_eq!(subtokens("the80's"), ["the80", "'s"]);
        assert_eq!(subtokens("80's"), ["80's"]);
        assert_eq!(subtokens("('90s)"), ["(", "'90s", ")"]);
        assert_eq!(subtokens("d'accord"), ["d", "'", "accord"]);
        assert_eq!(subtokens("'s'"), ["'", "s", "'"]);
    }

    #[test]
    fn grapheme_clusters_are_never_split() {
        assert_eq!(subtokens("e\u{301}.\u{301}x"), ["e\u{301}", ".\u{301}", "x"]);
        assert_eq!(subtokens("1️⃣2️⃣"), ["1️⃣", "2️⃣"]);
        assert_eq!(subtokens("\u{600}(x"), ["\u{600}(", "x"]);
        assert_eq!(subtokens("👨‍👩‍👧🇩🇪🇫🇷"), ["👨‍👩‍👧", "🇩🇪", "🇫🇷"]);
    }
}
