//! Sentence boundary detection.
//!
//! The rules work on tokens, not on characters as UAX #29 does, so periods inside addresses,
//! numbers and abbreviations never matter. They also differ from UAX #29 in four respects:
//!
//! - A period followed by white space ends a sentence before a lower-case letter, too: text
//!   without capitals is common, abbreviations missing from `abbreviation` are rare.
//! - A question or quotation that is followed by the rest of its sentence (`"Why?" he asked`) does
//!   not end it. Neither does the number of a list item (`1. First`).
//! - An emoticon or emoji after the terminator belongs to the sentence before it. An emoticon
//!   before a capital letter ends a sentence without any terminator.
//! - A single line break is white space (text is often wrapped); an empty line ends a sentence.
//!
//! Rule SB8 of UAX #29 has unbounded lookahead, so its time can be quadratic. These rules take
//! linear time.

use unicode_segmentation::UnicodeSegmentation;

use super::abbreviation::starts_sentence;
use super::text_run::{Token, TokenKind};
use super::word::{is_closing, is_opening};

/// Returns the number of tokens of each sentence of `text`.
pub(super) fn sentence_lengths(text: &str, tokens: &[Token]) -> Vec<usize> {
    let splitter = Splitter { text, tokens };
    let mut lengths = Vec::new();
    let mut first = 0;
    while first < tokens.len() {
        let end = splitter.end(first);
        lengths.push(end - first);
        first = end;
    }
    lengths
}

struct Splitter<'t> {
    text: &'t str,
    tokens: &'t [Token],
}

/// A token that may end a sentence, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SentenceTerminator {
    /// `…`: ends a sentence before a capital letter.
    Ellipsis,
    /// `.`, `!`, `?`: ends a sentence unless the context shows that it continues.
    Full,
    /// `。` and other terminators that need no white space after them.
    Ideographic,
}

impl<'t> Splitter<'t> {
    /// Returns the end of the sentence that starts at token `first`.
    fn end(&self, first: usize) -> usize {
        let mut i = first;
        while i < self.tokens.len() {
            let terminator = terminator(self.token(i));
            i += 1;
            let Some(terminator) = terminator else {
                if self.is_paragraph_end(i) {
                    return i;
                }
                if let Some(end) = self.end_without_terminator(first, i) {
                    return end;
                }
                continue;
            };
            let (end, terminator) = self.absorb_trailing(i, terminator);
            let list_number = end == i && self.is_list_number(first, i);
            if self.is_paragraph_end(end) || (!list_number && self.is_boundary(i, end, terminator))
            {
                return end;
            }
            i = end;
        }
        self.tokens.len()
    }

    /// Skips the tokens from `i` on that belong to a terminator before them: more terminators,
    /// closing quotes and brackets, emoticons. Returns their end and the strongest terminator.
    fn absorb_trailing(
        &self,
        mut i: usize,
        mut strongest: SentenceTerminator,
    ) -> (usize, SentenceTerminator) {
        while i < self.tokens.len() && !self.is_paragraph_end(i) {
            let token = self.token(i);
            if let Some(terminator) = terminator(token) {
                if terminator == SentenceTerminator::Ellipsis && self.has_space_before(i) {
                    break;
                }
                strongest = strongest.max(terminator);
            } else if self.has_space_before(i) {
                // These close even after white space.
                let closes = matches!(token, ")" | "]" | "}" | "”" | "»");
                if !closes && !self.is_emoticon_or_emoji(i) {
                    break;
                }
            } else if !self.closes(i) && !self.is_emoticon_or_emoji(i) {
                break;
            }
            i += 1;
        }
        (i, strongest)
    }

    /// Returns whether token `i`, which directly follows a terminator, is a closing quote or
    /// bracket. `“` closes in German, but opens if a word follows without white space.
    fn closes(&self, i: usize) -> bool {
        let token = self.token(i);
        is_closing(token)
            && (token != "“" || i + 1 >= self.tokens.len() || self.has_space_before(i + 1))
    }

    /// Returns whether a sentence ends before token `end`, where `terminator` is followed by
    /// trailing tokens from `trailing` on.
    fn is_boundary(&self, trailing: usize, end: usize, terminator: SentenceTerminator) -> bool {
        let Some(next) = self.tokens.get(end) else { return true };
        if terminator == SentenceTerminator::Ideographic {
            return true;
        }
        let first = self.token(self.first_word(end)).chars().next();
        let capital = first.is_some_and(char::is_uppercase);
        if !self.has_space_before(end) {
            return terminator == SentenceTerminator::Full
                && capital
                && next.kind == TokenKind::Word;
        }
        if matches!(self.token(end), "," | ";" | ":") {
            return false;
        }
        let quoted = (trailing..end).any(|i| is_closing(self.token(i)));
        match terminator {
            SentenceTerminator::Ellipsis => capital,
            _ => !quoted || !first.is_some_and(char::is_lowercase),
        }
    }

