//! Paired bootstrap resampling: whether the difference between two taggers is significant.
//!
//! The test set of n sentences represents the population. A *sample* draws n sentences from it
//! with replacement and scores both taggers, A and B, on the same draw: d* = score(B) − score(A).
//! The distribution of d* over many samples estimates the uncertainty of d = score(B) − score(A)
//! on the test set.
//!
//! - The 95 % percentile interval: of the S sorted values of d*, the k-th and the (S + 1 − k)-th,
//!   k = ⌊0.025·(S + 1)⌋.
//! - The two-sided p-value: p = min(1, 2·(min(#{d* ≤ 0}, #{d* ≥ 0}) + 1)/(S + 1)). It is consistent
//!   with the interval, which excludes 0 if p is below 0.05. Adding 1 counts the test set itself as
//!   a sample, so that p is never 0. Half of it is the one-sided p-value.
//!
//! Sentences are drawn, not tokens, because the labels within a sentence are dependent. Each
//! sentence is reduced to counts once; a sample adds up n rows of counts: O(n·T) label comparisons,
//! then O(n) additions per sample.
//!
//! Sources: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 13 and 16; used
//! with 2000 samples by Wang et al. (2013), Section 5.2. With so few, the p-value has a standard
//! error of 0.007 near 0.05, with 20,000 of 0.002.

use std::fmt;
use std::ops::AddAssign;

use dropchain::eval::Evaluation;
use dropchain::kernel::eval::ratio;
use dropchain::kernel::random;
use dropchain::label::Labeling;
use dropchain::{Error, Result};
use rayon::prelude::*;
use serde::Serialize;

/// Paired bootstrap test of two taggers, A and B, on the same sentences.
#[derive(Clone, Debug, Default)]
pub struct PairedBootstrap {
    sentences: Vec<PairCounts>,
    boundaries: PairCounts, // tokens of document boundaries, which are part of every sample
    labelings: [Labeling; 3], // of gold labels and of those of A and B
    names: Option<[String; 2]>,
}

/// Counts of a sentence or of a sample; arrays are `[A, B]`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairCounts {
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
        self.correct_tokens.map(|correct| ratio(1.0, correct, self.tokens))
    }

    /// F1 with a single rounding, 2·correct/(gold + predicted), so that ties compare equal.
    pub(crate) fn f1(&self) -> [f64; 2] {
        [0, 1].map(|side| ratio(2.0, self.correct[side], self.gold + self.predicted[side]))
    }
}

impl PairedBootstrap {
    /// Number of samples that commands draw by default.
    pub const SAMPLES: u32 = 20_000;

    /// Sets how the gold labels and those of A and B encode spans, as
    /// [`Evaluation::with_labelings`] does. By default they encode none.
    #[must_use]
    pub fn with_labelings(self, gold: &Labeling, predicted: [&Labeling; 2]) -> Self {
        Self { labelings: [gold, predicted[0], predicted[1]].map(Labeling::clone), ..self }
    }

    /// Names the taggers; by default they are A and B.
    #[must_use]
    pub fn with_names(self, names: [String; 2]) -> Self {
        Self { names: Some(names), ..self }
    }

