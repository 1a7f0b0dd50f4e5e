//! Abbreviations: where a full stop belongs to the word before it.

use super::atom::Chunk;
use super::token::Kind;

/// Abbreviations that share a rule.
struct List {
    /// Lower case, sorted.
    words: &'static [&'static str],
    /// They end a sentence never (`Title`) or before a word that begins one (`Abbreviation`).
    kind: Kind,
    /// Are ordinary words in lower case (`Col.`, not `col.`).
    capital: bool,
    /// Are ordinary words unless a number follows (`No. 5`).
    number: bool,
}

const LISTS: &[List] = &[
    List {
        words: &[
            "attn", "capt", "cf", "cmdr", "cpl", "dr", "drs", "eg", "ie", "lt", "messrs", "mgr",
            "mlle", "mme", "mr", "mrs", "ms", "prof", "pvt", "sgt", "sra", "sres", "srta", "supt",
            "v", "viz", "vs",
        ],
        kind: Kind::Title,
        capital: false,
        number: false,
    },
    List {
        words: &[
            "adm", "col", "gen", "gov", "hon", "insp", "maj", "pres", "rep", "reps", "rev", "sen",
            "sens",
        ],
        kind: Kind::Title,
        capital: true,
        number: false,
    },
    List {
        words: &[
            "approx", "assn", "ave", "blvd", "bzw", "calif", "corp", "dept", "esp", "ext", "ft",
            "govt", "hrs", "inc", "incl", "intl", "lb", "lbs", "ltd", "mins", "mt", "natl", "oz",
            "st", "ste", "univ", "yrs",
        ],
        kind: Kind::Abbreviation,
        capital: false,
        number: false,
    },
    List {
        words: &[
            "ala", "apr", "ariz", "aug", "bros", "cie", "co", "colo", "conn", "cos", "dec", "esq",
            "feb", "fla", "fri", "ga", "ill", "jan", "jr", "jul", "jun", "kan", "ky", "la", "mass",
            "md", "mich", "minn", "mon", "neb", "nev", "nov", "oct", "okla", "pa", "penn", "rd",
            "sep", "sept", "sr", "tenn", "tex", "thu", "thur", "thurs", "tue", "tues", "va", "vt",
            "wed", "wis", "wyo",
        ],
        kind: Kind::Abbreviation,
        capital: true,
        number: false,
    },
    List {
        words: &[
            "ch", "fig", "figs", "nr", "núm", "p", "pp", "pág", "págs", "sec", "vol", "vols",
        ],
        kind: Kind::Title,
        capital: false,
        number: true,
    },
    List {
        words: &["etc", "usw"],
        kind: Kind::AndSoOn,
        capital: false,
        number: false,
    },
    List {
        words: &["art", "mar", "no", "nos", "sat", "sun"],
        kind: Kind::Title,
        capital: true,
        number: true,
    },
];

/// Abbreviations with a stop inside and a piece of more than one letter, without the last stop.
const DOTTED: &[&str] = &[
    "b.sc", "d.phil", "ed.d", "ee.uu", "ll.b", "ll.d", "m.sc", "p.ej", "ph.d", "s.p.a",
];

/// Words that begin a sentence far more often than a name: after an abbreviation or an initial
/// they say that the sentence ended.
const STARTERS: &[&str] = &[
    "a", "after", "all", "also", "although", "an", "and", "as", "at", "because", "before", "both",
    "but", "by", "each", "even", "for", "from", "he", "her", "here", "his", "how", "however", "if",
    "in", "is", "it", "its", "many", "most", "my", "no", "not", "now", "of", "on", "one", "or",
    "our", "please", "she", "since", "so", "some", "still", "that", "the", "their", "then",
    "there", "these", "they", "this", "those", "though", "to", "was", "we", "what", "when",
    "where", "which", "while", "who", "why", "with", "yes", "yet", "you", "your",
];

/// Longest entry of the lists in bytes: longer words are not looked up.
const LONGEST: usize = 8;

/// The abbreviation that starts at atom `at`, its full stop included: the atom after it and how it
/// ends a sentence.
pub(super) fn end(chunk: &Chunk<'_>, at: usize) -> Option<(usize, Kind)> {
    let word = chunk.word(at)?;
    if chunk.text(at + 1) != "." {
        return None;
    }
    if let Some(found) = initials(chunk, at, word) {
        return Some(found);
    }
    let stop = at + 1;
    if chunk.text(stop + 1) == "." {
        return None; // an ellipsis
    }
    let kind = kind(word, chunk.following(stop + 1))?;
    Some((stop + 1, kind))
}

