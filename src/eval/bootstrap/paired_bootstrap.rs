//! Resampling.

use std::ops::AddAssign;

use rayon::prelude::*;

use super::report::{BootstrapReport, Difference};
use crate::error::{Error, Result};
use crate::eval::evaluation::Evaluation;
use crate::eval::metrics::ratio;
use crate::label::{Scheme, SpanEvidence};
use crate::random;

/// Paired bootstrap test of two taggers, A and B, on the same sentences.
#[derive(Clone, Debug)]
pub struct PairedBootstrap {
    sentences: Vec<PairCounts>,
    boundaries: PairCounts, // tokens of document boundaries, which are part of every sample
    gold_labels: SpanEvidence,
    schemes: [Scheme; 3], // of gold labels and of those of A and B
    without_spans: bool,  // whatever the labels look like
}

impl Default for PairedBootstrap {
    fn default() -> Self {
        Self {
            sentences: Vec::new(),
            boundaries: PairCounts::default(),
            gold_labels: SpanEvidence::default(),
            schemes: [Scheme::Raw; 3],
            without_spans: false,
        }
    }
}

/// Counts of a sentence or of a sample; arrays are `[A, B]`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairCounts {
    tokens: u64,
    gold: u64, // spans
    correct_tokens: [u64; 2],
    correct: [u64; 2],   // spans
    predicted: [u64; 2], // spans
}

impl AddAssign<&PairCounts> for PairCounts {
    fn add_assign(&mut self, other: &PairCounts) {
        self.tokens += other.tokens;
        self.gold += other.gold;
        for side in 0..2 {
            self.correct_tokens[side] += other.correct_tokens[side];
            self.correct[side] += other.correct[side];
            self.predicted[side] += other.predicted[side];
        }
    }
}

impl PairCounts {
    fn accuracy(&self) -> [f64; 2] {
        self.correct_tokens
            .map(|correct| ratio(1.0, correct, self.tokens))
    }

    /// F1 with a single rounding, 2·correct/(gold + predicted), so that ties compare equal.
    pub(super) fn f1(&self) -> [f64; 2] {
        [0, 1].map(|side| ratio(2.0, self.correct[side], self.gold + self.predicted[side]))
    }
}

impl PairedBootstrap {
    /// A bootstrap test without sentences.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the schemes of the gold labels and of those of A and B, as
    /// [`Evaluation::with_schemes`] does.
    #[must_use]
    pub fn with_schemes(self, gold: Scheme, predicted: [Scheme; 2]) -> Self {
        let schemes = [gold, predicted[0], predicted[1]];
        Self { schemes, ..self }
    }

    /// Compares accuracy alone: the labels encode no spans, even if some have prefixes.
    #[must_use]
    pub fn without_spans(self) -> Self {
        Self {
            without_spans: true,
            ..self
        }
    }

    /// Counts a sentence: its gold labels, and those predicted by A and by B.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the three differ in length; then nothing is counted.
    pub fn add<L: AsRef<str>>(&mut self, gold: &[L], predicted: [&[L]; 2]) -> Result<()> {
        if let Some(other) = predicted.iter().find(|labels| labels.len() != gold.len()) {
            return Err(Error::parameter(format!(
                "sentence {} has {} gold labels but {} predicted ones",
                self.sentences.len() + 1,
                gold.len(),
                other.len()
            )));
        }
        let mut counts = PairCounts {
            tokens: gold.len() as u64,
            ..PairCounts::default()
        };
        for (side, labels) in predicted.into_iter().enumerate() {
            // conlleval's automaton, reset for each sentence.
            let schemes = (self.schemes[0], self.schemes[side + 1]);
            let mut evaluation = Evaluation::new().with_schemes(schemes.0, schemes.1);
            evaluation.add(gold, labels)?;
            let spans = evaluation.spans();
            counts.gold = spans.gold;
            counts.correct_tokens[side] = evaluation.correct_tokens();
            counts.correct[side] = spans.correct;
            counts.predicted[side] = spans.predicted;
            self.gold_labels.merge(evaluation.span_evidence());
        }
        self.sentences.push(counts);
        Ok(())
    }

    /// Counts a document boundary (`-DOCSTART-`): a token that both label correctly, as in
    /// [`Evaluation::add_document_start`], but not a sentence to draw.
    pub fn add_document_start(&mut self) {
        self.boundaries.tokens += 1;
        self.boundaries.correct_tokens = self.boundaries.correct_tokens.map(|n| n + 1);
    }

    /// Draws `samples` samples and compares the taggers. The result depends only on the arguments,
    /// not on the number of threads: draw i of sample s is a hash of the seed, s and i.
    ///
    /// Takes 16 bytes of memory per sample.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are no sentences or no samples.
    pub fn run(&self, samples: u32, seed: u64) -> Result<BootstrapReport> {
        if self.sentences.is_empty() || samples == 0 {
            return Err(Error::parameter(
                "a comparison needs at least one sentence and one sample",
            ));
        }
        let drawn: Vec<[f64; 2]> = (0..u64::from(samples))
            .into_par_iter()
            .map(|sample| self.sample(seed, sample))
            .map(|counts| [counts.f1(), counts.accuracy()].map(|[a, b]| b - a))
            .collect();
        let mut total = self.boundaries;
        for counts in &self.sentences {
            total += counts;
        }
        let compare = |scores, metric: usize| {
            Difference::new(scores, drawn.iter().map(|d| d[metric]).collect())
        };
        Ok(BootstrapReport {
            tokens: total.tokens,
            sentences: self.sentences.len() as u64,
            samples,
            seed,
            f1: self.has_spans().then(|| compare(total.f1(), 0)),
            accuracy: compare(total.accuracy(), 1),
        })
    }

    /// See [`Evaluation::has_spans`].
    fn has_spans(&self) -> bool {
        let are_spans = self.schemes[0] == Scheme::Plain || self.gold_labels.encodes_spans();
        are_spans && !self.without_spans
    }

    /// Draws as many sentences as there are, with replacement, and adds up their counts.
    pub(super) fn sample(&self, seed: u64, sample: u64) -> PairCounts {
        let n = self.sentences.len() as u128;
        let key = random::nth(seed, sample);
        let mut sum = self.boundaries;
        for draw in 0..self.sentences.len() as u64 {
            // Multiply-shift maps 0..2⁶⁴ evenly to 0..n.
            let random = random::nth(key, draw);
            let at = (u128::from(random) * n) >> 64;
            sum += &self.sentences[at as usize];
        }
        sum
    }
}
