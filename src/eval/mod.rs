//! Evaluation: predicted labels against gold ones, counted as conlleval counts.
//!
//! [`Evaluation`] takes sentences one at a time and keeps counts alone. Its `Display` is the report for
//! people, [`Evaluation::report`] the one for programs. [`PairedBootstrap`] takes the labels of two taggers
//! and says whether one is better.

mod bootstrap;
mod confusion;
mod counts;
mod report;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::label::ChunkLabel;
pub use bootstrap::{BootstrapReport, Difference, PairedBootstrap};
pub use confusion::Confusion;
pub use counts::{Counts, Metrics};
pub use report::{Report, ScoreReport, SpanReport};

use confusion::Confusions;
use counts::ratio;

/// Counts tokens and spans, gold and predicted, sentence by sentence.
///
/// Spans are counted by conlleval's own automaton. It walks over gold and predicted labels in step
/// and remembers one thing, whether both are in a span that began at the same token with the same
/// type; if both leave it together, it was correct. On labels of the schemes that is the size of
/// the intersection of the two span sets; tags of no scheme, whose spans may begin anew without
/// having ended, make the two differ, and then the automaton is what published results were counted by.
///
/// A token is correct if its label is. (conlleval would also take `B-` for `B`, and `0` for no
/// type; for labels that are no chunks those are different.)
#[derive(Clone, Debug)]
pub struct Evaluation {
    sentences: u64,
    tokens: u64,
    correct_tokens: u64,
    types: BTreeMap<String, Counts>,
    both_inside: bool, // a span that began alike on both sides and has not ended
    kind_seen: bool,   // some gold label was a chunk tag with a type
    only_chunks: bool, // every gold label was a chunk tag
    confusions: Option<Confusions>,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self::new()
    }
}

