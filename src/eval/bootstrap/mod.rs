//! Whether one tagger is better than another, or lucky: paired bootstrap resampling.
//!
//! The test set of n sentences is taken for the population. A *sample* draws n sentences from it with
//! replacement and scores both taggers, A and B, on the same draw: d* = score(B) − score(A). Many
//! samples show how far d = score(B) − score(A) on the test set is to be trusted.
//!
//! - The interval holds the middle 95 % of the d* (percentile interval): of the S sorted values the
//!   k-th and the (S + 1 − k)-th, k = ⌊0.025·(S + 1)⌋.
//! - The p-value is two-sided: p = min(1, 2·(min(#{d* ≤ 0}, #{d* ≥ 0}) + 1)/(S + 1)). It fits the interval,
//!   which leaves 0 out where p is below 0.05. Adding 1 counts the test set itself among the samples,
//!   so that p is never 0. Half of it is the one-sided p-value.
//!
//! Sentences are drawn, not tokens, because the labels of a sentence hang together. Each sentence is
//! scored once, to counts; a sample adds up n rows of them: O(n·T) label comparisons, then O(n)
//! additions a sample.
//!
//! Sources: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 16; used
//! with 2000 samples by Wang et al. (2013), Section 5.2.

#[cfg(test)]
mod tests;
mod text;

use std::ops::AddAssign;

use rayon::prelude::*;
use serde::Serialize;

use super::Evaluation;
use super::counts::ratio;
use crate::error::{Error, Result};
use crate::random;

/// One in so many samples lies beyond either end of the interval: 2.5 %.
const TAIL: usize = 40;

/// Two taggers on the same sentences, as counts per sentence.
#[derive(Clone, Debug, Default)]
pub struct PairedBootstrap {
    sentences: Vec<Tally>,
    boundaries: Tally, // tokens of document boundaries, which every sample has
    kind_seen: bool,
    not_only_chunks: bool,
}

/// What is counted of a sentence, or of a sample; arrays are `[A, B]`.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    tokens: u64,
    gold: u64,           // spans
    right: [u64; 2],     // tokens
    correct: [u64; 2],   // spans
    predicted: [u64; 2], // spans
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        self.tokens += other.tokens;
        self.gold += other.gold;
        for side in 0..2 {
            self.right[side] += other.right[side];
            self.correct[side] += other.correct[side];
            self.predicted[side] += other.predicted[side];
        }
    }
}

impl Tally {
    fn accuracy(&self) -> [f64; 2] {
        self.right.map(|right| ratio(1.0, right, self.tokens))
    }

    /// Written with a single rounding, 2·correct/(gold + predicted), so that equal scores are equal
    /// numbers and a tie is seen as one.
    fn f1(&self) -> [f64; 2] {
        [0, 1].map(|side| ratio(2.0, self.correct[side], self.gold + self.predicted[side]))
    }
}

/// What `compare --json` writes, under these names. Scores are fractions in 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BootstrapReport {
    /// Number of tokens, document boundaries included.
    pub tokens: u64,
    /// Number of sentences.
    pub sentences: u64,
    /// Number of samples.
    pub samples: u32,
    /// What the samples were drawn with.
    pub seed: u64,
    /// F1 of the spans over all types; `None` where the gold labels write no spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1: Option<Difference>,
    /// Fraction of tokens whose predicted label is the gold one.
    pub accuracy: Difference,
}

/// A score of both taggers, and what the samples say of the difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Score of tagger A.
    pub a: f64,
    /// Score of tagger B.
    pub b: f64,
    /// B less A.
    pub difference: f64,
    /// The middle 95 % of the samples' differences.
    pub interval: [f64; 2],
    /// Two-sided p-value of the difference.
    pub p_value: f64,
}

