//! Abbreviations: words that include a following period.

use super::text_run::{TextRun, TokenKind};

/// Abbreviations that never end a sentence. Those that begin with a capital here are abbreviations
/// only if capitalized (`Col.`, not `col.`); this goes for all lists.
const NON_FINAL: &[&str] = &[
    "Adm", "Col", "Gen", "Gov", "Hon", "Insp", "Maj", "Pres", "Rep", "Reps", "Rev", "Sen", "Sens",
    "attn", "capt", "cf", "cmdr", "cpl", "dr", "drs", "eg", "ie", "lt", "messrs", "mgr", "mlle",
    "mme", "mr", "mrs", "ms", "prof", "pvt", "sgt", "sra", "sres", "srta", "supt", "v", "viz",
    "vs",
];

/// Abbreviations that end a sentence if a sentence starter follows.
const FINAL: &[&str] = &[
    "Ala", "Apr", "Ariz", "Aug", "Bros", "Cie", "Co", "Colo", "Conn", "Cos", "Dec", "Esq", "Feb",
    "Fla", "Fri", "Ga", "Ill", "Jan", "Jr", "Jul", "Jun", "Kan", "Ky", "La", "Mass", "Md", "Mich",
    "Minn", "Mon", "Neb", "Nev", "Nov", "Oct", "Okla", "Pa", "Penn", "Rd", "Sep", "Sept", "Sr",
    "Tenn", "Tex", "Thu", "Thur", "Thurs", "Tue", "Tues", "Va", "Vt", "Wed", "Wis", "Wyo",
    "approx", "assn", "ave", "blvd", "bzw", "calif", "corp", "dept", "esp", "ext", "ft", "govt",
    "hrs", "inc", "incl", "intl", "lb", "lbs", "ltd", "mins", "mt", "natl", "oz", "st", "ste",
    "univ", "yrs",
];

/// Abbreviations only before a number (`No. 5`), which never end a sentence.
const NUMBERED: &[&str] = &[
    "Art", "Mar", "No", "Nos", "Sat", "Sun", "ch", "fig", "figs", "nr", "núm", "p", "pp", "pág",
    "págs", "sec", "vol", "vols",
];

/// Abbreviations that end a sentence before a capital letter.
const ET_CETERA: &[&str] = &["etc", "usw"];

/// Abbreviations with inner periods and a part of more than one letter, without the final period.
const DOTTED: &[&str] =
    &["b.sc", "d.phil", "ed.d", "ee.uu", "ll.b", "ll.d", "m.sc", "p.ej", "ph.d", "s.p.a"];

/// Words that start a sentence far more often than a name. After an abbreviation or an initial,
/// they indicate that the sentence has ended.
const SENTENCE_STARTERS: &[&str] = &[
    "a", "after", "all", "also", "although", "an", "and", "as", "at", "because", "before", "both",
    "but", "by", "each", "even", "for", "from", "he", "her", "here", "his", "how", "however", "if",
    "in", "is", "it", "its", "many", "most", "my", "no", "not", "now", "of", "on", "one", "or",
    "our", "please", "she", "since", "so", "some", "still", "that", "the", "their", "then",
    "there", "these", "they", "this", "those", "though", "to", "was", "we", "what", "when",
    "where", "which", "while", "who", "why", "with", "yes", "yet", "you", "your",
];

/// Length of the longest entry of the lists, in bytes. Longer words are not looked up.
const MAX_ENTRY_LENGTH: usize = 8;

/// Matches an abbreviation, including its period, at subtoken `at`. Returns the index of the
/// subtoken after it and its kind.
pub(super) fn match_abbreviation(run: &TextRun<'_>, at: usize) -> Option<(usize, TokenKind)> {
    let word = run.word(at)?;
    if run.text(at + 1) != "." {
        return None;
    }
    if let Some(found) = initials(run, at, word) {
        return Some(found);
    }
    let end = at + 2;
    if run.text(end) == "." {
        return None; // an ellipsis
    }
    Some((end, kind(word, run.following(end))?))
}