    /// Returns the first token from `i` on that is not an opening quote or bracket. Skips at most
    /// three.
    fn first_word(&self, i: usize) -> usize {
        let skipped = (i..self.tokens.len().min(i + 3)).take_while(|&k| is_opening(self.token(k)));
        i + skipped.count()
    }

    /// Returns the end of the sentence that starts at token `first` if the abbreviation or emoticon
    /// before token `i` ends it. Closing quotes and brackets belong to the sentence; the word after
    /// them decides.
    fn end_without_terminator(&self, first: usize, i: usize) -> Option<usize> {
        let kind = self.tokens[i - 1].kind;
        if matches!(kind, TokenKind::Word | TokenKind::NonFinalAbbreviation | TokenKind::Symbol) {
            return None;
        }
        let mut end = i;
        while end < self.tokens.len() && !self.has_space_before(end) {
            if !self.closes(end) {
                return None;
            }
            end += 1;
        }
        let next = self.token(self.first_word(end));
        let ended = match kind {
            TokenKind::Abbreviation => starts_sentence(next),
            TokenKind::Emoticon => first + 1 < i && next.starts_with(char::is_uppercase),
            _ => next.starts_with(char::is_uppercase),
        };
        ended.then_some(end)
    }

    /// Returns whether the period before token `end` belongs to the number of a list item:
    /// `1. First`, `- 2. Second`, `as follows: 1. First`.
    fn is_list_number(&self, first: usize, end: usize) -> bool {
        let Some(number) = end.checked_sub(2).filter(|&number| number >= first) else {
            return false;
        };
        let word = self.token(number);
        let letter = word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
        let short = word.len() <= 3 && word.bytes().all(|b| b.is_ascii_digit());
        let bullet = || number == first + 1 && self.tokens[first].kind == TokenKind::Symbol;
        self.token(end - 1) == "."
            && (letter || short)
            && (number == first || bullet() || self.token(number - 1) == ":")
    }

    /// Returns whether an empty line, or the end of the text, precedes token `i`.
    fn is_paragraph_end(&self, i: usize) -> bool {
        if i >= self.tokens.len() {
            return true;
        }
        let gap = self.gap(i);
        let lines = gap.bytes().filter(|&b| b == b'\n').count();
        lines > 1 || gap.contains('\u{2029}') || (lines == 0 && gap.matches('\r').count() > 1)
    }

    fn has_space_before(&self, i: usize) -> bool {
        !self.gap(i).is_empty()
    }

    /// Returns the white space before token `i`.
    fn gap(&self, i: usize) -> &'t str {
        let before = i.checked_sub(1).map_or(0, |b| self.tokens[b].bytes.end);
        &self.text[before..self.tokens[i].bytes.start]
    }

    /// Returns the text of token `i`; empty past the last.
    fn token(&self, i: usize) -> &'t str {
        self.tokens.get(i).map_or("", |token| &self.text[token.bytes.clone()])
    }

    /// Returns whether token `i` is an emoticon or an emoji.
    fn is_emoticon_or_emoji(&self, i: usize) -> bool {
        let emoji = |c: char| matches!(c, '\u{1F300}'..='\u{1FAFF}' | '☀'..='➿');
        match self.tokens[i].kind {
            TokenKind::Emoticon => true,
            TokenKind::Symbol => self.token(i).starts_with(emoji),
            _ => false,
        }
    }
}

/// Returns the kind of terminator that a token is, if any.
fn terminator(token: &str) -> Option<SentenceTerminator> {
    let first = token.chars().next()?;
    match first {
        '.' if token.len() == 1 => Some(SentenceTerminator::Full),
        '.' if token.bytes().all(|b| b == b'.') => Some(SentenceTerminator::Ellipsis),
        '…' => Some(SentenceTerminator::Ellipsis),
        '!' | '?' => Some(SentenceTerminator::Full),
        '．' => Some(SentenceTerminator::Ideographic),
        _ if first.is_ascii() || first.is_alphanumeric() => None,
        '\u{2000}'..='\u{203B}' => None, // quotes and dashes: common, so skip the test below
        _ if !is_terminal(first) => None,
        '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FFEF}' => Some(SentenceTerminator::Ideographic),
        _ => Some(SentenceTerminator::Full),
    }
}

/// Returns whether a character has the Unicode property `Sentence_Break=STerm`. Only then does UAX
/// #29 break before a lower-case letter that follows it.
fn is_terminal(c: char) -> bool {
    let probe = String::from_iter([c, ' ', 'a']);
    probe.split_sentence_bounds().count() == 2
}
