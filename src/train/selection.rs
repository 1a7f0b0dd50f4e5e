//! The selection of the iteration whose weights the model has: scores in; iteration, recall bias
//! and patience out.
//!
//! An iteration counts with the mean of its score and of those of up to four iterations before it
//! in the same stage: a single score wobbles (decision 83). The highest mean is kept. Iterations
//! with noise replace those of the warm-up, whatever their scores. While the mean is 0, later
//! iterations count as better: early ones may predict no span, and later ones are closer to the
//! minimum.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::events::DevScore;
use super::recall_bias::{RecallBiasSearch, ScoredBias};
use super::schedule::{Stage, StageObjective};

/// Iterations whose scores are averaged to choose one.
const AVERAGED: usize = 5;

/// The iteration whose weights are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub iteration: usize,
    pub scored: ScoredBias,
    mean: f64,
}

/// Chooses one of the iterations by their scores on development data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Selection {
    search: RecallBiasSearch,
    recent: VecDeque<f64>, // scores of the last iterations of the stage
    /// The best iteration so far; none without development data that choose.
    pub kept: Option<Kept>,
    /// Otherwise the iteration that the learner has chosen, unless it is the last.
    pub chosen: Option<usize>,
    /// The iteration from which patience counts, in a stage that stops early.
    patience_start: Option<usize>,
    /// Number of the first iterations that those with noise replace.
    replaced: usize,
}

impl Selection {
    /// Creates a selection, given how the recall bias is found.
    pub fn new(search: RecallBiasSearch) -> Self {
        Self {
            search,
            recent: VecDeque::new(),
            kept: None,
            chosen: None,
            patience_start: None,
            replaced: 0,
        }
    }

    /// Begins a stage after a number of iterations. Its scores belong to another objective.
    pub fn begin_stage(&mut self, stage: &Stage, iterations: usize) {
        self.recent.clear();
        self.patience_start = stage.stops_after.map(|free| iterations.saturating_add(free));
        self.replaced = match stage.objective {
            StageObjective::WithNoise => self.patience_start.unwrap_or(0),
            _ => 0,
        };
    }

    /// Returns the recall biases with which an iteration is to be scored.
    pub fn candidates(&self, iteration: usize) -> Vec<f64> {
        self.search.candidates(iteration)
    }

    /// Returns the last recall bias, and whether it is being searched.
    pub fn recall_bias(&self) -> (f64, bool) {
        (self.search.bias, self.search.is_enabled)
    }

    /// Records the scores of an iteration with each of its candidates; returns the best one.
    pub fn score(&mut self, iteration: usize, scores: &[DevScore]) -> ScoredBias {
        let candidates = self.search.candidates(iteration);
        self.search.choose(&candidates, scores)
    }

    /// Decides on an iteration with this score. Returns whether its weights are to be kept.
    pub fn decide(&mut self, iteration: usize, scored: ScoredBias) -> bool {
        let score = scored.score.value();
        let mean = match iteration {
            0 => score, // of what others trained, or of nothing
            _ => self.mean_with(score),
        };
        let is_replaced = |i: usize| (1..=self.replaced).contains(&i);
        let is_better = |kept: Kept| {
            let replaces = is_replaced(kept.iteration) && !is_replaced(iteration);
            mean > kept.mean || kept.mean == 0.0 || replaces
        };
        let is_kept = self.kept.is_none_or(is_better);
        if is_kept {
            self.kept = Some(Kept { iteration, scored, mean });
        }
        is_kept
    }

    fn mean_with(&mut self, score: f64) -> f64 {
        if self.recent.len() == AVERAGED {
            self.recent.pop_front();
        }
        self.recent.push_back(score);
        self.recent.iter().sum::<f64>() / self.recent.len() as f64
    }

    /// Returns the number of iterations since the best one, without those of the warm-up.
    pub fn waited(&self, iteration: usize) -> usize {
        let since = self.kept.zip(self.patience_start);
        since.map_or(0, |(kept, start)| iteration.saturating_sub(kept.iteration.max(start)))
    }

    /// Returns whether training stops early at an iteration. Patience does not count before there
    /// is a score above 0.
    pub fn is_exhausted(&self, iteration: usize, patience: usize) -> bool {
        self.kept.is_some_and(|kept| kept.mean > 0.0) && self.waited(iteration) >= patience
    }