/// Returns the kind of a listed abbreviation that is followed by `following`.
fn kind(word: &str, following: &str) -> Option<TokenKind> {
    if word.len() > MAX_ENTRY_LENGTH {
        return None;
    }
    let lower = word.to_lowercase();
    let is_capital = word.starts_with(char::is_uppercase);
    let mut title = lower.clone();
    if let Some(first) = title.get_mut(..1).filter(|_| is_capital) {
        first.make_ascii_uppercase();
    }
    let is_in = |list: &[&str]| {
        [&lower, &title].into_iter().any(|word| list.binary_search(&word.as_str()).is_ok())
    };
    if is_in(NON_FINAL) || following.starts_with(|c: char| c.is_ascii_digit()) && is_in(NUMBERED) {
        Some(TokenKind::NonFinalAbbreviation)
    } else if is_in(FINAL) || lower == "al" && !is_capital {
        Some(TokenKind::Abbreviation) // et al.
    } else {
        is_in(ET_CETERA).then_some(TokenKind::EtCetera)
    }
}

/// Matches letters with periods (`U.S.`, `e.g.`, `a.k.a`, `Ph.D.`) and single initials of names.
fn initials(run: &TextRun<'_>, at: usize, word: &str) -> Option<(usize, TokenKind)> {
    if let Some(end) = dotted(run, at) {
        return Some((end, TokenKind::Abbreviation));
    }
    if !is_letter(word) {
        return None;
    }
    let mut end = at + 1; // after the last letter
    let mut letters = 1;
    while run.text(end) == "." && run.word(end + 1).is_some_and(is_letter) {
        end += 2;
        letters += 1;
    }
    let has_period = run.text(end) == "." && run.text(end + 1) != ".";
    if letters > 1 {
        let text = &run.tail(at)[..run.start(end) - run.start(at)];
        let non_final = ["e.g", "i.e", "p.s", "a.k.a"].iter().any(|s| text.eq_ignore_ascii_case(s));
        let kind = match (has_period, non_final) {
            (false, _) => TokenKind::Word,
            (true, true) => TokenKind::NonFinalAbbreviation,
            (true, false) => TokenKind::Abbreviation,
        };
        return Some((end + usize::from(has_period), kind));
    }
    let initial = has_period
        && word.starts_with(char::is_uppercase)
        && is_before_name(run.following(end + 1));
    initial.then_some((end + 1, TokenKind::NonFinalAbbreviation))
}

/// Matches an abbreviation of [`DOTTED`], including its final period if there is one.
fn dotted(run: &TextRun<'_>, at: usize) -> Option<usize> {
    let mut text = run.word(at)?.to_lowercase();
    let mut end = at + 1;
    while run.text(end) == "." && text.len() <= MAX_ENTRY_LENGTH {
        text.push('.');
        text.push_str(&run.word(end + 1)?.to_lowercase());
        end += 2;
        if DOTTED.binary_search(&text.as_str()).is_ok() {
            let has_period = run.text(end) == "." && run.text(end + 1) != ".";
            return Some(end + usize::from(has_period));
        }
    }
    None
}

/// Returns whether the text after a letter with a period makes it an initial: `J. Smith`,
/// `J. R. Smith`, `Smith, J., and`; not `Plan B. The next`.
fn is_before_name(following: &str) -> bool {
    let following = following.trim_start_matches(['"', '“', '(']); // Martin J. "Hoot" McInerney
    let mut chars = following.chars();
    match chars.next() {
        Some(',') => true,
        Some(c) if c.is_uppercase() => chars.next() == Some('.') || !starts_sentence(following),
        _ => false,
    }
}

/// Returns whether the first word of a text is one that starts sentences rather than names.
pub(super) fn starts_sentence(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let word = &text[..end];
    word.len() <= MAX_ENTRY_LENGTH
        && word.starts_with(char::is_uppercase)
        && SENTENCE_STARTERS.binary_search(&word.to_lowercase().as_str()).is_ok()
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
        for list in [NON_FINAL, FINAL, NUMBERED, ET_CETERA, DOTTED, SENTENCE_STARTERS] {
            assert!(list.is_sorted(), "{list:?}");
            assert!(list.iter().all(|word| word.len() <= MAX_ENTRY_LENGTH), "{list:?}");
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
