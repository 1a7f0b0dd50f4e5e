//! English clitics (`'s`, `n't`) and words shortened by an apostrophe (`'em`, `'90s`).

use super::subtoken::{Subtoken, SubtokenKind, is_apostrophe, is_number};

/// Merges each apostrophe of `text` with the letters it belongs to: a clitic becomes one subtoken
/// (`'s`, `n't`), and so does a word that starts with an apostrophe (`'90s`).
pub(super) fn merge_clitics(text: &str, subtokens: &[Subtoken]) -> Vec<Subtoken> {
    let apostrophe = |i: usize| subtokens.get(i).is_some_and(|s| is_apostrophe(s.slice(text)));
    let word = |i: usize| subtokens.get(i).filter(|s| s.kind == SubtokenKind::Word);
    let mut out: Vec<Subtoken> = Vec::with_capacity(subtokens.len());
    let mut i = 0;
    while i < subtokens.len() {
        let current = subtokens[i];
        let Some(word) = word(i + 1).filter(|_| apostrophe(i)) else {
            out.push(current);
            i += 1;
            continue;
        };
        let before = out.last().map(|b| (b.kind, b.slice(text)));
        let role = apostrophe_role(before, word.slice(text), apostrophe(i + 2));
        let end = word.end;
        let (start, kind) = match (role, out.pop()) {
            (ApostropheRole::Not, Some(stem)) => {
                let n = stem.end - 1;
                if stem.start < n {
                    out.push(Subtoken { end: n, ..stem });
                }
                (n, SubtokenKind::Clitic)
            }
            (ApostropheRole::NumberSuffix, Some(number)) => (number.start, SubtokenKind::Word),
            (role, before) => {
                out.extend(before);
                match role {
                    ApostropheRole::Clitic => (current.start, SubtokenKind::Clitic),
                    ApostropheRole::Omission => (current.start, SubtokenKind::Word),
                    _ => {
                        out.push(current);
                        (current.end, SubtokenKind::Word)
                    }
                }
            }
        };
        out.push(Subtoken { start, end, kind });
        i += 2;
    }
    out
}

/// The role of an apostrophe before a word.
enum ApostropheRole {
    /// `n't`: the last letter of the preceding word belongs to the clitic.
    Not,
    /// `'s 'm 're 've 'll 'd`.
    Clitic,
    /// `80's`: the apostrophe and the word belong to the preceding number.
    NumberSuffix,
    /// `'90s`, `'em`: the apostrophe stands for omitted characters at the start of the word.
    Omission,
    /// None of these.
    Other,
}

/// Returns the role of an apostrophe between the subtoken `before` and `word`. `closed` is
/// true if another apostrophe follows, so that the two may be quotation marks.
fn apostrophe_role(
    before: Option<(SubtokenKind, &str)>,
    word: &str,
    closed: bool,
) -> ApostropheRole {
    use SubtokenKind::{Clitic, Symbol, Word};
    let any = |list: &[&str]| list.iter().any(|s| word.eq_ignore_ascii_case(s));
    let clitic = any(&["s", "m", "re", "ve", "ll", "d"]);
    match before {
        Some((Word, stem)) if any(&["t"]) && ends_in_n(stem) => ApostropheRole::Not,
        Some((Word, stem)) if any(&["s"]) && is_number(stem) => ApostropheRole::NumberSuffix,
        Some((Word | Clitic, _)) if clitic => ApostropheRole::Clitic,
        Some((Symbol, symbol)) if clitic && takes_clitic(symbol) => ApostropheRole::Clitic,
        None if clitic && !closed => ApostropheRole::Clitic,
        None | Some((Symbol, _)) if !closed && is_shortened(word) => ApostropheRole::Omission,
        Some((Word, stem)) if is_year(word) && !is_number(stem) => ApostropheRole::Omission,
        _ => ApostropheRole::Other,
    }
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
