//! What a document says elsewhere about words: the types of the same word, and spans with its
//! words.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::prediction::PredictedSpan;

/// The type with the most probability at other occurrences of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordVote {
    /// Index of the type.
    pub kind: usize,
    /// The share of this type in the probability: 9 for 0.9 and more, 7 for 0.7 and more, else 5.
    pub level: u8,
}

/// An occurrence of a word: its position in the document, and the probabilities of the types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence<'a> {
    pub position: usize,
    pub shares: &'a [u32],
}

/// The occurrences of each word, ascending by position.
#[derive(Debug, Default)]
pub(super) struct WordVotes<'a> {
    occurrences: HashMap<&'a str, Vec<Occurrence<'a>>>,
}

impl<'a> WordVotes<'a> {
    /// Adds the next token of the document.
    pub fn push(&mut self, word: &'a str, occurrence: Occurrence<'a>) {
        self.occurrences.entry(word).or_default().push(occurrence);
    }

    /// Returns the vote for each token of the document, `[tokens]`: that of the other occurrences
    /// at most `window` tokens away, if there are any.
    pub fn count(self, tokens: usize, window: usize) -> Vec<Option<WordVote>> {
        let mut votes = vec![None; tokens];
        for occurrences in self.occurrences.into_values() {
            count_word(&occurrences, window, &mut votes);
        }
        votes
    }
}

/// Counts the votes of one word by moving a window over its occurrences.
fn count_word(occurrences: &[Occurrence<'_>], window: usize, votes: &mut [Option<WordVote>]) {
    let types = occurrences.first().map_or(0, |first| first.shares.len());
    let mut sum = vec![0_u64; types];
    let change = |sum: &mut [u64], occurrence: &Occurrence<'_>, by: fn(u64, u64) -> u64| {
        for (sum, &share) in sum.iter_mut().zip(occurrence.shares) {
            *sum = by(*sum, u64::from(share));
        }
    };
    let (mut first, mut next) = (0, 0);
    for occurrence in occurrences {
        while let Some(new) = occurrences.get(next)
            && new.position <= occurrence.position + window
        {
            change(&mut sum, new, |sum, share| sum + share);
            next += 1;
        }
        while occurrences[first].position + window < occurrence.position {
            change(&mut sum, &occurrences[first], |sum, share| sum - share);
            first += 1;
        }
        if next - first > 1 {
            change(&mut sum, occurrence, |sum, share| sum - share);
            votes[occurrence.position] = vote(&sum);
            change(&mut sum, occurrence, |sum, share| sum + share);
        }
    }
}

/// Returns the type with the largest sum, the first of several.
fn vote(sum: &[u64]) -> Option<WordVote> {
    let total: u64 = sum.iter().sum();
    let (kind, &largest) = sum.iter().enumerate().rev().max_by_key(|(_, sum)| **sum)?;
    let level = match 10 * largest {
        share if share >= 9 * total => 9,
        share if share >= 7 * total => 7,
        _ => 5,
    };
    Some(WordVote { kind, level })
}

/// Longer spans are not looked up elsewhere.
const MAX_LENGTH: usize = 8;

/// The predicted spans of a document by their words.
#[derive(Debug, Default)]
pub(super) struct Phrases<'a> {
    /// Positions of the first tokens by type, ascending.
    spans: HashMap<Vec<&'a str>, BTreeMap<usize, Vec<usize>>>,
    /// The length of the longest phrase that begins with a word.
    longest: HashMap<&'a str, usize>,
}