impl Evaluation {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sentences: 0,
            tokens: 0,
            correct_tokens: 0,
            types: BTreeMap::new(),
            both_inside: false,
            kind_seen: false,
            only_chunks: true,
            confusions: None,
        }
    }

    /// As [`Evaluation::new`], counting also which label was taken for which, for
    /// [`Evaluation::labels`] and [`Evaluation::confusions`].
    #[must_use]
    pub fn with_confusions() -> Self {
        Self {
            confusions: Some(Confusions::default()),
            ..Self::new()
        }
    }

    /// Counts a sentence.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when there are more labels on one side than on the other; nothing is
    /// counted then.
    pub fn add<G: AsRef<str>, P: AsRef<str>>(&mut self, gold: &[G], predicted: &[P]) -> Result<()> {
        if gold.len() != predicted.len() {
            return Err(Error::parameter(format!(
                "sentence {} has {} gold labels but {} predicted ones",
                self.sentences + 1,
                gold.len(),
                predicted.len()
            )));
        }
        self.sentences += 1;
        let outside = (ChunkLabel::OUTSIDE, ChunkLabel::OUTSIDE);
        let mut previous = outside;
        for (gold, predicted) in gold.iter().zip(predicted) {
            let (gold, predicted) = (gold.as_ref(), predicted.as_ref());
            self.add_token(gold, predicted);
            let chunks = (ChunkLabel::parse(gold), ChunkLabel::parse(predicted));
            self.step(previous, chunks);
            previous = chunks;
        }
        self.step(previous, outside);
        Ok(())
    }

    /// Counts a document boundary (`-DOCSTART-`): to conlleval a token, rightly labeled `O`. It is
    /// no sentence.
    pub fn add_document_start(&mut self) {
        self.add_token("O", "O");
    }

    fn add_token(&mut self, gold: &str, predicted: &str) {
        self.tokens += 1;
        self.correct_tokens += u64::from(gold == predicted);
        let chunk = ChunkLabel::parse(gold);
        self.kind_seen |= chunk.is_inside() && !chunk.kind.is_empty();
        self.only_chunks &= chunk.is_inside() || gold == "O";
        if let Some(confusions) = &mut self.confusions {
            confusions.add(gold, predicted);
        }
    }

    /// Moves the automaton from one token to the next; chunks are (gold, predicted).
    fn step(
        &mut self,
        previous: (ChunkLabel<'_>, ChunkLabel<'_>),
        next: (ChunkLabel<'_>, ChunkLabel<'_>),
    ) {
        if self.both_inside {
            let gold_ends = previous.0.ends_before(next.0);
            let predicted_ends = previous.1.ends_before(next.1);
            if gold_ends && predicted_ends && previous.0.kind == previous.1.kind {
                self.both_inside = false;
                self.count(previous.0.kind, |counts| counts.correct += 1);
            } else if gold_ends != predicted_ends || next.0.kind != next.1.kind {
                self.both_inside = false;
            }
        }
        let gold_starts = next.0.starts_after(previous.0);
        let predicted_starts = next.1.starts_after(previous.1);
        if gold_starts {
            self.count(next.0.kind, |counts| counts.gold += 1);
        }
        if predicted_starts {
            self.count(next.1.kind, |counts| counts.predicted += 1);
        }
        self.both_inside |= gold_starts && predicted_starts && next.0.kind == next.1.kind;
    }

    /// Changes the counts of a type; allocates only for a type not seen before.
    fn count(&mut self, kind: &str, change: impl FnOnce(&mut Counts)) {
        if let Some(counts) = self.types.get_mut(kind) {
            change(counts);
        } else {
            change(self.types.entry(kind.to_owned()).or_default());
        }
    }

    /// Number of sentences.
    #[must_use]
    pub fn sentences(&self) -> u64 {
        self.sentences
    }

    /// Number of tokens, document boundaries included.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Number of tokens whose predicted label is the gold one.
    #[must_use]
    pub fn correct_tokens(&self) -> u64 {
        self.correct_tokens
    }

    /// Span counts over all types.
    #[must_use]
    pub fn spans(&self) -> Counts {
        let mut sum = Counts::default();
        for counts in self.types.values() {
            sum.correct += counts.correct;
            sum.gold += counts.gold;
            sum.predicted += counts.predicted;
        }
        sum.correct += u64::from(self.both_inside); // as conlleval does when the file ends
        sum
    }

    /// Span counts per type, types in bytewise order.
    pub fn types(&self) -> impl Iterator<Item = (&str, Counts)> {
        self.types
            .iter()
            .filter(|(_, counts)| counts.gold + counts.predicted > 0)
            .map(|(kind, &counts)| {
                let unfinished = u64::from(kind.is_empty() && self.both_inside);
                let correct = counts.correct + unfinished;
                (kind.as_str(), Counts { correct, ..counts })
            })
    }

    /// Whether the gold labels write spans: some label has a chunk tag (`B`, `I`, `E` or `S`) with a
    /// type, or all of them are `O` or bare chunk tags.
    ///
    /// Where they do not (parts of speech), [`Evaluation::accuracy`] is the only score that means
    /// anything.
    #[must_use]
    pub fn has_spans(&self) -> bool {
        self.kind_seen || self.only_chunks
    }

    /// Fraction of tokens whose predicted label is the gold one.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        ratio(1.0, self.correct_tokens, self.tokens)
    }

    /// Fraction of predicted spans that are correct.
    #[must_use]
    pub fn precision(&self) -> f64 {
        self.spans().metrics().precision
    }

    /// Fraction of gold spans that are found.
    #[must_use]
    pub fn recall(&self) -> f64 {
        self.spans().metrics().recall
    }

    /// Harmonic mean of precision and recall over all types.
    #[must_use]
    pub fn f1(&self) -> f64 {
        self.spans().metrics().f1
    }

    /// Counts of each label as such, labels in bytewise order; none without
    /// [`Evaluation::with_confusions`].
    #[must_use]
    pub fn labels(&self) -> Vec<(&str, Counts)> {
        self.confusions
            .as_ref()
            .map(Confusions::labels)
            .unwrap_or_default()
    }

    /// The `most` most frequent confusions, most frequent first, equally frequent ones in bytewise
    /// order; none without [`Evaluation::with_confusions`].
    #[must_use]
    pub fn confusions(&self, most: usize) -> Vec<Confusion<'_>> {
        self.confusions
            .as_ref()
            .map(|confusions| confusions.most_frequent(most))
            .unwrap_or_default()
    }
}