impl PairedBootstrap {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a sentence: its gold labels, and those predicted by A and by B.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when there are not as many labels of each; nothing is counted then.
    pub fn add<L: AsRef<str>>(&mut self, gold: &[L], predicted: [&[L]; 2]) -> Result<()> {
        if let Some(other) = predicted.iter().find(|labels| labels.len() != gold.len()) {
            return Err(Error::parameter(format!(
                "sentence {} has {} gold labels but {} predicted ones",
                self.sentences.len() + 1,
                gold.len(),
                other.len()
            )));
        }
        let mut tally = Tally {
            tokens: gold.len() as u64,
            ..Tally::default()
        };
        for (side, labels) in predicted.into_iter().enumerate() {
            // conlleval's automaton, started anew for each sentence.
            let mut evaluation = Evaluation::new();
            evaluation.add(gold, labels)?;
            let spans = evaluation.spans();
            tally.gold = spans.gold;
            tally.right[side] = evaluation.correct_tokens();
            tally.correct[side] = spans.correct;
            tally.predicted[side] = spans.predicted;
            self.kind_seen |= evaluation.kind_seen;
            self.not_only_chunks |= !evaluation.only_chunks;
        }
        self.sentences.push(tally);
        Ok(())
    }

    /// Counts a document boundary (`-DOCSTART-`): a token that both label rightly, as
    /// [`Evaluation::add_document_start`] has it, and no sentence to draw.
    pub fn add_document_start(&mut self) {
        self.boundaries.tokens += 1;
        self.boundaries.right = self.boundaries.right.map(|right| right + 1);
    }

    /// Draws `samples` samples and compares. The result depends on the arguments alone, not on the
    /// number of threads: draw i of sample s is a hash of the seed, s and i.
    ///
    /// Takes 16 bytes of memory a sample.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when there are no sentences or no samples.
    pub fn run(&self, samples: u32, seed: u64) -> Result<BootstrapReport> {
        if self.sentences.is_empty() || samples == 0 {
            return Err(Error::parameter(
                "a comparison needs at least one sentence and one sample",
            ));
        }
        let drawn: Vec<[f64; 2]> = (0..u64::from(samples))
            .into_par_iter()
            .map(|sample| self.sample(seed, sample))
            .map(|tally| [difference(tally.f1()), difference(tally.accuracy())])
            .collect();
        let mut whole = self.boundaries;
        for tally in &self.sentences {
            whole += tally;
        }
        let of = |scores, metric: usize| {
            Difference::new(scores, drawn.iter().map(|d| d[metric]).collect())
        };
        Ok(BootstrapReport {
            tokens: whole.tokens,
            sentences: self.sentences.len() as u64,
            samples,
            seed,
            f1: self.has_spans().then(|| of(whole.f1(), 0)),
            accuracy: of(whole.accuracy(), 1),
        })
    }

    /// As [`Evaluation::has_spans`].
    fn has_spans(&self) -> bool {
        self.kind_seen || !self.not_only_chunks
    }

    /// As many sentences as there are, drawn with replacement.
    fn sample(&self, seed: u64, sample: u64) -> Tally {
        let n = self.sentences.len() as u128;
        let key = random::nth(seed, sample);
        let mut sum = self.boundaries;
        for draw in 0..self.sentences.len() as u64 {
            // The upper half of a product of 64 bits each spreads 0..2⁶⁴ evenly over 0..n.
            let random = random::nth(key, draw);
            let at = (u128::from(random) * n) >> 64;
            sum += &self.sentences[at as usize];
        }
        sum
    }
}

impl Difference {
    fn new([a, b]: [f64; 2], mut drawn: Vec<f64>) -> Self {
        let p_value = p_value(&drawn);
        drawn.sort_unstable_by(f64::total_cmp);
        let tail = ((drawn.len() + 1) / TAIL).max(1);
        Self {
            a,
            b,
            difference: b - a,
            interval: [drawn[tail - 1], drawn[drawn.len() - tail]],
            p_value,
        }
    }
}

fn difference([a, b]: [f64; 2]) -> f64 {
    b - a
}

fn p_value(drawn: &[f64]) -> f64 {
    let not_above = drawn.iter().filter(|&&d| d <= 0.0).count();
    let not_below = drawn.iter().filter(|&&d| d >= 0.0).count();
    let one_sided = (not_above.min(not_below) + 1) as f64 / (drawn.len() + 1) as f64;
    (2.0 * one_sided).min(1.0)
}