impl<'a> Phrases<'a> {
    /// Adds a span, the next of the document. `words` are those of its sentence, which begins at
    /// the position `start` of the document.
    pub fn push(&mut self, words: &[&'a str], start: usize, span: PredictedSpan) {
        let phrase = &words[span.start..span.end];
        if phrase.len() > MAX_LENGTH {
            return;
        }
        let longest = self.longest.entry(phrase[0]).or_default();
        *longest = phrase.len().max(*longest);
        let kinds = self.spans.entry(phrase.to_vec()).or_default();
        kinds.entry(span.kind).or_default().push(start + span.start);
    }

    /// Returns the phrases of a sentence that are spans elsewhere, at most `window` tokens away:
    /// the longest ones from the left, with the type that most of these spans have.
    pub fn find(&self, words: &[&'a str], start: usize, window: usize) -> Vec<PredictedSpan> {
        let mut found = Vec::new();
        let mut t = 0;
        while t < words.len() {
            let longest = self.longest.get(words[t]).copied().unwrap_or(0).min(words.len() - t);
            let span = (1..=longest).rev().find_map(|length| {
                let kinds = self.spans.get(&words[t..t + length])?;
                let kind = most_frequent(kinds, start + t, window, Some(start + t))?;
                Some(PredictedSpan { start: t, end: t + length, kind })
            });
            t = span.map_or(t + 1, |span| span.end);
            found.extend(span);
        }
        found
    }
}

/// Returns what has the most positions at most `window` away from `position`, the first of several,
/// without the position `own`.
fn most_frequent<K: Copy>(
    items: &BTreeMap<K, Vec<usize>>,
    position: usize,
    window: usize,
    own: Option<usize>,
) -> Option<K> {
    let own = own.filter(|own| own.abs_diff(position) <= window);
    let counts = items.iter().map(|(&item, positions)| {
        let is_own = own.is_some_and(|own| positions.binary_search(&own).is_ok());
        (count_near(positions, position, window) - usize::from(is_own), item)
    });
    let (count, item) = counts.rev().max_by_key(|&(count, _)| count)?;
    (count > 0).then_some(item)
}

/// Counts the positions at most `window` away from `position`.
pub(super) fn count_near(positions: &[usize], position: usize, window: usize) -> usize {
    let from = positions.partition_point(|&p| p + window < position);
    let to = positions.partition_point(|&p| p <= position + window);
    to - from
}

/// The letters of the positions in a span: begin, inside, end.
pub(super) const POSITIONS: [char; 3] = ['B', 'I', 'E'];

/// A position in spans, as an index of [`POSITIONS`], and the index of their type.
pub(super) type Part = (usize, usize);

/// The words of the predicted spans of two tokens or more of a document.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    /// Positions of the first tokens of the spans, ascending.
    spans: HashMap<&'a str, BTreeMap<Part, Vec<usize>>>,
}

impl<'a> Parts<'a> {
    /// Adds a span, the next of the document. `words` are those of its sentence, which begins at
    /// the position `start` of the document.
    pub fn push(&mut self, words: &[&'a str], start: usize, span: PredictedSpan) {
        for (t, part) in parts(span) {
            let parts = self.spans.entry(words[t]).or_default();
            let positions = parts.entry(part).or_default();
            // A word counts once per span.
            if positions.last() != Some(&(start + span.start)) {
                positions.push(start + span.start);
            }
        }
    }

    /// Returns what part of longer spans the word `t` of a sentence is most often, at most `window`
    /// tokens away. `own` is the span that contains the word, if there is one.
    pub fn find(
        &self,
        words: &[&'a str],
        start: usize,
        t: usize,
        own: Option<PredictedSpan>,
        window: usize,
    ) -> Option<Part> {
        let found = self.spans.get(words[t])?;
        let own_start = own.map(|span| start + span.start);
        most_frequent(found, start + t, window, own_start)
    }
}

/// Returns the tokens of a span of two or more, with their positions in it.
fn parts(span: PredictedSpan) -> impl Iterator<Item = (usize, Part)> {
    let tokens = span.start..span.end;
    let is_long = tokens.len() > 1;
    tokens.filter(move |_| is_long).map(move |t| {
        let position = match t {
            t if t + 1 == span.end => 2,
            t if t == span.start => 0,
            _ => 1,
        };
        (t, (position, span.kind))
    })
}
