//! Where sentences end.
//!
//! The rules work on tokens, not on characters as UAX #29 does: a stop inside an address, a
//! number or an abbreviation is not seen at all. They differ from UAX #29 in four more points:
//!
//! - a full stop ends a sentence before a small letter too (after white space): people who write
//!   without capitals are common, abbreviations that `abbreviation` does not know are rare;
//! - a question or quotation that its sentence goes on after (`"Why?" he asked`) does not end it,
//!   nor does the number of a list item (`1. First`);
//! - an emoticon or emoji after the stop belongs to the sentence before it; an emoticon before a
//!   capital letter ends a sentence without any stop;
//! - one line end is white space (text is often wrapped); an empty line ends a sentence.
//!
//! UAX #29's rule SB8 looks any distance ahead, so its time can be quadratic; this one's is linear.

use unicode_segmentation::UnicodeSegmentation;

use super::abbreviation::starts_sentence;
use super::token::{Kind, Token};
use super::word::{is_closing, is_opening};

/// For each sentence of `text` the token after its last one.
pub(super) fn ends(text: &str, tokens: &[Token]) -> Vec<usize> {
    let splitter = Splitter { text, tokens };
    let mut ends = Vec::new();
    let mut first = 0;
    while first < tokens.len() {
        first = splitter.end(first);
        ends.push(first);
    }
    ends
}

struct Splitter<'t> {
    text: &'t str,
    tokens: &'t [Token],
}

/// What stands at the possible end of a sentence, and how firmly it ends it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stop {
    /// `…`: ends it before a capital letter.
    Ellipsis,
    /// `.`, `!`, `?`: ends it unless something shows that it goes on.
    Full,
    /// `。` and its like, which no white space follows.
    Ideographic,
}

impl<'t> Splitter<'t> {
    /// The end of the sentence that starts at token `first`.
    fn end(&self, first: usize) -> usize {
        let mut i = first;
        while i < self.tokens.len() {
            let stop = stop(self.token(i));
            i += 1;
            let Some(stop) = stop else {
                if self.is_paragraph_end(i) {
                    return i;
                }
                if let Some(end) = self.end_without_stop(first, i) {
                    return end;
                }
                continue;
            };
            let (end, stop) = self.absorb(i, stop);
            let item = end == i && self.is_item_number(first, i);
            if self.is_paragraph_end(end) || (!item && self.parts(i, end, stop)) {
                return end;
            }
            i = end;
        }
        self.tokens.len()
    }

    /// What follows a stop and still belongs to it: more stops, closing quotes and brackets,
    /// emoticons.
    fn absorb(&self, mut i: usize, mut found: Stop) -> (usize, Stop) {
        while i < self.tokens.len() && !self.is_paragraph_end(i) {
            let token = self.token(i);
            if let Some(stop) = stop(token) {
                if stop == Stop::Ellipsis && self.has_space_before(i) {
                    break;
                }
                found = found.max(stop);
            } else if self.has_space_before(i) {
                if !is_late(token) && !self.is_emotion(i) {
                    break;
                }
            } else if !self.closes(i) && !self.is_emotion(i) {
                break;
            }
            i += 1;
        }
        (i, found)
    }

    /// Whether token `i`, right after a stop, is a closing quote or bracket: `“` closes in German,
    /// but opens where a word follows without white space.
    fn closes(&self, i: usize) -> bool {
        let token = self.token(i);
        is_closing(token)
            && (token != "“" || i + 1 >= self.tokens.len() || self.has_space_before(i + 1))
    }

    /// Whether a sentence ends between `stop`, absorbed up to token `end`, and what follows.
    /// The stop itself ends before token `after_stop`.
    fn parts(&self, after_stop: usize, end: usize, stop: Stop) -> bool {
        let Some(next) = self.tokens.get(end) else {
            return true;
        };
        if stop == Stop::Ideographic {
            return true;
        }
        let first = self.first_letter(end);
        let capital = first.is_some_and(char::is_uppercase);
        if !self.has_space_before(end) {
            return stop == Stop::Full && capital && next.kind == Kind::Word;
        }
        if matches!(self.token(end), "," | ";" | ":") {
            return false;
        }
        let quoted = (after_stop..end).any(|i| is_closing(self.token(i)));
        match stop {
            Stop::Ellipsis => capital,
            _ => !quoted || !first.is_some_and(char::is_lowercase),
        }
    }

