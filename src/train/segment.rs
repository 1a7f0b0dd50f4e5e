//! Training in segments: a limited number of iterations from initial weights, to be resumed later.
//!
//! L-BFGS starts each segment with an empty history; everything else is as in a single run. What a
//! segment ends with is weights, or whatever a learner continues from.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use super::events::{DevScore, EndReason};

/// Iterations whose scores are averaged to choose one: a single score wobbles (decision 83).
const AVERAGED: usize = 5;

/// The scores of the last iterations, whose mean chooses the iteration that is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecentScores(VecDeque<f64>);

impl RecentScores {
    /// Adds the score of the next iteration. Returns the mean of it and of up to four before it.
    pub fn mean_with(&mut self, score: DevScore) -> f64 {
        if self.0.len() == AVERAGED {
            self.0.pop_front();
        }
        self.0.push_back(score.value());
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
}

/// The weights that are kept: those of the iteration with the highest mean score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestWeights {
    /// Their iteration.
    pub iteration: usize,
    /// Their score.
    pub score: DevScore,
    /// The mean score of their iteration and up to four before it.
    pub mean: f64,
    /// The recall bias with which the score was reached.
    pub recall_bias: f64,
    /// The weights.
    pub theta: Vec<f64>,
}

/// A segment of a training run.
#[derive(Debug)]
pub struct Segment<'a> {
    /// Initial weights, `[set.space().dimension()]`; after iterations, what they ended with.
    pub start: Vec<f64>,
    /// Number of iterations in earlier segments.
    pub done: usize,
    /// Maximum number of iterations; `None`: until training ends.
    pub limit: Option<usize>,
    /// Whether this is the warm-up: without noise, without early stopping.
    pub is_warm_up: bool,
    /// The best score so far. Its weights, which belong to an earlier segment, are left empty.
    pub best: Option<BestWeights>,
    /// The scores of the last earlier iterations.
    pub scores: Vec<DevScore>,
    /// The recall bias from which the search for it resumes.
    pub recall_bias: f64,
    /// Ends the segment when set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl<'a> Segment<'a> {
    /// Creates the warm-up segment: the first iterations, without noise.
    pub fn warm_up(
        start: Vec<f64>,
        limit: usize,
        recall_bias: f64,
        interrupt: Option<&'a AtomicBool>,
    ) -> Self {
        Self {
            start,
            done: 0,
            limit: Some(limit),
            is_warm_up: true,
            best: None,
            scores: Vec::new(),
            recall_bias,
            interrupt,
        }
    }
}

/// The result of a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SegmentEnd {
    /// The last weights, or the state of the learner
    /// ([`TrainSettings::weights`](super::TrainSettings::weights)).
    pub theta: Vec<f64>,
    /// Number of iterations so far, including earlier segments.
    pub done: usize,
    /// The objective after the last iteration.
    pub objective: f64,
    /// Scores on development data after each iteration of the segment.
    pub scores: Vec<DevScore>,
    /// The recall bias of each score.
    pub recall_biases: Vec<f64>,
    /// With L1: the number of attributes with a nonzero weight at each score.
    pub active_attributes: Vec<usize>,
    /// The best weights, if they belong to this segment.
    pub best: Option<BestWeights>,
    /// Why training ended; `None` if it can be resumed.
    pub reason: Option<EndReason>,
    /// The recall bias from which the search for it resumes.
    pub recall_bias: f64,
}
