//! Confidence intervals of the scores of a tagger, of all spans and of each type.
//!
//! Sentences are drawn as by [`PairedBootstrap`](crate::PairedBootstrap), whose interval of all
//! spans is the same for as many samples and the same seed. A sample adds up the counts of its
//! sentences: O(n + types that occur in them).

use std::collections::BTreeMap;

use dropchain::eval::{Counts, Evaluation};
use dropchain::kernel::eval::ratio;
use dropchain::kernel::random;
use rayon::prelude::*;

use crate::bootstrap::{PairedBootstrap, draw, interval};

/// Sentences that are drawn in all samples at most, unless there are few samples.
const DRAWS: usize = 100_000_000;

/// The fewest samples.
const MIN_SAMPLES: usize = 1000;

/// The most types with intervals, which bounds the memory.
const MAX_TYPES: usize = 100;

/// Counts by sentence, from which samples are drawn.
#[derive(Clone, Debug, Default)]
pub struct SentenceCounts {
    sentences: Vec<Sentence>,
    types: BTreeMap<String, usize>,
    boundaries: u64, // of documents: tokens of every sample with the right label
}

/// Counts of a sentence.
#[derive(Clone, Debug)]
struct Sentence {
    tokens: u64,
    correct: u64,
    spans: Vec<(usize, Counts)>, // of types that occur
}

/// The 95 % percentile intervals of scores, which are fractions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreIntervals {
    /// Of the accuracy.
    pub accuracy: [f64; 2],
    /// Of the F1 of all spans.
    pub f1: [f64; 2],
    /// Of the F1 of each type, of the first hundred that occur.
    pub types: BTreeMap<String, [f64; 2]>,
}

impl SentenceCounts {
    /// Adds the counts of a sentence.
    pub fn add(&mut self, sentence: &Evaluation) {
        let spans = sentence.types().map(|(name, counts)| {
            let next = self.types.len();
            (*self.types.entry(name.to_owned()).or_insert(next), counts)
        });
        let (spans, tokens) = (spans.collect(), sentence.tokens());
        self.sentences.push(Sentence { tokens, correct: sentence.correct_tokens(), spans });
    }

    /// Counts a document boundary, as [`Evaluation::add_document_start`] does.
    pub fn add_document_start(&mut self) {
        self.boundaries += 1;
    }

    /// Returns the intervals; `None` without sentences. The more sentences, the fewer samples.
    pub fn intervals(&self, seed: u64) -> Option<ScoreIntervals> {
        let n = self.sentences.len();
        let samples = (DRAWS / n.max(1)).clamp(MIN_SAMPLES, PairedBootstrap::SAMPLES as usize);
        let samples: Vec<Vec<f64>> =
            (0..samples as u64).into_par_iter().map(|s| self.sample(seed, s)).collect();
        let interval = |column: usize| interval(samples.iter().map(|row| row[column]).collect());
        let types = self.types.iter().filter(|(_, i)| **i < MAX_TYPES);
        (n > 0).then(|| ScoreIntervals {
            accuracy: interval(0),
            f1: interval(1),
            types: types.map(|(name, i)| (name.clone(), interval(i + 2))).collect(),
        })
    }

    /// Returns the scores of a sample: accuracy, F1 of all spans, and of each type.
    fn sample(&self, seed: u64, sample: u64) -> Vec<f64> {
        let n = self.sentences.len();
        let mut types = vec![Counts::default(); self.types.len()];
        let [mut tokens, mut correct] = [self.boundaries; 2];
        let key = random::nth(seed, sample);
        for i in 0..n as u64 {
            let drawn = &self.sentences[draw(key, i, n)];
            tokens += drawn.tokens;
            correct += drawn.correct;
            for (i, counts) in &drawn.spans {
                types[*i].correct += counts.correct;
                types[*i].gold += counts.gold;
                types[*i].predicted += counts.predicted;
            }
        }
        let f1 = |counts: &Counts| ratio(2.0, counts.correct, counts.gold + counts.predicted);
        let sum = |of: fn(&Counts) -> u64| types.iter().map(of).sum();
        let [correct_spans, gold, predicted] =
            [sum(|c| c.correct), sum(|c| c.gold), sum(|c| c.predicted)];
        let all = Counts { correct: correct_spans, gold, predicted };
        let scores = [ratio(1.0, correct, tokens), f1(&all)].into_iter();
        scores.chain(types.iter().take(MAX_TYPES).map(f1)).collect()
    }
}
