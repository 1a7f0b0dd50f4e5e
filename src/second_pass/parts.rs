//! Words that are parts of longer spans elsewhere in the document.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::phrases::count_near;
use super::prediction::PredictedSpan;

/// Where in a span a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartPosition {
    Begin,
    Inside,
    End,
}

impl PartPosition {
    pub fn letter(self) -> char {
        match self {
            Self::Begin => 'B',
            Self::Inside => 'I',
            Self::End => 'E',
        }
    }
}

/// A position in spans of a type.
pub(super) type Part = (PartPosition, usize);

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
        for (t, part) in parts(words, span) {
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
        (start, t): (usize, usize),
        own: Option<PredictedSpan>,
        window: usize,
    ) -> Option<Part> {
        let found = self.spans.get(words[t])?;
        let own_start = own.map(|span| start + span.start);
        let counts = found.iter().map(|(&part, positions)| {
            let is_own = own_start.is_some_and(|own| positions.binary_search(&own).is_ok());
            let count = count_near(positions, start + t, window);
            let own_counts =
                is_own && own_start.is_some_and(|own| (start + t).abs_diff(own) <= window);
            (count - usize::from(own_counts), part)
        });
        let best = counts.rev().max_by_key(|&(count, _)| count)?;
        (best.0 > 0).then_some(best.1)
    }
}

/// Returns the tokens of a span of two or more, with their positions in it.
fn parts(words: &[&str], span: PredictedSpan) -> impl Iterator<Item = (usize, Part)> {
    let tokens = if span.end - span.start > 1 {
        span.start..span.end
    } else {
        0..0
    };
    debug_assert!(span.end <= words.len());
    tokens.map(move |t| {
        let position = match t {
            t if t + 1 == span.end => PartPosition::End,
            t if t == span.start => PartPosition::Begin,
            _ => PartPosition::Inside,
        };
        (t, (position, span.kind))
    })
}
