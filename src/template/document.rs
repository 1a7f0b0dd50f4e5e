//! What functions see of a document: the occurrences of a word, its forms there, and the runs of
//! capitalized words around it.

use std::fmt::Write;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;

use super::shape::capitalization;
use super::text::push_lower;
use crate::error::{Error, Place, Result};
use crate::sentence::{Document, IndexedText, WordIndex};

/// The columns and indices of documents that an extractor uses.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentPlan {
    /// Number of tokens before a token, and after it, that functions see.
    pub window: u32,
    /// The texts that are indexed: a column, verbatim or in lower case.
    pub indices: Vec<(usize, bool)>,
    /// The indices, of those in lower case, for which forms are counted.
    pub forms: Vec<usize>,
    /// The index whose other occurrences are looked at.
    pub others: Option<usize>,
    /// Number of functions that gather values of words at other occurrences.
    pub gathering: usize,
}

/// Number of other occurrences that are looked at, the nearest ones.
pub(super) const NEAREST: usize = 8;

/// Another occurrence of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    /// The number of the sentence in the document.
    pub sentence: usize,
    /// The number of the token in the sentence.
    pub t: i64,
}

/// The document that a workspace is prepared for: its indices, and where the sentence is in it.
#[derive(Clone, Debug, Default)]
pub(super) struct DocumentState {
    identity: Option<Arc<()>>,
    indices: Vec<Arc<WordIndex>>,     // [indices of the plan]
    forms: HashMap<usize, FormIndex>, // by index of the plan
    /// Other occurrences of each token of the sentence.
    pub nearest: Vec<Occurrence>,
    nearest_ends: Vec<usize>, // [T] end of each token in `nearest`
    /// Cells that functions gather at other occurrences: [functions][nearest].
    pub gathered: Vec<u32>,
    /// The tokens of the sentence, as numbered through the document.
    pub tokens: Range<usize>,
}

impl DocumentState {
    /// Returns whether `document` is the one it is prepared for.
    pub(super) fn is_prepared_for(&self, document: &Document<'_>) -> bool {
        let identity = self.identity.as_ref();
        identity.is_some_and(|own| Arc::ptr_eq(own, document.identity()))
    }

    /// Prepares for `document`, whose sentences have the indexed columns.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if the document has too many tokens.
    pub(super) fn prepare(&mut self, plan: &DocumentPlan, document: &Document<'_>) -> Result<()> {
        if document.tokens() > u32::MAX as usize / 2 {
            let place = document.sentence(0).map_or(Place::file("document"), |s| s.place(0));
            let message = format!("the document has {} tokens; expected fewer", document.tokens());
            return Err(Error::input(place, message));
        }
        self.identity = Some(Arc::clone(document.identity()));
        let index = |&(column, lower): &(usize, bool)| {
            document.index(column, lower.then_some(push_lower as IndexedText))
        };
        self.indices = plan.indices.iter().map(index).collect();
        let forms = |&number: &usize| {
            (number, FormIndex::new(document, plan.indices[number].0, &self.indices[number]))
        };
        self.forms = plan.forms.iter().map(forms).collect();
        Ok(())
    }

    /// Finds the nearest other occurrences of each word of the sentence.
    pub(super) fn find_others(&mut self, plan: &DocumentPlan, document: &Document<'_>) {
        self.nearest.clear();
        self.nearest_ends.clear();
        let Some(index) = plan.others.map(|index| &self.indices[index]) else { return };
        for token in self.tokens.clone() {
            let seen = VisibleOccurrences::new(index, token, plan.window);
            self.nearest.extend(seen.nearest().take(NEAREST).map(|other| {
                let sentence = document.sentence_of(other as usize);
                let start = document.tokens_of(sentence).start;
                Occurrence { sentence, t: i64::from(other) - start as i64 }
            }));
            self.nearest_ends.push(self.nearest.len());
        }
    }

    /// Returns the other occurrences of token `t` of the sentence, in [`nearest`](Self::nearest).
    pub(super) fn others(&self, t: usize) -> Range<usize> {
        let start = if t == 0 { 0 } else { self.nearest_ends[t - 1] };
        start..self.nearest_ends[t]
    }

