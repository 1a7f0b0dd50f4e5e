//! Phrases that are predicted as spans elsewhere in the document.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::prediction::PredictedSpan;

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
            let longest = self.longest.get(words[t]).copied().unwrap_or(0);
            let longest = longest.min(words.len() - t);
            let span = (1..=longest).rev().find_map(|length| {
                let kinds = self.spans.get(&words[t..t + length])?;
                let kind = most_frequent(kinds, start + t, window)?;
                Some(PredictedSpan {
                    start: t,
                    end: t + length,
                    kind,
                })
            });
            t = span.map_or(t + 1, |span| span.end);
            found.extend(span);
        }
        found
    }
}

/// Returns the type with the most positions at most `window` away from `position`, without that
/// position itself.
fn most_frequent(
    kinds: &BTreeMap<usize, Vec<usize>>,
    position: usize,
    window: usize,
) -> Option<usize> {
    let counts = kinds.iter().map(|(&kind, positions)| {
        let own = usize::from(positions.binary_search(&position).is_ok());
        (count_near(positions, position, window) - own, kind)
    });
    let best = counts.rev().max_by_key(|&(count, _)| count)?;
    (best.0 > 0).then_some(best.1)
}

/// Counts the positions at most `window` away from `position`.
pub(super) fn count_near(positions: &[usize], position: usize, window: usize) -> usize {
    let from = positions.partition_point(|&p| p + window < position);
    let to = positions.partition_point(|&p| p <= position + window);
    to - from
}
