//! A part of a training: so many iterations from given weights, after which it may go on.
//!
//! L-BFGS begins each leg with an empty memory; all else is as if the training had not been parted.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::events::{DevScore, EndReason, Iteration, Observer};
use super::optimize::{Optimizer, with_noise};
use super::options::TrainOptions;
use super::training_set::TrainingSet;
use super::watch::{Best, Watch, Watching};
use crate::error::Result;
use crate::optim::StopReason;

/// A part of a training.
#[derive(Debug)]
pub struct Segment<'a> {
    /// The weights to begin with, `[material.space().dimension()]`.
    pub start: Vec<f64>,
    /// Iterations that were made before.
    pub done: usize,
    /// Largest number of iterations; none: to the end.
    pub limit: Option<usize>,
    /// Whether this is the warm-up: without noise, and no patience is lost.
    pub is_warm_up: bool,
    /// The best score so far and its iteration.
    pub best: Option<(usize, DevScore)>,
    /// Where the search for the recall bias stands.
    pub recall_bias: f64,
    /// Ends the leg when it is set.
    pub interrupt: Option<&'a AtomicBool>,
}

impl<'a> Segment<'a> {
    /// The first iterations, without noise.
    #[must_use]
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
            recall_bias,
            interrupt,
        }
    }
}

/// How a leg ended.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentEnd {
    /// The last weights.
    pub theta: Vec<f64>,
    /// Iterations made in all.
    pub done: usize,
    /// The objective after the last.
    pub objective: f64,
    /// Scores on development data after each iteration of the leg.
    pub scores: Vec<DevScore>,
    /// The recall bias of each score.
    pub recall_biases: Vec<f64>,
    /// The best of all scores, if it is of this leg, with its weights.
    pub best: Option<BestWeights>,
    /// Why training has ended; none: it may go on.
    pub reason: Option<EndReason>,
    /// Where the search for the recall bias stands.
    pub recall_bias: f64,
}

/// The weights with the best score.
#[derive(Clone, Debug, PartialEq)]
pub struct BestWeights {
    /// Their iteration.
    pub iteration: usize,
    /// Their score.
    pub score: DevScore,
    /// The recall bias of the score.
    pub recall_bias: f64,
    /// The weights.
    pub theta: Vec<f64>,
}

impl TrainingSet {
    /// Runs a leg of a training with these options.
    ///
    /// # Errors
    ///
    /// Options without meaning; a recall bias for labels that have none; an objective that is not
    /// finite where training begins.
    pub fn run(&self, options: &TrainOptions, leg: Segment<'_>) -> Result<SegmentEnd> {
        options.check()?;
        let mut watch = Watch::new(Watching {
            clock: Instant::now(),
            development: self.development(),
            space: self.space(),
            patience: options.patience,
            l1: options.l1 > 0.0,
            search: self.search(options)?,
        });
        let best = leg.best.map(|(iteration, score)| Best {
            iteration,
            score,
            recall_bias: leg.recall_bias,
            theta: Vec::new(),
        });
        watch.resume(leg.done, best, leg.recall_bias);
        let mut objective = self.likelihood(options.l2);
        if leg.is_warm_up {
            watch.begin_warm_up();
        } else {
            objective = with_noise(objective, options).resume_at(leg.done as u64);
        }
        let optimizer = Optimizer {
            options,
            space: self.space(),
            interrupt: leg.interrupt,
        };
        let mut seen = Seen::default();
        let outcome =
            optimizer.stage(&mut objective, leg.start, leg.limit, &mut watch, &mut seen)?;
        let (iterations, objective) = (outcome.iterations, outcome.value);
        let paused = watch.pause(outcome)?;
        let goes_on = paused.reason == EndReason::Optimizer(StopReason::MaxIterations);
        Ok(SegmentEnd {
            theta: paused.theta,
            done: leg.done + iterations,
            objective,
            scores: seen.scores,
            recall_biases: (seen.recall_biases.into_iter())
                .map(|bias| bias.unwrap_or(paused.recall_bias))
                .collect(),
            best: paused.best.and_then(Best::weights),
            reason: (!goes_on).then_some(paused.reason),
            recall_bias: paused.recall_bias,
        })
    }

    /// Bytes that a training with these options takes beside the material.
    #[must_use]
    pub fn memory_of_training(&self, options: &TrainOptions) -> usize {
        let objective = with_noise(self.likelihood(options.l2), options);
        let best = 8 * self.space().dimension();
        best + self.memory_to_train(options, &objective)
    }
}

impl Best {
    /// None if the weights are of an earlier leg.
    fn weights(self) -> Option<BestWeights> {
        (!self.theta.is_empty()).then_some(BestWeights {
            iteration: self.iteration,
            score: self.score,
            recall_bias: self.recall_bias,
            theta: self.theta,
        })
    }
}

/// What iterations tell.
#[derive(Default)]
struct Seen {
    scores: Vec<DevScore>,
    recall_biases: Vec<Option<f64>>, // none: that of the options
}

impl Observer for Seen {
    fn iteration(&mut self, iteration: &Iteration) {
        if let Some(score) = iteration.dev {
            self.scores.push(score);
            self.recall_biases.push(iteration.recall_bias);
        }
    }
}