    /// Returns how many of the iterations belong to the warm-up.
    pub fn warm_up(&self, iterations: usize) -> usize {
        self.patience_start.unwrap_or(iterations)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATIENCE: usize = 4;

    fn scored(score: f64) -> ScoredBias {
        ScoredBias { score: DevScore::F1(score), recall_bias: 0.0 }
    }

    /// The scores of a warm-up and of the iterations with noise, which stop early. Returns the
    /// iteration that is kept and the last one; the state is stored and read after `pause`
    /// iterations.
    fn select(warm_up: &[f64], noisy: &[f64], pause: usize) -> (usize, usize) {
        let search = RecallBiasSearch { bias: 0.0, is_enabled: false };
        let mut selection = Selection::new(search);
        let mut number = 0;
        selection.begin_stage(&Stage::fixed(StageObjective::WithoutNoise, warm_up.len()), 0);
        selection.decide(0, scored(0.0));
        for (i, &score) in warm_up.iter().chain(noisy).enumerate() {
            if i == warm_up.len() {
                selection.begin_stage(&Stage::last(StageObjective::WithNoise), i);
            }
            number = i + 1;
            selection.decide(number, scored(score));
            if number == pause {
                let text = serde_json::to_string(&selection).unwrap();
                selection = serde_json::from_str(&text).unwrap();
            }
            if selection.is_exhausted(number, PATIENCE) {
                break;
            }
        }
        (selection.kept.unwrap().iteration, number)
    }

    /// The mean scores of iterations, as the definition says.
    fn means(scores: &[f64]) -> Vec<f64> {
        let window = |i: usize| &scores[(i + 1).saturating_sub(AVERAGED)..=i];
        let mean = |w: &[f64]| w.iter().sum::<f64>() / w.len() as f64;
        (0..scores.len()).map(|i| mean(window(i))).collect()
    }

    fn scores(most: usize) -> impl Strategy<Value = Vec<f64>> {
        let score = prop_oneof![Just(0.0), (1_u32..9).prop_map(|n| f64::from(n) / 8.0)];
        proptest::collection::vec(score, 0..most)
    }

    proptest! {
        #[test]
        fn the_first_highest_mean_is_kept_until_patience_ends(
            warm_up in scores(8),
            noisy in scores(30),
            pause in 1_usize..40,
        ) {
            let (kept, last) = select(&warm_up, &noisy, 0);
            prop_assert_eq!((kept, last), select(&warm_up, &noisy, pause));
            let made = &noisy[..last.saturating_sub(warm_up.len())];
            let (first, means) = match made.is_empty() {
                true => (0, means(&warm_up)),
                false => (warm_up.len(), means(made)),
            };
            // Patience may not end during the warm-up.
            prop_assert!(last >= warm_up.len());
            if means.is_empty() {
                prop_assert_eq!(kept, 0);
                return Ok(());
            }
            let highest = means.iter().copied().fold(0.0, f64::max);
            let expected = match highest > 0.0 {
                true => means.iter().position(|&mean| mean == highest).unwrap(),
                false => means.len() - 1,
            };
            prop_assert_eq!(kept, first + expected + 1);
            let is_early = made.len() < noisy.len();
            prop_assert!(!is_early || last - kept == PATIENCE);
            prop_assert!(made.is_empty() || highest == 0.0 || last - kept <= PATIENCE);
        }

        #[test]
        fn the_bias_of_the_best_candidate_comes_with_its_score(
            scores in proptest::collection::vec(0.0_f64..1.0, 3),
            iteration in 1_usize..9,
        ) {
            let search = RecallBiasSearch { bias: 0.5, is_enabled: true };
            let mut selection = Selection::new(search);
            let candidates = selection.candidates(iteration);
            let given: Vec<DevScore> = scores.iter().map(|&score| DevScore::F1(score)).collect();
            let found = selection.score(iteration, &given);
            let best = scores.iter().copied().fold(0.0, f64::max);
            prop_assert_eq!(found.score.value(), best);
            let at = scores.iter().position(|&score| score == best).unwrap();
            prop_assert_eq!(found.recall_bias, candidates[at]);
            prop_assert_eq!(selection.recall_bias(), (candidates[at], true));
        }
    }
}
