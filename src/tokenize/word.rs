//! The rules that make words of atoms, in the order in which they are tried.

use super::atom::{self, Chunk, is_apostrophe, is_number};
use super::token::{Kind, Token};
use super::{abbreviation, emoticon, web};

/// The tokens of a text. Linear time: every rule looks a bounded number of atoms ahead, or takes
/// what it has looked at.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (chunk, after) = rest.split_at(length);
        let start = text.len() - rest.len();
        let chunk = Chunk::new(chunk, after);
        let mut at = 0;
        while at < chunk.len() {
            let (end, kind) = next(&chunk, at);
            tokens.push(Token {
                bytes: start + chunk.start(at)..start + chunk.start(end),
                kind,
            });
            at = end;
        }
        rest = after.trim_start();
    }
    tokens
}

/// The token that starts at atom `at`: the atom after it, and its kind.
fn next(chunk: &Chunk<'_>, at: usize) -> (usize, Kind) {
    match chunk.kind(at) {
        Some(atom::Kind::Word) => word(chunk, at),
        Some(atom::Kind::Mark) => mark(chunk, at),
        Some(atom::Kind::Clitic) | None => (at + 1, Kind::Word),
    }
}

/// A token that starts with a letter or digit.
fn word(chunk: &Chunk<'_>, at: usize) -> (usize, Kind) {
    if let Some(end) = web::url(chunk, at).or_else(|| web::email(chunk, at)) {
        return (end, Kind::Word);
    }
    if let Some(end) = emoticon::end(chunk, at) {
        return (end, Kind::Emoticon);
    }
    let (end, kind) = if let Some(end) = web::dotted_name(chunk, at) {
        (end, Kind::Word)
    } else if let Some(found) = abbreviation::end(chunk, at) {
        found
    } else {
        (at + 1, Kind::Word)
    };
    let last = joined(chunk, end);
    let kind = if last > end { Kind::Word } else { kind };
    (suffixed(chunk, last), kind)
}

/// Extends a word that ends before atom `end` over all that is tied to it.
fn joined(chunk: &Chunk<'_>, mut end: usize) -> usize {
    loop {
        // `women's-rights` is one word although `women's` is two.
        let clitic = usize::from(chunk.kind(end) == Some(atom::Kind::Clitic));
        let Some(next) = binder(chunk, end + clitic) else {
            return end;
        };
        if clitic == 1 && chunk.text(end + 1) != "-" {
            return end;
        }
        end = next + 1;
    }
}

/// The word that the mark at `at` ties to the atom before it.
fn binder(chunk: &Chunk<'_>, at: usize) -> Option<usize> {
    let before = chunk.text(at.checked_sub(1)?);
    let mut next = at + 1;
    if chunk.text(at) == "*" {
        while chunk.text(next) == "*" {
            next += 1;
        }
    } else if chunk.tail(at).starts_with("&amp;") {
        next += 2;
    }
    let after = chunk.word(next)?;
    binds(before, chunk.text(at), after).then_some(next)
}

/// Whether a mark makes one word of the words at its sides.
fn binds(before: &str, mark: &str, after: &str) -> bool {
    let digits = before.ends_with(char::is_numeric) && after.starts_with(char::is_numeric);
    let letters = |word: &str| word.chars().all(char::is_alphabetic);
    match mark {
        "-" | "\u{2010}" | "\u{2011}" => true,
        "." => digits || (is_number(before) && after.eq_ignore_ascii_case("x")),
        "," | ":" => digits,
        "/" => (is_number(before) && is_number(after)) || (before.len() == 1 && after.len() == 1),
        "@" | "*" => letters(before) && letters(after),
        "&" => is_company(before) && is_company(after),
        _ => is_apostrophe(mark) && (letters(before) || digits),
    }
}

