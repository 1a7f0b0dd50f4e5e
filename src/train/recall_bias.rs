//! The recall bias: how much the score of the label `O` is lowered in the model that is kept.
//!
//! Likelihood weighs every token alike, F1 counts spans. Where names are rare and the texts to be tagged
//! differ from those of training, the most likely path leaves out too many; a constant taken off the
//! outside label moves the balance between precision and recall (Minkov, Wang, Tomasic and Cohen:
//! NER systems that suit user's preferences, NAACL 2006). It is one number, it changes nothing in
//! training, and it is chosen on development data together with the iteration.
//!
//! F1 as a function of the bias has one broad peak, which moves slowly from iteration to iteration. So
//! each iteration tries the last choice and its neighbors at a distance that alternates between coarse
//! and fine: three decodings instead of one, no gradient.

use super::development::Scored;
use super::events::DevScore;
use super::options::TrainOptions;
use super::prepare::Labels;
use crate::chain::Order;
use crate::error::{Error, Result};

const COARSE: f64 = 1.0;
const FINE: f64 = 0.25;

/// The search, from iteration to iteration.
#[derive(Clone, Debug)]
pub(super) struct Search {
    bias: f64,
    open: bool,
}

impl Search {
    /// A search where the options leave it open and labels write spans.
    ///
    /// # Errors
    ///
    /// A bias is given, and there is no label `O` that it could be taken off.
    pub fn new(options: &TrainOptions, labels: &Labels) -> Result<Self> {
        let possible = options.order == Order::One && labels.outside().is_some();
        let bias = options.recall_bias.unwrap_or(0.0);
        if bias != 0.0 && !possible {
            return Err(Error::parameter(format!(
                "recall bias {bias}; expected 0, since {}",
                if options.order == Order::Zero {
                    "the order is 0"
                } else {
                    "the labels write no spans with O between them"
                }
            )));
        }
        Ok(Self {
            bias,
            open: possible && options.recall_bias.is_none(),
        })
    }

    /// Goes on from an earlier choice, where there is anything to search for.
    pub fn go_on_from(&mut self, bias: f64) {
        if self.open {
            self.bias = bias;
        }
    }

    /// Whether there is anything to search for.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The last choice.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The biases to try after an iteration, the last choice first. Weights that are all 0 teach nothing.
    pub fn candidates(&self, iteration: usize) -> Vec<f64> {
        let step = if iteration.is_multiple_of(2) {
            COARSE
        } else {
            FINE
        };
        if self.open && iteration > 0 {
            vec![self.bias, self.bias - step, self.bias + step]
        } else {
            vec![self.bias]
        }
    }

    /// Chooses the candidate with the best score; of equal ones, the first.
    pub fn choose(&mut self, candidates: &[f64], scores: &[DevScore]) -> Scored {
        let mut best = Scored {
            score: DevScore::F1(f64::NEG_INFINITY),
            recall_bias: self.bias,
        };
        for (&recall_bias, &score) in candidates.iter().zip(scores) {
            if score.value() > best.score.value() {
                best = Scored { score, recall_bias };
            }
        }
        self.bias = best.recall_bias;
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(f1: impl Fn(f64) -> f64, iterations: usize) -> Scored {
        let mut search = Search {
            bias: 0.0,
            open: true,
        };
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
        let found = run(|bias| 1.0 / (1.0 + (bias - 2.75).abs()), 8);
        assert_eq!(found.recall_bias, 2.75);
        assert_eq!(found.score, DevScore::F1(1.0));
        assert_eq!(run(|bias| -(bias + 1.5_f64).powi(2), 8).recall_bias, -1.5);
    }

    #[test]
    fn where_nothing_is_better_the_bias_stays_0() {
        assert_eq!(run(|_| 0.0, 5).recall_bias, 0.0);
    }

    #[test]
    fn a_given_bias_is_the_only_candidate() {
        let search = Search {
            bias: 0.5,
            open: false,
        };
        assert_eq!(search.candidates(0), [0.5]);
    }
}
