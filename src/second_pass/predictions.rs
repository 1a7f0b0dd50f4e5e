//! The predictions of the first pass for a document, as columns of its sentences: what the document
//! says elsewhere about words, the types of the same word and spans with its words.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;

use super::prediction::{LabelTypes, PredictedSpan, Prediction};
use crate::error::{Error, Result};
use crate::sentence::{PREDICTIONS, Schema, Sentence};

/// A document with the predictions of the first pass.
#[derive(Debug)]
pub struct PredictedDocument<'a> {
    sentences: Vec<PredictedSentence<'a>>,
    votes: Vec<Option<WordVote>>, // [tokens]
    phrases: Phrases<'a>,
    parts: Parts<'a>,
    types: &'a LabelTypes,
    window: usize,
}

#[derive(Debug)]
struct PredictedSentence<'a> {
    sentence: &'a Sentence,
    prediction: &'a Prediction,
    words: Vec<&'a str>,
    start: usize, // position in the document
}

impl<'a> PredictedDocument<'a> {
    /// Counts the predictions for the sentences of a document.
    pub fn new(
        sentences: impl IntoIterator<Item = (&'a Sentence, &'a Prediction)>,
        types: &'a LabelTypes,
        window: usize,
    ) -> Self {
        let mut document = Self {
            sentences: Vec::new(),
            votes: Vec::new(),
            phrases: Phrases::default(),
            parts: Parts::default(),
            types,
            window,
        };
        let mut occurrences: HashMap<&str, Vec<Occurrence<'_>>> = HashMap::new();
        let mut start = 0;
        for (sentence, prediction) in sentences {
            let words = sentence.words();
            let words: Vec<&str> =
                words.map_or_else(|| vec![""; sentence.len()], Iterator::collect);
            for (t, &word) in words.iter().enumerate() {
                let occurrence = Occurrence { position: start + t, shares: prediction.shares(t) };
                occurrences.entry(word).or_default().push(occurrence);
            }
            for &span in &prediction.spans {
                document.phrases.push(&words, start, span);
                push_parts(&mut document.parts, &words, start, span);
            }
            document.sentences.push(PredictedSentence { sentence, prediction, words, start });
            start += sentence.len();
        }
        document.votes = vec![None; start];
        for occurrences in occurrences.into_values() {
            count_word(&occurrences, window, &mut document.votes);
        }
        document
    }

    /// Returns copies of the sentences with the columns of predictions.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if a sentence has a column with such a name, or would have more text than a
    /// sentence can hold.
    pub fn extended(&self) -> Result<Vec<Sentence>> {
        let mut extended = Vec::with_capacity(self.sentences.len());
        let same = |x: &PredictedSentence<'_>, y: &PredictedSentence<'_>| {
            x.sentence.schema() == y.sentence.schema()
        };
        for sentences in self.sentences.chunk_by(same) {
            let first = sentences[0].sentence;
            let schema = first.schema().with_derived(&PREDICTIONS).map_err(|error| {
                let message = format!("{error}, of which one is a prediction");
                Error::input(first.place(0), message)
            })?;
            let schema = Arc::new(schema);
            for sentence in sentences {
                extended.push(self.sentence(sentence, &schema)?);
            }
        }
        Ok(extended)
    }

    /// Returns a copy of a sentence with the columns of predictions, which `schema` has.
    fn sentence(&self, own: &PredictedSentence<'_>, schema: &Arc<Schema>) -> Result<Sentence> {
        let PredictedSentence { sentence, prediction, words, start } = own;
        let spans = self.phrases.find(words, *start, self.window);
        let cells = (0..sentence.len()).map(|t| {
            let vote = self.votes[start + t]
                .map(|WordVote { kind, level }| format!("{}:{level}", self.types.types[kind]));
            let phrase = span_at(&spans, t).map(|span| {
                let position = if span.start == t { 'B' } else { 'I' };
                format!("{position}-{}", self.types.types[span.kind])
            });
            // What part of longer spans elsewhere the word is most often.
            let own = span_at(&prediction.spans, t).map(|span| start + span.start);
            let parts = self.parts.get(words[t]);
            let part = parts.and_then(|parts| most_frequent(parts, start + t, self.window, own));
            let part = part.map(|(position, kind)| {
                format!("{}-{}", POSITIONS[position], self.types.types[kind])
            });
            [
                self.types.labels[prediction.labels[t].index()].name.clone(),
                vote.unwrap_or_default(),
                phrase.unwrap_or_default(),
                part.unwrap_or_default(),
            ]
        });
        sentence.with_columns(Arc::clone(schema), cells)
    }
}

/// Returns the span that contains token `t`.
fn span_at(spans: &[PredictedSpan], t: usize) -> Option<PredictedSpan> {
    let next = spans.partition_point(|span| span.end <= t);
    spans.get(next).filter(|span| span.start <= t).copied()
}

/// The type with the most probability at other occurrences of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordVote {
    /// Index of the type.
    kind: usize,
    /// The share of this type in the probability: 9 for 0.9 and more, 7 for 0.7 and more, else 5.
    level: u8,
}

/// An occurrence of a word: its position in the document, and the probabilities of the types.
#[derive(Clone, Copy, Debug)]
struct Occurrence<'a> {
    position: usize,
    shares: &'a [u32],
}

/// Counts the votes for the occurrences of one word, ascending by position, by moving a window over
/// them: that of the others at most `window` tokens away, if there are any.
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
struct Phrases<'a> {
    /// Positions of the first tokens by type, ascending.
    spans: HashMap<Vec<&'a str>, BTreeMap<usize, Vec<usize>>>,
    /// The length of the longest phrase that begins with a word.
    longest: HashMap<&'a str, usize>,
}

impl<'a> Phrases<'a> {
    /// Adds a span, the next of the document. `words` are those of its sentence, which begins at
    /// the position `start` of the document.
    fn push(&mut self, words: &[&'a str], start: usize, span: PredictedSpan) {
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
    fn find(&self, words: &[&'a str], start: usize, window: usize) -> Vec<PredictedSpan> {
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
        let from = positions.partition_point(|&p| p + window < position);
        let to = positions.partition_point(|&p| p <= position + window);
        let is_own = own.is_some_and(|own| positions.binary_search(&own).is_ok());
        (to - from - usize::from(is_own), item)
    });
    let (count, item) = counts.rev().max_by_key(|&(count, _)| count)?;
    (count > 0).then_some(item)
}

/// The letters of the positions in a span: begin, inside, end.
const POSITIONS: [char; 3] = ['B', 'I', 'E'];

/// A position in spans, as an index of [`POSITIONS`], and the index of their type.
type Part = (usize, usize);

/// The words of the predicted spans of two tokens or more of a document: positions of the first
/// tokens of the spans, ascending.
type Parts<'a> = HashMap<&'a str, BTreeMap<Part, Vec<usize>>>;

/// Adds a span, the next of the document. `words` are those of its sentence, which begins at the
/// position `start` of the document.
fn push_parts<'a>(parts: &mut Parts<'a>, words: &[&'a str], start: usize, span: PredictedSpan) {
    let words = &words[span.start..span.end];
    if words.len() < 2 {
        return;
    }
    for (i, word) in words.iter().enumerate() {
        let position = match i {
            0 => 0,
            _ if i + 1 == words.len() => 2,
            _ => 1,
        };
        let positions = parts.entry(word).or_default();
        let positions = positions.entry((position, span.kind)).or_default();
        // A word counts once per span.
        if positions.last() != Some(&(start + span.start)) {
            positions.push(start + span.start);
        }
    }
}