    /// Counts a sentence: its gold labels, and those predicted by A and by B.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the three differ in length; then nothing is counted.
    pub fn add<L: AsRef<str>>(&mut self, gold: &[L], predicted: [&[L]; 2]) -> Result<()> {
        if let Some(other) = predicted.iter().find(|labels| labels.len() != gold.len()) {
            let (number, gold, other) = (self.sentences.len() + 1, gold.len(), other.len());
            return Err(Error::parameter(format!(
                "sentence {number} has {gold} gold labels but {other} predicted ones"
            )));
        }
        let mut counts = PairCounts { tokens: gold.len() as u64, ..PairCounts::default() };
        for (side, labels) in predicted.into_iter().enumerate() {
            // conlleval's automaton, reset for each sentence.
            let [own, other] = [&self.labelings[0], &self.labelings[side + 1]];
            let mut evaluation = Evaluation::new().with_labelings(own, other);
            evaluation.add(gold, labels)?;
            let spans = evaluation.spans();
            counts.gold = spans.gold;
            counts.correct_tokens[side] = evaluation.correct_tokens();
            counts.correct[side] = spans.correct;
            counts.predicted[side] = spans.predicted;
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
        self.check(samples)?;
        let drawn = (0..u64::from(samples)).into_par_iter().map(|sample| {
            let counts = self.sample(seed, sample);
            [counts.f1(), counts.accuracy()].map(|[a, b]| b - a)
        });
        let drawn: Vec<[f64; 2]> = drawn.collect();
        let mut total = self.boundaries;
        self.sentences.iter().for_each(|counts| total += counts);
        let compare = |scores, metric: usize| {
            Difference::new(scores, drawn.iter().map(|d| d[metric]).collect())
        };
        Ok(BootstrapReport {
            systems: self.names.clone().unwrap_or_else(|| ["A", "B"].map(str::to_owned)),
            tokens: total.tokens,
            sentences: self.sentences.len() as u64,
            samples,
            seed,
            f1: self.labelings[0].scheme.has_spans().then(|| compare(total.f1(), 0)),
            accuracy: compare(total.accuracy(), 1),
        })
    }

    /// Returns the 95 % percentile interval of the score of A: F1, or the accuracy if the gold
    /// labels encode no spans. It depends only on the arguments.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are no sentences or no samples.
    pub fn interval(&self, samples: u32, seed: u64) -> Result<[f64; 2]> {
        self.check(samples)?;
        let has_spans = self.labelings[0].scheme.has_spans();
        let scores = (0..u64::from(samples)).into_par_iter().map(|sample| {
            let counts = self.sample(seed, sample);
            if has_spans { counts.f1()[0] } else { counts.accuracy()[0] }
        });
        Ok(interval(scores.collect()))
    }

    fn check(&self, samples: u32) -> Result<()> {
        if self.sentences.is_empty() || samples == 0 {
            let message = "a comparison needs at least one sentence and one sample";
            return Err(Error::parameter(message));
        }
        Ok(())
    }

    /// Draws as many sentences as there are, with replacement, and adds up their counts.
    pub(crate) fn sample(&self, seed: u64, sample: u64) -> PairCounts {
        let n = self.sentences.len();
        let key = random::nth(seed, sample);
        let mut sum = self.boundaries;
        for i in 0..n as u64 {
            sum += &self.sentences[draw(key, i, n)];
        }
        sum
    }
}

/// Returns draw i of a sample, in 0..n: multiply-shift maps 0..2⁶⁴ evenly to it.
pub(crate) fn draw(key: u64, i: u64, n: usize) -> usize {
    ((u128::from(random::nth(key, i)) * n as u128) >> 64) as usize
}

/// One in this many samples lies beyond each end of the interval: 2.5 %.
const TAIL: usize = 40;

/// Significance levels that the report names, strictest first.
const LEVELS: [(f64, &str); 3] = [(0.001, "0.1%"), (0.01, "1%"), (0.05, "5%")];

/// The result of a paired bootstrap test. `compare --json` serializes it with these field names.
/// Scores are fractions in 0..=1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BootstrapReport {
    /// The names of the taggers.
    pub systems: [String; 2],
    /// Number of tokens, document boundaries included.
    pub tokens: u64,
    /// Number of sentences.
    pub sentences: u64,
    /// Number of samples.
    pub samples: u32,
    /// Seed of the samples.
    pub seed: u64,
    /// Span F1, micro-averaged; `None` if the gold labels encode no spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub f1: Option<Difference>,
    /// Fraction of tokens with the correct label.
    pub accuracy: Difference,
}

impl BootstrapReport {
    /// Returns the score that counts, with its name: F1, or the accuracy if the gold labels encode
    /// no spans.
    pub fn score(&self) -> (&'static str, Difference) {
        self.f1.map_or(("accuracy", self.accuracy), |f1| ("F1", f1))
    }
}

/// A score of both taggers, and the significance of their difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Scores of the two taggers.
    pub scores: [f64; 2],
    /// The second score minus the first.
    pub difference: f64,
    /// 95 % percentile interval of the difference.
    pub interval: [f64; 2],
    /// Two-sided p-value of the difference.
    pub p_value: f64,
}

impl Difference {
    /// Compares scores `[A, B]`, given the differences of the samples.
    fn new([a, b]: [f64; 2], drawn: Vec<f64>) -> Self {
        let p_value = p_value(&drawn);
        Self { scores: [a, b], difference: b - a, interval: interval(drawn), p_value }
    }

    /// Returns whether the second tagger is worse than the first, significantly at the level of
    /// 5 %.
    pub fn is_worse(&self) -> bool {
        self.difference < 0.0 && self.p_value <= 0.05
    }
}

/// Returns the percentile interval of the values of samples.
pub(crate) fn interval(mut drawn: Vec<f64>) -> [f64; 2] {
    drawn.sort_unstable_by(f64::total_cmp);
    let tail = ((drawn.len() + 1) / TAIL).max(1);
    [drawn[tail - 1], drawn[drawn.len() - tail]]
}

/// The two-sided p-value of a difference, given those of the samples.
fn p_value(drawn: &[f64]) -> f64 {
    let not_above = drawn.iter().filter(|&&d| d <= 0.0).count();
    let not_below = drawn.iter().filter(|&&d| d >= 0.0).count();
    let one_sided = (not_above.min(not_below) + 1) as f64 / (drawn.len() + 1) as f64;
    (2.0 * one_sided).min(1.0)
}

