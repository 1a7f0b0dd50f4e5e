//! The rules that combine subtokens into tokens, in the order in which they are tried.

use super::abbreviation::match_abbreviation;
use super::text_run::{SubtokenKind, TextRun, Token, TokenKind, is_apostrophe, is_number};
use super::web;

/// Returns the tokens of a text. Linear time: every rule either has bounded lookahead or consumes
/// what it has looked at.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (text_run, after) = rest.split_at(length);
        let start = text.len() - rest.len();
        let run = TextRun::new(text_run, after);
        let mut at = 0;
        while at < run.len() {
            let (end, kind) = match run.kind(at) {
                Some(SubtokenKind::Word) => word(&run, at),
                Some(SubtokenKind::Symbol) => symbol(&run, at),
                Some(SubtokenKind::Clitic) | None => (at + 1, TokenKind::Word),
            };
            tokens.push(Token { bytes: start + run.start(at)..start + run.start(end), kind });
            at = end;
        }
        rest = after.trim_start();
    }
    tokens
}

/// Matches a token that starts with a letter or digit.
fn word(run: &TextRun<'_>, at: usize) -> (usize, TokenKind) {
    if let Some(end) = web::url(run, at).or_else(|| web::email(run, at)) {
        return (end, TokenKind::Word);
    }
    if let Some(end) = web::emoticon(run, at) {
        return (end, TokenKind::Emoticon);
    }
    let name = web::dotted_name(run, at).map(|end| (end, TokenKind::Word));
    let found = name.or_else(|| match_abbreviation(run, at));
    let (end, kind) = found.unwrap_or((at + 1, TokenKind::Word));
    let last = extend_joined(run, end);
    let kind = if last > end { TokenKind::Word } else { kind };
    (extend_suffix(run, last), kind)
}

/// Extends a word that ends before subtoken `end` over all words joined to it.
fn extend_joined(run: &TextRun<'_>, mut end: usize) -> usize {
    loop {
        // `women's-rights` is one token although `women's` is two.
        let clitic = usize::from(run.kind(end) == Some(SubtokenKind::Clitic));
        let Some(next) = joined_word(run, end + clitic) else { return end };
        if clitic == 1 && run.text(end + 1) != "-" {
            return end;
        }
        end = next + 1;
    }
}

/// Returns the index of the word that the symbol at `at` joins to the subtoken before it, if any.
fn joined_word(run: &TextRun<'_>, at: usize) -> Option<usize> {
    let before = run.text(at.checked_sub(1)?);
    let mut next = at + 1;
    if run.text(at) == "*" {
        while run.text(next) == "*" {
            next += 1;
        }
    } else if run.tail(at).starts_with("&amp;") {
        next += 2;
    }
    let after = run.word(next)?;
    joins(before, run.text(at), after).then_some(next)
}

/// Returns whether a symbol joins the words on either side of it.
fn joins(before: &str, symbol: &str, after: &str) -> bool {
    let digits = before.ends_with(char::is_numeric) && after.starts_with(char::is_numeric);
    let letters = |word: &str| word.chars().all(char::is_alphabetic);
    match symbol {
        "-" | "\u{2010}" | "\u{2011}" => true,
        "." => digits || (is_number(before) && after.eq_ignore_ascii_case("x")),
        "," | ":" => digits,
        "/" => (is_number(before) && is_number(after)) || (before.len() == 1 && after.len() == 1),
        "@" | "*" => letters(before) && letters(after),
        "&" => is_acronym(before) && is_acronym(after),
        _ => is_apostrophe(symbol) && (letters(before) || digits),
    }
}

/// Returns whether a word can be part of `AT&T`, `R&D`, `p&l`.
fn is_acronym(word: &str) -> bool {
    let capitals = word.bytes().all(|b| b.is_ascii_uppercase());
    (capitals && word.len() <= 5) || word.len() == 1
}

/// Extends a word over symbols that end it: `C++`, `C#`, `w/`, the `$` of `US$5`.
fn extend_suffix(run: &TextRun<'_>, end: usize) -> usize {
    let word = run.text(end - 1);
    let next = |i: usize| run.text(end + i);
    let number = || run.following(end + 1).starts_with(|c: char| c.is_ascii_digit());
    let upper = word.bytes().all(|b| b.is_ascii_uppercase());
    match next(0) {
        "+" if next(1) == "+" && next(2) != "+" && run.word(end + 2).is_none() => end + 2,
        "#" if matches!(word, "C" | "F" | "J") && run.word(end + 1).is_none() => end + 1,
        "/" if word.eq_ignore_ascii_case("w") => end + 1,
        "$" | "€" | "£" | "¥" if upper && word.len() <= 3 && number() => end + 1,
        _ => end,
    }
}

/// Matches a token that starts with a symbol.
fn symbol(run: &TextRun<'_>, at: usize) -> (usize, TokenKind) {
    if let Some(end) = web::emoticon(run, at) {
        return (end, TokenKind::Emoticon);
    }
    if let Some(end) = web::sigil(run, at) {
        return (end, TokenKind::Word);
    }
    if let Some(end) = web::entity(run, at) {
        return (end, TokenKind::Symbol);
    }
    let text = run.text(at);
    let first = at == 0 || is_opening(run.text(at - 1));
    let number = run.word(at + 1).is_some_and(|w| w.starts_with(char::is_numeric));
    if first && number && matches!(text, "-" | "+" | "−" | "±" | ".") {
        return (extend_suffix(run, extend_joined(run, at + 2)), TokenKind::Word);
    }
    if first && text == "." && web::is_extension(run, at + 1) {
        return (at + 2, TokenKind::Word);
    }
    (repetition_end(run, at), TokenKind::Symbol)
}

/// Returns the end of a repetition of the same symbol, or of a mix of `!` and `?`. Brackets, double
/// quotes, emoji and other symbols stand alone; `''` and ` `` ` are Penn Treebank quotes.
fn repetition_end(run: &TextRun<'_>, at: usize) -> usize {
    let first = run.text(at);
    let follows = |i: usize| match first {
        "!" | "?" => matches!(run.text(i), "!" | "?"),
        "'" | "’" | "`" => i == at + 1 && run.text(i) == first,
        _ => run.text(i) == first,
    };
    match repeats(first) {
        true => at + 1 + (at + 1..run.len()).take_while(|&i| follows(i)).count(),
        false => at + 1,
    }
}

/// Returns whether repetitions of a symbol are a single token.
fn repeats(symbol: &str) -> bool {
    let Some(c) = symbol.chars().next() else { return false };
    let punctuation = matches!(c,
        '!'..='~' | '¡'..='¿' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}'
        | '、'..='〜' | '・' | '！'..='～');
    punctuation && !is_opening(symbol) && !is_closing(symbol)
        || matches!(symbol, "<" | ">" | "'" | "’" | "`")
}

/// Returns whether a token is an opening bracket or quote, possibly repeated. Straight quotes
/// count.
pub(super) fn is_opening(symbol: &str) -> bool {
    const SYMBOLS: &str = "([{<\"'`‘’“”„‚«‹¿¡（［｛「『【《〈〔＂";
    !symbol.is_empty() && symbol.chars().all(|c| SYMBOLS.contains(c))
}

/// Returns whether a token is a closing bracket or quote, possibly repeated. Straight quotes count.
pub(super) fn is_closing(symbol: &str) -> bool {
    const SYMBOLS: &str = ")]}>\"'’”“»›）］｝」』】》〉〕＂";
    !symbol.is_empty() && symbol.chars().all(|c| SYMBOLS.contains(c))
}