/// Whether a word can be a side of `AT&T`, `R&D`, `p&l`.
fn is_company(word: &str) -> bool {
    let capitals = word.bytes().all(|b| b.is_ascii_uppercase());
    (capitals && word.len() <= 5) || word.len() == 1
}

/// Takes in the marks that end some words: `C++`, `C#`, `w/`, the `$` of `US$5`.
fn suffixed(chunk: &Chunk<'_>, end: usize) -> usize {
    let word = chunk.text(end - 1);
    let next = |i: usize| chunk.text(end + i);
    let number = || {
        chunk
            .following(end + 1)
            .starts_with(|c: char| c.is_ascii_digit())
    };
    let upper = word.bytes().all(|b| b.is_ascii_uppercase());
    match next(0) {
        "+" if next(1) == "+" && next(2) != "+" && chunk.word(end + 2).is_none() => end + 2,
        "#" if matches!(word, "C" | "F" | "J") && chunk.word(end + 1).is_none() => end + 1,
        "/" if word.eq_ignore_ascii_case("w") => end + 1,
        "$" | "€" | "£" | "¥" if upper && word.len() <= 3 && number() => end + 1,
        _ => end,
    }
}

/// A token that starts with a mark.
fn mark(chunk: &Chunk<'_>, at: usize) -> (usize, Kind) {
    if let Some(end) = emoticon::end(chunk, at) {
        return (end, Kind::Emoticon);
    }
    if let Some(end) = web::sigil(chunk, at) {
        return (end, Kind::Word);
    }
    if let Some(end) = web::entity(chunk, at) {
        return (end, Kind::Mark);
    }
    let text = chunk.text(at);
    let first = at == 0 || is_opening(chunk.text(at - 1));
    let number = chunk
        .word(at + 1)
        .is_some_and(|w| w.starts_with(char::is_numeric));
    if first && number && matches!(text, "-" | "+" | "−" | "±" | ".") {
        return (suffixed(chunk, joined(chunk, at + 2)), Kind::Word);
    }
    if first && text == "." && web::is_extension(chunk, at + 1) {
        return (at + 2, Kind::Word);
    }
    (run(chunk, at), Kind::Mark)
}

/// The end of a run of the same mark, or of `!` and `?` mixed. Brackets, double quotes, emoji and
/// other symbols stand alone; `''` and ` `` ` are Penn Treebank quotes.
fn run(chunk: &Chunk<'_>, at: usize) -> usize {
    let first = chunk.text(at);
    let follows = |i: usize| match first {
        "!" | "?" => matches!(chunk.text(i), "!" | "?"),
        "'" | "’" | "`" => i == at + 1 && chunk.text(i) == first,
        _ => chunk.text(i) == first,
    };
    let mut end = at + 1;
    if repeats(first) {
        while end < chunk.len() && follows(end) {
            end += 1;
        }
    }
    end
}

/// Whether a mark makes a longer mark when it is repeated.
fn repeats(mark: &str) -> bool {
    let Some(c) = mark.chars().next() else {
        return false;
    };
    let punctuation = matches!(c,
        '!'..='~' | '¡'..='¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}'
        | '、'..='〜' | '・' | '！'..='～');
    punctuation && !is_opening(mark) && !is_closing(mark)
        || matches!(mark, "<" | ">" | "'" | "’" | "`")
}

/// Opening brackets and quotes, alone or repeated, and those that do not show their side.
pub(super) fn is_opening(mark: &str) -> bool {
    const MARKS: &str = "([{<\"'`‘’“”„‚«‹¿¡（［｛「『【《〈〔＂";
    !mark.is_empty() && mark.chars().all(|c| MARKS.contains(c))
}

/// Closing brackets and quotes, alone or repeated, and those that do not show their side.
pub(super) fn is_closing(mark: &str) -> bool {
    const MARKS: &str = ")]}>\"'’”“»›）］｝」』】》〉〕＂";
    !mark.is_empty() && mark.chars().all(|c| MARKS.contains(c))
}