/// Writes a table in percent with a verdict on each score; ends with a newline.
impl fmt::Display for BootstrapReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sentences, tokens, samples, seed, .. } = self;
        writeln!(f, "{sentences} sentences, {tokens} tokens; {samples} samples, seed {seed}")?;
        let widths = self.systems.each_ref().map(|name| name.chars().count().max(6));
        let ([width_a, width_b], [a, b]) = (widths, &self.systems);
        write!(f, "{:8}  {a:>width_a$}  {b:>width_b$}  difference", "")?;
        writeln!(f, "  {:>18}  {:>6}", "95% interval", "p")?;
        let f1 = self.f1.iter().map(|f1| ("F1", f1));
        for (name, score) in f1.chain([("accuracy", &self.accuracy)]) {
            let [[a, b], [low, high]] =
                [score.scores, score.interval].map(|pair| pair.map(|x| 100.0 * x));
            let interval = format!("[{low:+.2}, {high:+.2}]");
            let (difference, p) = (100.0 * score.difference, score.p_value);
            write!(f, "{name:8}  {a:width_a$.2}  {b:width_b$.2}  {difference:+10.2}")?;
            writeln!(f, "  {interval:>18}  {p:.4}  {}", verdict(score, &self.systems))?;
        }
        Ok(())
    }
}

fn verdict(score: &Difference, systems: &[String; 2]) -> String {
    let better = &systems[usize::from(score.difference > 0.0)];
    match LEVELS.iter().find(|(level, _)| score.p_value <= *level) {
        Some((_, level)) if score.difference != 0.0 => {
            format!("{better} is better, significant at the {level} level")
        }
        _ => "no significant difference".to_owned(),
    }
}

/// Adjusts p-values for the number of tests, by the step-down method of Holm (1979): the chance of
/// any p-value below α is at most α if there is no difference at all. In the order given.
///
/// The i-th lowest of m p-values, from 1, is multiplied by m + 1 − i; none is below a lower one, or
/// above 1.
///
/// ```
/// let adjusted = dropchain_analysis::holm(&[0.04, 0.01, 0.5]);
/// assert_eq!(adjusted, [0.08, 0.03, 0.5]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut highest = 0.0_f64;
    for (rank, i) in order.into_iter().enumerate() {
        let factor = (p_values.len() - rank) as f64;
        highest = highest.max(factor * p_values[i]).min(1.0);
        adjusted[i] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_count_ties_on_both_sides_and_are_never_zero() {
        assert_eq!(p_value(&[0.1; 9]), 0.2);
        assert_eq!(p_value(&[-0.1; 9]), 0.2);
        assert_eq!(p_value(&[0.0; 9]), 1.0);
        assert_eq!(p_value(&[0.1, 0.1, 0.0, -0.1, 0.1, 0.1, 0.1, 0.1, 0.1]), 0.6);
    }

    #[test]
    fn the_interval_excludes_one_in_forty_samples_at_either_end() {
        let drawn = |samples: i32| (1..=samples).rev().map(f64::from).collect();
        let interval = |samples| Difference::new([0.0, 1.0], drawn(samples)).interval;
        assert_eq!(interval(1), [1.0, 1.0]);
        assert_eq!(interval(38), [1.0, 38.0]);
        assert_eq!(interval(79), [2.0, 78.0]);
        assert_eq!(interval(2000), [50.0, 1951.0]);
    }

    #[test]
    fn the_table_names_the_significance_level() {
        let score = |p_value| Difference {
            scores: [0.8467, 0.8742],
            difference: 0.0275,
            interval: [0.012, 0.0431],
            p_value,
        };
        let report = BootstrapReport {
            systems: ["A", "dropout.tagged"].map(str::to_owned),
            tokens: 20,
            sentences: 3,
            samples: 2000,
            seed: 1,
            f1: Some(score(0.0009995)),
            accuracy: score(0.2),
        };
        assert!(!report.accuracy.is_worse());
        for (difference, p_value, is_worse) in [(-0.1, 0.05, true), (-0.1, 0.051, false)] {
            assert_eq!(Difference { difference, p_value, ..score(1.0) }.is_worse(), is_worse);
        }
        assert_eq!(
            report.to_string(),
            "\
3 sentences, 20 tokens; 2000 samples, seed 1
               A  dropout.tagged  difference        95% interval       p
F1         84.67           87.42       +2.75      [+1.20, +4.31]  0.0010  \
           dropout.tagged is better, significant at the 0.1% level
accuracy   84.67           87.42       +2.75      [+1.20, +4.31]  0.2000  no significant difference
"
        );
    }

    #[test]
    fn one_test_needs_no_adjustment() {
        assert_eq!(holm(&[0.03]), [0.03]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn adjusted_p_values_keep_their_order_and_are_at_most_one() {
        // 3·0.02 = 0.06 is more than 2·0.021 = 0.042.
        assert_eq!(holm(&[0.021, 0.02, 0.9]), [0.06, 0.06, 0.9]);
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
    }
}
