//! The recall bias: a constant subtracted from the score of the outside label at every token in
//! the final model.
//!
//! Likelihood weighs all tokens alike, F1 counts spans. If names are rare and the texts to tag
//! differ from the training data, the most likely path misses too many of them; a constant shifts
//! the balance between precision and recall (Minkov, Wang, Tomasic and Cohen: NER systems that suit
//! user's preferences, NAACL 2006). It is a single number that does not influence training, and it
//! is chosen on development data together with the iteration.
//!
//! F1 as a function of the bias has one broad peak, which moves slowly from iteration to iteration.
//! So each iteration tries the last choice and its two neighbors, at a step that alternates between
//! coarse and fine. This costs three decodings instead of one.

use serde::{Deserialize, Serialize};

use super::events::DevScore;
use super::labels::TrainingLabels;
use super::options::CommonOptions;
use crate::chain::Order;
use crate::error::{Error, Result};

const COARSE: f64 = 1.0;
const FINE: f64 = 0.25;

/// The search for the recall bias, from iteration to iteration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RecallBiasSearch {
    /// The last choice.
    pub bias: f64,
    pub is_enabled: bool,
}

/// A recall bias and its score on development data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ScoredBias {
    pub score: DevScore,
    pub recall_bias: f64,
}

impl RecallBiasSearch {
    /// Creates a search, which is disabled if the options set a bias, the order is 0, or the labels
    /// do not encode spans.
    ///
    /// # Errors
    ///
    /// The options set a bias other than 0, but the order is 0 or there is no label `O`.
    pub fn new(options: &CommonOptions, labels: &TrainingLabels) -> Result<Self> {
        let is_possible = options.structure.order == Order::One && labels.outside().is_some();
        let bias = options.recall_bias.unwrap_or(0.0);
        if bias != 0.0 && !is_possible {
            return Err(Error::parameter(format!(
                "recall bias {bias}; expected 0, since {}",
                if options.structure.order == Order::Zero {
                    "the order is 0"
                } else {
                    "the labels do not encode spans separated by O"
                }
            )));
        }
        Ok(Self { bias, is_enabled: is_possible && options.recall_bias.is_none() })
    }

    /// Resumes the search, if enabled, from an earlier choice.
    pub fn resume(&mut self, bias: f64) {
        if self.is_enabled {
            self.bias = bias;
        }
    }

    /// Returns the biases to try after an iteration, the last choice first. At θ = 0 (iteration 0)
    /// scores say nothing about the bias.
    pub fn candidates(&self, iteration: usize) -> Vec<f64> {
        let step = if iteration.is_multiple_of(2) { COARSE } else { FINE };
        if self.is_enabled && iteration > 0 {
            vec![self.bias, self.bias - step, self.bias + step]
        } else {
            vec![self.bias]
        }
    }

    /// Chooses the candidate with the best score; among ties, the first.
    pub fn choose(&mut self, candidates: &[f64], scores: &[DevScore]) -> ScoredBias {
        let mut best =
            ScoredBias { score: DevScore::F1(f64::NEG_INFINITY), recall_bias: self.bias };
        for (&recall_bias, &score) in candidates.iter().zip(scores) {
            if score.value() > best.score.value() {
                best = ScoredBias { score, recall_bias };
            }
        }
        self.bias = best.recall_bias;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(f1: impl Fn(f64) -> f64, iterations: usize) -> ScoredBias {
        let mut search = RecallBiasSearch { bias: 0.0, is_enabled: true };
        let mut last = None;
        for iteration in 1..iterations {
            let candidates = search.candidates(iteration);
            let scores: Vec<DevScore> = candidates.iter().map(|&b| DevScore::F1(f1(b))).collect();
            last = Some(search.choose(&candidates, &scores));
        }
        last.unwrap()
    }

    #[test]
    fn the_search_climbs_to_the_peak_in_steps_of_a_quarter() {
        let best = run(|bias| 1.0 / (1.0 + (bias - 2.75).abs()), 8);
        assert_eq!(best.recall_bias, 2.75);
        assert_eq!(best.score, DevScore::F1(1.0));
        assert_eq!(run(|bias| -(bias + 1.5_f64).powi(2), 8).recall_bias, -1.5);
    }

    #[test]
    fn without_a_better_score_the_bias_stays_0() {
        assert_eq!(run(|_| 0.0, 5).recall_bias, 0.0);
    }

    #[test]
    fn a_given_bias_is_the_only_candidate() {
        let search = RecallBiasSearch { bias: 0.5, is_enabled: false };
        assert_eq!(search.candidates(0), [0.5]);
    }
}