    /// Returns which [cells](Self::gathered) function `number` gathers for token `t`.
    pub(super) fn gathered(&self, number: usize, t: usize) -> Range<usize> {
        let (others, first) = (self.others(t), number * self.nearest.len());
        first + others.start..first + others.end
    }

    /// Writes what the document says about the word of token `t` of the sentence, by index `number`
    /// of the plan.
    pub(super) fn write_mention(
        &self,
        kind: MentionKind,
        number: usize,
        t: usize,
        window: u32,
        out: &mut String,
    ) {
        let (index, token) = (&self.indices[number], self.tokens.start + t);
        let seen = VisibleOccurrences::new(index, token, window);
        match kind {
            MentionKind::Order => out.push_str(match seen.visible.start < seen.own {
                true => "later",
                false if seen.own + 1 < seen.visible.end => "first",
                false => "only",
            }),
            MentionKind::Count => write_bucket(seen.visible.len() as u32, out),
            MentionKind::Forms => {
                let first = index.first_of_word(token);
                let visible = first + seen.visible.start..first + seen.visible.end;
                if let Some(forms) = self.forms.get(&number) {
                    forms.write(visible, token, out);
                }
            }
        }
    }
}

/// The values of the function `mention`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MentionKind {
    /// Whether it is the first mention.
    Order,
    /// How often the word occurs.
    Count,
    /// In which forms the word is seen elsewhere.
    Forms,
}

/// The kinds by their names in templates.
pub(super) const MENTION_KINDS: [(&str, MentionKind); 3] =
    [("order", MentionKind::Order), ("count", MentionKind::Count), ("forms", MentionKind::Forms)];

/// The occurrences of a word that a token sees: those at most `window` tokens away.
struct VisibleOccurrences<'a> {
    /// All occurrences in the document, ascending.
    all: &'a [u32],
    /// Which of them is the token itself.
    own: usize,
    /// The sentences that it sees, itself among them.
    visible: Range<usize>,
}

impl<'a> VisibleOccurrences<'a> {
    /// Returns the occurrences of the word of token `t`. O(log n) for n occurrences.
    fn new(index: &'a WordIndex, t: usize, window: u32) -> Self {
        let (all, own) = index.occurrences(t);
        let [first, last] = [t.saturating_sub(window as usize), t + window as usize];
        let before = all[..own].partition_point(|&u| (u as usize) < first);
        let after = all[own..].partition_point(|&u| u as usize <= last);
        Self { all, own, visible: before..own + after }
    }

    /// Returns the other ones that it sees, by distance and those before first.
    fn nearest(self) -> impl Iterator<Item = u32> {
        let Self { all, own, visible } = self;
        let (mut before, mut after) = (own, own + 1); // the next ones are before - 1 and after
        iter::from_fn(move || {
            let back = (before > visible.start).then(|| all[own] - all[before - 1]);
            let ahead = (after < visible.end).then(|| all[after] - all[own]);
            match (back, ahead) {
                (None, None) => None,
                (Some(back), ahead) if ahead.is_none_or(|ahead| back <= ahead) => {
                    before -= 1;
                    Some(all[before])
                }
                _ => {
                    after += 1;
                    Some(all[after - 1])
                }
            }
        })
    }
}

/// Writes the range of numbers that a positive number is in: 1, 2, 3-4, 5-8, 9-16, …
fn write_bucket(number: u32, out: &mut String) {
    let last = u64::from(number).next_power_of_two();
    // Writing to a String cannot fail.
    let _ = match last {
        1 | 2 => write!(out, "{last}"),
        _ => write!(out, "{}-{last}", last / 2 + 1),
    };
}

/// The forms, by the names that values are made of.
const FORMS: [&str; 4] = ["lower", "inside", "first", "upper"];

/// A word without letters that have case.
const CASELESS: u8 = FORMS.len() as u8;

/// The number of words of each form among the first words of an index.
#[derive(Clone, Debug)]
struct FormIndex {
    forms: Vec<u8>,                  // [T] the form of each token
    counts: Vec<[u32; FORMS.len()]>, // [T + 1] of the tokens by word
}

