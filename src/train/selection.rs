//! The selection of the iteration whose weights the model has: scores in; iteration, recall bias
//! and patience out.
//!
//! An iteration counts with the mean of its score and of those of up to four iterations before it
//! in the same stage: a single score wobbles (decision 83). The highest mean of all stages is kept;
//! patience is that of the stage alone, so that an early peak of the warm-up does not end the
//! stage with noise. While the mean is 0, later iterations count as better: early ones may predict
//! no span, and later ones are closer to the minimum.
//!
//! # The recall bias
//!
//! The recall bias is a constant subtracted from the score of the outside label at every token in
//! the final model. Likelihood weighs all tokens alike, F1 counts spans. If names are rare and the
//! texts to tag differ from the training data, the most likely path misses too many of them; a
//! constant shifts the balance between precision and recall (Minkov, Wang, Tomasic and Cohen: NER
//! systems that suit user's preferences, NAACL 2006). It is a single number that does not influence
//! training, and it is chosen on development data together with the iteration.
//!
//! F1 as a function of the bias has one broad peak, which moves slowly from iteration to iteration.
//! So each iteration tries the last choice and its two neighbors, at a step that alternates between
//! coarse and fine. This costs three decodings instead of one.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::events::DevScore;
use super::labels::TrainingLabels;
use super::options::CommonOptions;
use super::schedule::{Stage, StageObjective};
use crate::chain::Order;
use crate::error::{Error, Result};

/// Iterations whose scores are averaged to choose one.
const AVERAGED: usize = 5;

/// Steps of the search for the recall bias.
const COARSE: f64 = 1.0;
const FINE: f64 = 0.25;

/// An iteration, and the mean of its score and of those of up to four before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanScore {
    /// Number of the iteration.
    pub iteration: usize,
    /// The mean, between 0 and 1.
    pub mean: f64,
}

/// Chooses an iteration by its [`MeanScore`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MeanChoice {
    recent: VecDeque<f64>, // scores of the last iterations of the stage
    /// The iteration with the highest mean so far, the first among ties in a stage; a later stage
    /// wins a tie.
    pub kept: Option<MeanScore>,
    /// That of this stage.
    pub best_of_stage: Option<MeanScore>,
}

impl MeanChoice {
    /// Begins a stage. Its scores belong to another objective.
    pub fn begin_stage(&mut self) {
        self.recent.clear();
        self.best_of_stage = None;
    }

    /// Adds the score of an iteration, and returns the mean. Iteration 0 counts by itself: its
    /// weights are what others trained, or nothing.
    pub fn add(&mut self, iteration: usize, score: f64) -> f64 {
        let mut mean = score;
        if iteration > 0 {
            if self.recent.len() == AVERAGED {
                self.recent.pop_front();
            }
            self.recent.push_back(score);
            mean = self.recent.iter().sum::<f64>() / self.recent.len() as f64;
        }
        let new = MeanScore { iteration, mean };
        let is_better = |old: MeanScore| mean > old.mean || old.mean == 0.0;
        let is_of_stage = self.kept == self.best_of_stage;
        if self.kept.is_none_or(|kept| is_better(kept) || (!is_of_stage && mean == kept.mean)) {
            self.kept = Some(new);
        }
        if self.best_of_stage.is_none_or(is_better) {
            self.best_of_stage = Some(new);
        }
        mean
    }
}

