//! Runs of capitalized words.

use std::ops::Range;

/// Maximum distance in a run from a word to its ends, so that text in capitals takes linear time.
const MAX_RUN: usize = 8;

/// What `run` says about a word in a run of capitalized words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    /// Where in the run it is.
    Position,
    /// The word before it in the run.
    Before,
    /// The word after it in the run.
    After,
    /// All words of the run.
    Words,
}

/// The kinds by their names in templates.
pub(super) const RUN_KINDS: [(&str, RunKind); 4] = [
    ("position", RunKind::Position),
    ("before", RunKind::Before),
    ("after", RunKind::After),
    ("words", RunKind::Words),
];

impl RunKind {
    pub(super) fn name(self) -> &'static str {
        let found = RUN_KINDS.iter().find(|(_, kind)| *kind == self);
        found.map_or("", |(name, _)| name)
    }
}

/// Writes what is known about token `t` of a sentence of `length` tokens; `word` returns the word
/// of a token. Returns whether there is a value: words that are not capitalized have none.
pub(super) fn write_run<'a>(
    kind: RunKind,
    length: usize,
    word: impl Fn(usize) -> &'a str,
    t: usize,
    out: &mut String,
) -> bool {
    let Some(run) = run(length, &word, t) else {
        return false;
    };
    match kind {
        RunKind::Position => out.push_str(match (run.start == t, run.end == t + 1) {
            (true, true) => "S",
            (true, false) => "B",
            (false, true) => "E",
            (false, false) => "I",
        }),
        RunKind::Before if run.start < t => out.push_str(word(t - 1)),
        RunKind::After if t + 1 < run.end => out.push_str(word(t + 1)),
        RunKind::Before | RunKind::After => return false,
        RunKind::Words => {
            for u in run {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(word(u));
            }
        }
    }
    true
}

/// Returns the run of capitalized words around token `t`, at most [`MAX_RUN`] words to either side.
fn run<'a>(length: usize, word: &impl Fn(usize) -> &'a str, t: usize) -> Option<Range<usize>> {
    let is_capitalized = |&u: &usize| word(u).chars().next().is_some_and(char::is_uppercase);
    if !is_capitalized(&t) {
        return None;
    }
    let before = (t.saturating_sub(MAX_RUN)..t).rev();
    let after = t + 1..length.min(t + 1 + MAX_RUN);
    let before = before.take_while(is_capitalized).count();
    Some(t - before..t + 1 + after.take_while(is_capitalized).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(kind: RunKind, text: &str, t: usize) -> Option<String> {
        let words: Vec<&str> = text.split(' ').collect();
        let mut out = String::new();
        write_run(kind, words.len(), |u| words[u], t, &mut out).then_some(out)
    }

    #[test]
    fn a_run_ends_at_a_word_without_a_capital() {
        let text = "the New York Times of Rome";
        let positions = (0..6).map(|t| value(RunKind::Position, text, t));
        let expected = [None, Some("B"), Some("I"), Some("E"), None, Some("S")];
        assert!(positions.eq(expected.map(|p| p.map(str::to_owned))));
        assert_eq!(value(RunKind::Before, text, 2).as_deref(), Some("New"));
        assert_eq!(value(RunKind::After, text, 2).as_deref(), Some("Times"));
        assert_eq!(value(RunKind::Before, text, 1), None);
        assert_eq!(value(RunKind::After, text, 5), None);
        let words = value(RunKind::Words, text, 3);
        assert_eq!(words.as_deref(), Some("New York Times"));
    }

    #[test]
    fn a_long_run_is_cut() {
        let text = ["A"; 40].join(" ");
        assert_eq!(value(RunKind::Words, &text, 20).unwrap().len(), 2 * 17 - 1);
        assert_eq!(value(RunKind::Words, &text, 0).unwrap().len(), 2 * 9 - 1);
    }
}