/// The kind of a listed abbreviation that is followed by `following`.
fn kind(word: &str, following: &str) -> Option<Kind> {
    if word.len() > LONGEST {
        return None;
    }
    let capital = word.starts_with(char::is_uppercase);
    let lower = word.to_lowercase();
    if lower == "al" && !capital {
        return Some(Kind::Abbreviation); // et al.
    }
    let number = following.starts_with(|c: char| c.is_ascii_digit());
    let applies = |list: &&List| {
        (capital || !list.capital)
            && (number || !list.number)
            && list.words.binary_search(&lower.as_str()).is_ok()
    };
    LISTS.iter().find(applies).map(|list| list.kind)
}

/// Letters with stops: `U.S.`, `e.g.`, `a.k.a`, `Ph.D.`, and the single initial of a name.
fn initials(chunk: &Chunk<'_>, at: usize, word: &str) -> Option<(usize, Kind)> {
    if let Some(end) = dotted(chunk, at) {
        return Some((end, Kind::Abbreviation));
    }
    if !is_letter(word) {
        return None;
    }
    let mut end = at + 1; // after the last letter
    let mut pieces = 1;
    while chunk.text(end) == "." && chunk.word(end + 1).is_some_and(is_letter) {
        end += 2;
        pieces += 1;
    }
    let stopped = chunk.text(end) == "." && chunk.text(end + 1) != ".";
    if pieces > 1 {
        let text = &chunk.tail(at)[..chunk.start(end) - chunk.start(at)];
        let introduces = ["e.g", "i.e", "p.s", "a.k.a"]
            .iter()
            .any(|s| text.eq_ignore_ascii_case(s));
        let kind = match (stopped, introduces) {
            (false, _) => Kind::Word,
            (true, true) => Kind::Title,
            (true, false) => Kind::Abbreviation,
        };
        return Some((end + usize::from(stopped), kind));
    }
    let initial =
        stopped && word.starts_with(char::is_uppercase) && is_before_name(chunk.following(end + 1));
    initial.then_some((end + 1, Kind::Title))
}

/// An abbreviation of [`DOTTED`], with its last stop if there is one.
fn dotted(chunk: &Chunk<'_>, at: usize) -> Option<usize> {
    let mut text = chunk.word(at)?.to_lowercase();
    let mut end = at + 1;
    while chunk.text(end) == "." && text.len() <= LONGEST {
        text.push('.');
        text.push_str(&chunk.word(end + 1)?.to_lowercase());
        end += 2;
        if DOTTED.binary_search(&text.as_str()).is_ok() {
            let stopped = chunk.text(end) == "." && chunk.text(end + 1) != ".";
            return Some(end + usize::from(stopped));
        }
    }
    None
}

/// Whether what follows a letter with a stop makes it an initial: `J. Smith`, `J. R. Smith`,
/// `Smith, J., and`; not `Plan B. The next`.
fn is_before_name(following: &str) -> bool {
    let following = following.trim_start_matches(['"', '“', '(']); // Martin J. "Hoot" McInerney
    let mut chars = following.chars();
    match chars.next() {
        Some(',') => true,
        Some(c) if c.is_uppercase() => chars.next() == Some('.') || !starts_sentence(following),
        _ => false,
    }
}

/// Whether the first word of a text begins sentences rather than names.
pub(super) fn starts_sentence(text: &str) -> bool {
    let end = text
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(text.len());
    let word = &text[..end];
    word.len() <= LONGEST
        && word.starts_with(char::is_uppercase)
        && STARTERS
            .binary_search(&word.to_lowercase().as_str())
            .is_ok()
}

fn is_letter(word: &str) -> bool {
    let mut chars = word.chars();
    let cased = |c: char| c.is_uppercase() || c.is_lowercase();
    chars.next().is_some_and(cased) && chars.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_their_entries_short() {
        let lists = LISTS.iter().map(|list| list.words);
        for list in lists.chain([DOTTED, STARTERS]) {
            assert!(list.is_sorted(), "{list:?}");
            assert!(list.iter().all(|word| word.len() <= LONGEST), "{list:?}");
        }
    }

    #[test]
    fn a_name_follows_an_initial_and_a_starter_does_not() {
        for name in ["Smith", "A. Smith", ", K., and", "\"Hoot\" Smith"] {
            assert!(is_before_name(name), "{name}");
        }
        for other in ["The", "it", "", "\" He"] {
            assert!(!is_before_name(other), "{other}");
        }
    }
}