/// The search for the recall bias, from iteration to iteration.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
            let reason = match options.structure.order {
                Order::Zero => "the order is 0",
                Order::One => "the labels do not encode spans separated by O",
            };
            return Err(Error::parameter(format!(
                "recall bias {bias}; expected 0, since {reason}"
            )));
        }
        Ok(Self { bias, is_enabled: is_possible && options.recall_bias.is_none() })
    }

    /// Returns the biases to try after an iteration, the last choice first. At θ = 0 (iteration 0)
    /// scores say nothing about the bias.
    pub fn candidates(&self, iteration: usize) -> Vec<f64> {
        let step = if iteration.is_multiple_of(2) { COARSE } else { FINE };
        match self.is_enabled && iteration > 0 {
            true => vec![self.bias, self.bias - step, self.bias + step],
            false => vec![self.bias],
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

/// Chooses one of the iterations by their scores on development data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Selection {
    pub search: RecallBiasSearch,
    choice: MeanChoice,
    scored: Option<ScoredBias>, // of the iteration that is kept
    /// Otherwise the iteration that the learner has chosen, unless it is the last.
    pub chosen: Option<usize>,
    /// The iteration from which patience counts, in a stage that stops early.
    patience_start: Option<usize>,
    /// The last iteration before the noise, where it begins within a stage.
    before_noise: Option<usize>,
}

impl Selection {
    /// Creates a selection, given how the recall bias is found.
    pub fn new(search: RecallBiasSearch) -> Self {
        Self { search, ..Self::default() }
    }

    /// Begins a stage after a number of iterations.
    pub fn begin_stage(&mut self, stage: &Stage, iterations: usize) {
        self.choice.begin_stage();
        self.patience_start = stage.stops_after.map(|free| iterations.saturating_add(free));
        let is_noisy = stage.objective == StageObjective::WithNoise;
        self.before_noise = self.patience_start.filter(|&start| is_noisy && start > iterations);
    }

    /// Returns the iteration that is kept so far, with its scores; none without development data
    /// that choose.
    pub fn kept(&self) -> Option<(MeanScore, ScoredBias)> {
        self.choice.kept.zip(self.scored)
    }

    /// Returns whether an iteration is the one that is kept so far.
    pub fn keeps(&self, iteration: usize) -> bool {
        self.choice.kept.is_some_and(|kept| kept.iteration == iteration)
    }

    /// Decides on an iteration with this score, and returns the mean score. Its weights are to be
    /// kept if the selection [keeps](Self::keeps) it.
    pub fn decide(&mut self, iteration: usize, scored: ScoredBias) -> f64 {
        if self.before_noise.is_some_and(|last| iteration == last + 1) {
            self.choice.begin_stage();
        }
        let mean = self.choice.add(iteration, scored.score.value());
        if self.keeps(iteration) {
            self.scored = Some(scored);
        }
        mean
    }

    /// Returns the number of iterations since the best one of the stage, without those of the
    /// warm-up.
    pub fn waited(&self, iteration: usize) -> usize {
        let since = self.choice.best_of_stage.zip(self.patience_start);
        since.map_or(0, |(best, start)| iteration.saturating_sub(best.iteration.max(start)))
    }

    /// Returns whether training stops early at an iteration. Patience does not count before there
    /// is a score above 0.
    pub fn is_exhausted(&self, iteration: usize, patience: usize) -> bool {
        let is_scored = self.choice.best_of_stage.is_some_and(|best| best.mean > 0.0);
        is_scored && self.waited(iteration) >= patience
    }

    /// Returns the highest mean score of the iterations after a warm-up, if there are any and the
    /// kept iteration is none of them.
    pub fn lost_after(&self, warm_up: usize) -> Option<f64> {
        let best = self.choice.best_of_stage.filter(|best| best.iteration > warm_up)?;
        self.choice.kept.filter(|kept| kept.iteration <= warm_up).map(|_| best.mean)
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
        (selection.kept().unwrap().0.iteration, number)
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
            let (early, late) = (means(&warm_up), means(made));
            // Patience may not end during the warm-up.
            prop_assert!(last >= warm_up.len());
            if early.is_empty() && late.is_empty() {
                prop_assert_eq!(kept, 0);
                return Ok(());
            }
            // The first highest mean of a stage; a tie goes to the one with noise.
            let best = |means: &[f64]| {
                let highest = means.iter().copied().fold(0.0, f64::max);
                match highest > 0.0 {
                    true => (highest, means.iter().position(|&mean| mean == highest).unwrap()),
                    false => (highest, means.len().saturating_sub(1)),
                }
            };
            let (before, during) = (best(&early), best(&late));
            let expected = match !late.is_empty() && during.0 >= before.0 {
                true => warm_up.len() + during.1,
                false => before.1,
            };
            prop_assert_eq!(kept, expected + 1);
            let is_early = made.len() < noisy.len();
            let waited = last - (warm_up.len() + during.1 + 1).min(last);
            prop_assert!(!is_early || waited == PATIENCE);
            prop_assert!(during.0 == 0.0 || waited <= PATIENCE);
        }

        #[test]
        fn the_bias_of_the_best_candidate_comes_with_its_score(
            scores in proptest::collection::vec(0.0_f64..1.0, 3),
            iteration in 1_usize..9,
        ) {
            let search = RecallBiasSearch { bias: 0.5, is_enabled: true };
            let mut selection = Selection::new(search);
            let candidates = selection.search.candidates(iteration);
            let given: Vec<DevScore> = scores.iter().map(|&score| DevScore::F1(score)).collect();
            let found = selection.search.choose(&candidates, &given);
            let best = scores.iter().copied().fold(0.0, f64::max);
            prop_assert_eq!(found.score.value(), best);
            let at = scores.iter().position(|&score| score == best).unwrap();
            prop_assert_eq!(found.recall_bias, candidates[at]);
            prop_assert_eq!(selection.search.bias, candidates[at]);
            prop_assert!(selection.search.is_enabled);
        }
    }

    /// The last choice of a search with this score of a bias.
    fn search(f1: impl Fn(f64) -> f64, iterations: usize) -> ScoredBias {
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
        let best = search(|bias| 1.0 / (1.0 + (bias - 2.75).abs()), 8);
        assert_eq!(best.recall_bias, 2.75);
        assert_eq!(best.score, DevScore::F1(1.0));
        assert_eq!(search(|bias| -(bias + 1.5_f64).powi(2), 8).recall_bias, -1.5);
    }

    #[test]
    fn without_a_better_score_the_bias_stays_0() {
        assert_eq!(search(|_| 0.0, 5).recall_bias, 0.0);
    }

    #[test]
    fn a_given_bias_is_the_only_candidate() {
        let search = RecallBiasSearch { bias: 0.5, is_enabled: false };
        assert_eq!(search.candidates(0), [0.5]);
    }
}