    /// The first character of the next word.
    fn first_letter(&self, i: usize) -> Option<char> {
        self.token(self.first_word(i)).chars().next()
    }

    /// The token from `i` on that is not an opening quote or bracket; at most three are skipped.
    fn first_word(&self, i: usize) -> usize {
        let skipped = (i..self.tokens.len().min(i + 3)).take_while(|&k| is_opening(self.token(k)));
        i + skipped.count()
    }

    /// The end of the sentence that starts at token `first`, if the abbreviation or emoticon before
    /// token `i` ended it, with the closing marks that follow: what comes after them tells.
    fn end_without_stop(&self, first: usize, i: usize) -> Option<usize> {
        let kind = self.tokens[i - 1].kind;
        if matches!(kind, Kind::Word | Kind::Title | Kind::Mark) {
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
            Kind::Abbreviation => starts_sentence(next),
            Kind::Emoticon => first + 1 < i && next.starts_with(char::is_uppercase),
            _ => next.starts_with(char::is_uppercase),
        };
        ended.then_some(end)
    }

    /// Whether the full stop before token `end` belongs to the number of a list item: `1. First`,
    /// `- 2. Second`, `as follows: 1. First`.
    fn is_item_number(&self, first: usize, end: usize) -> bool {
        let Some(number) = end.checked_sub(2).filter(|&number| number >= first) else {
            return false;
        };
        let word = self.token(number);
        let letter = word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
        let short = word.len() <= 3 && word.bytes().all(|b| b.is_ascii_digit());
        let bullet = || number == first + 1 && self.tokens[first].kind == Kind::Mark;
        self.token(end - 1) == "."
            && (letter || short)
            && (number == first || bullet() || self.token(number - 1) == ":")
    }

    /// Whether an empty line, or the end of the text, stands before token `i`.
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

    /// The white space before token `i`.
    fn gap(&self, i: usize) -> &'t str {
        let before = i.checked_sub(1).map_or(0, |b| self.tokens[b].bytes.end);
        &self.text[before..self.tokens[i].bytes.start]
    }

    /// The text of token `i`, empty past the last.
    fn token(&self, i: usize) -> &'t str {
        self.tokens
            .get(i)
            .map_or("", |token| &self.text[token.bytes.clone()])
    }

    /// Whether a token is an emoticon or an emoji.
    fn is_emotion(&self, i: usize) -> bool {
        let emoji = |c: char| matches!(c, '\u{1F300}'..='\u{1FAFF}' | '☀'..='➿');
        match self.tokens[i].kind {
            Kind::Emoticon => true,
            Kind::Mark => self.token(i).starts_with(emoji),
            _ => false,
        }
    }
}

/// Closing marks that close even after white space.
fn is_late(mark: &str) -> bool {
    matches!(mark, ")" | "]" | "}" | "”" | "»")
}

/// Which stop a token is.
fn stop(token: &str) -> Option<Stop> {
    let first = token.chars().next()?;
    match first {
        '.' if token.len() == 1 => Some(Stop::Full),
        '.' if token.bytes().all(|b| b == b'.') => Some(Stop::Ellipsis),
        '…' => Some(Stop::Ellipsis),
        '!' | '?' => Some(Stop::Full),
        '．' => Some(Stop::Ideographic),
        _ if first.is_ascii() || first.is_alphanumeric() => None,
        '\u{2000}'..='\u{203B}' => None, // quotes and dashes: common, so kept from the test below
        _ if !is_terminal(first) => None,
        '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FFEF}' => Some(Stop::Ideographic),
        _ => Some(Stop::Full),
    }
}

/// Whether Unicode says that a character ends sentences (`Sentence_Break=STerm`): then, and only
/// then, UAX #29 parts even a small letter that follows it from what stands before.
fn is_terminal(c: char) -> bool {
    let probe = String::from_iter([c, ' ', 'a']);
    probe.split_sentence_bounds().count() == 2
}