impl FormIndex {
    /// Counts the forms of the cells of a column, of which `index` is one in lower case.
    fn new(document: &Document<'_>, column: usize, index: &WordIndex) -> Self {
        let mut forms = Vec::with_capacity(document.tokens());
        for sentence in document.sentences() {
            forms.extend((0..sentence.len()).map(|t| form(sentence.cell(t, column), t)));
        }
        let mut counts = Vec::with_capacity(forms.len() + 1);
        let mut sums = [0; FORMS.len()];
        counts.push(sums);
        for &token in index.by_word() {
            if let Some(sum) = sums.get_mut(usize::from(forms[token as usize])) {
                *sum += 1;
            }
            counts.push(sums);
        }
        Self { forms, counts }
    }

    /// Writes the forms among the tokens with numbers `visible` by word, without token `own`.
    fn write(&self, visible: Range<usize>, own: usize, out: &mut String) {
        let [first, last] = [self.counts[visible.start], self.counts[visible.end]];
        for (form, name) in FORMS.iter().enumerate() {
            let itself = u32::from(usize::from(self.forms[own]) == form);
            if last[form] - first[form] > itself {
                if !out.is_empty() {
                    out.push('+');
                }
                out.push_str(name);
            }
        }
        if out.is_empty() {
            out.push_str("none");
        }
    }
}

/// Returns the form of token `t` of a sentence.
fn form(word: &str, t: usize) -> u8 {
    match (capitalization(word), t) {
        ("lower", _) => 0,
        ("upper", _) => 3,
        ("initial" | "mixed", 0) => 2,
        ("initial" | "mixed", _) => 1,
        _ => CASELESS,
    }
}

/// Maximum distance in a run from a word to its ends, so that text in capitals takes linear time.
const MAX_RUN: usize = 8;

/// The values of the function `run` for a word in a run of capitalized words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    /// Where in the run it is.
    Position,
    /// The word before it in the run.
    Before,
    /// The word after it in the run.
    After,
}

/// The kinds by their names in templates.
pub(super) const RUN_KINDS: [(&str, RunKind); 3] =
    [("position", RunKind::Position), ("before", RunKind::Before), ("after", RunKind::After)];

/// Writes what is known about token `t` of a sentence of `length` tokens; `word` returns the word
/// of a token. Returns whether there is a value: words that are not capitalized have none.
pub(super) fn write_run<'a>(
    kind: RunKind,
    length: usize,
    word: impl Fn(usize) -> &'a str,
    t: usize,
    out: &mut String,
) -> bool {
    let Some(run) = run(length, &word, t) else { return false };
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
    #[test]
    fn buckets_double() {
        let bucket = |number| {
            let mut out = String::new();
            write_bucket(number, &mut out);
            out
        };
        let expected = ["1", "2", "3-4", "3-4", "5-8", "5-8", "5-8", "5-8", "9-16"];
        assert_eq!((1..10).map(bucket).collect::<Vec<_>>(), expected);
        assert_eq!(bucket(u32::MAX), "2147483649-4294967296");
    }
    #[test]
    fn the_nearest_are_those_of_a_sort_by_distance() {
        let occurrences = [0, 3, 4, 10, 12, 13, 20, 27];
        for own in 0..occurrences.len() {
            for visible in [0..8, own..own + 1, own.saturating_sub(2)..(own + 3).min(8)] {
                for count in 0..9 {
                    let (all, visible) = (&occurrences, visible.clone());
                    let seen = VisibleOccurrences { all, own, visible: visible.clone() };
                    let found: Vec<u32> = seen.nearest().take(count).collect();
                    let others = visible.clone().filter(|&i| i != own);
                    let mut expected: Vec<u32> = others.map(|i| occurrences[i]).collect();
                    expected.sort_by_key(|u| (u.abs_diff(occurrences[own]), *u));
                    expected.truncate(count);
                    assert_eq!(found, expected, "{own} {visible:?} {count}");
                }
            }
        }
    }
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
        // A long run is cut, so that its ends are not searched for.
        assert_eq!(run(40, &|_| "A", 20), Some(12..29));
    }
}
