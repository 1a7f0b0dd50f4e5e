//! What happens after each iteration: keeping the time, scoring development data, losing patience.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::development::{Development, Scored};
use super::events::{DevScore, End, EndReason, Iteration, Observer};
use super::recall_bias::Search;
use crate::error::{Error, Result};
use crate::objective::Terms;
use crate::optim::{self, Outcome, StopReason};
use crate::score::ParameterSpace;

/// The best iterate on development data.
pub(super) struct Best {
    pub iteration: usize,
    pub score: DevScore,
    pub recall_bias: f64,
    pub theta: Vec<f64>,
}

/// Where the optimizer is left to go on later.
pub(super) struct Paused {
    /// The last iterate.
    pub theta: Vec<f64>,
    /// The best one.
    pub best: Option<Best>,
    /// Why the optimizer ended.
    pub reason: EndReason,
    /// The last choice of the recall bias.
    pub recall_bias: f64,
}

/// Watches the optimizer.
pub(super) struct Watch<'a> {
    clock: Instant,
    scoring: Duration,
    development: Option<&'a Development>,
    space: &'a ParameterSpace,
    patience: usize,
    l1: bool,
    search: Search,
    stage: Stage,
    iterations: usize, // so far
    best: Option<Best>,
    impatient: bool,
    fault: Option<Error>,
}

/// A run of the optimizer among several, each beginning where the one before ended.
#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    iterations: usize,   // of the stages before
    evaluations: usize,  // of the stages before
    patient_from: usize, // iterations at which losing patience begins
    skips_start: bool,   // since its starting point has been seen already
    is_warm_up: bool,    // whose length is fixed: no patience is lost in it
}

/// How to watch.
pub(super) struct Watching<'a> {
    /// When training began.
    pub clock: Instant,
    /// Development data, if there are any.
    pub development: Option<&'a Development>,
    /// The parameters.
    pub space: &'a ParameterSpace,
    /// Iterations without a better score before training stops.
    pub patience: usize,
    /// Whether there is an L1 penalty.
    pub l1: bool,
    /// The search for the recall bias.
    pub search: Search,
}

impl<'a> Watch<'a> {
    /// Begins to watch.
    pub fn new(watching: Watching<'a>) -> Self {
        let Watching {
            clock,
            development,
            space,
            patience,
            l1,
            search,
        } = watching;
        Self {
            clock,
            scoring: Duration::ZERO,
            development,
            space,
            patience,
            l1,
            search,
            stage: Stage::default(),
            iterations: 0,
            best: None,
            impatient: false,
            fault: None,
        }
    }

    /// The optimizer begins a stage of fixed length, before the one that matters.
    pub fn begin_warm_up(&mut self) {
        self.stage.is_warm_up = true;
    }

    /// The warm-up is over; the optimizer goes on from its outcome.
    pub fn end_warm_up(&mut self, outcome: &Outcome<Terms>) {
        self.stage = Stage {
            iterations: outcome.iterations,
            evaluations: outcome.evaluations,
            patient_from: outcome.iterations,
            skips_start: true,
            is_warm_up: false,
        };
    }

    /// Goes on with a run that was left after so many iterations with this best iterate, whose weights
    /// may be left out, and this recall bias.
    pub fn resume(&mut self, iterations: usize, best: Option<Best>, recall_bias: f64) {
        self.stage.iterations = iterations;
        self.stage.skips_start = true;
        self.iterations = iterations;
        self.best = best;
        self.search.go_on_from(recall_bias);
    }

    /// Whether no iteration has been made yet.
    pub fn is_at_start(&self) -> bool {
        self.iterations == 0
    }

    /// Time since training began, without that for scoring development data.
    pub fn time(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.scoring)
    }

    /// An iteration is done: tells `observer`, and whether to go on.
    pub fn iteration(
        &mut self,
        iteration: &optim::Iteration<'_, Terms>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        if iteration.number == 0 && self.stage.skips_start {
            return ControlFlow::Continue(());
        }
        let number = self.stage.iterations + iteration.number;
        self.iterations = number;
        let time = self.time();
        let dev = match self.score(number, iteration.x) {
            Ok(dev) => dev,
            Err(fault) => {
                self.fault = Some(fault);
                return ControlFlow::Break(());
            }
        };
        let terms = iteration.detail;
        let smooth = terms.l2 + terms.noise - terms.log_likelihood;
        observer.iteration(&Iteration {
            number,
            objective: iteration.value,
            log_likelihood: terms.log_likelihood,
            noise: terms.noise,
            l2: terms.l2,
            // What the optimizer has added to the smooth terms.
            l1: if self.l1 {
                iteration.value - smooth
            } else {
                0.0
            },
            gradient_norm: iteration.gradient_norm,
            evaluations: self.stage.evaluations + iteration.evaluations,
            nonzero: iteration.nonzero,
            time,
            dev: dev.map(|dev| dev.score),
            recall_bias: dev.and_then(|dev| self.search.is_open().then_some(dev.recall_bias)),
        });
        // Early iterations may predict no span at all: nothing has been lost while the score is 0.
        self.impatient = !self.stage.is_warm_up
            && self.best.as_ref().is_some_and(|best| {
                let since = best.iteration.max(self.stage.patient_from);
                best.score.value() > 0.0 && number - since >= self.patience
            });
        if self.impatient {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn score(&mut self, number: usize, x: &[f64]) -> Result<Option<Scored>> {
        let Some(development) = self.development else {
            return Ok(None);
        };
        let started = Instant::now();
        let candidates = self.search.candidates(number);
        let scores = development.score(self.space, x, &candidates)?;
        let scored = self.search.choose(&candidates, &scores);
        let score = scored.score;
        // As long as nothing is right, later weights are at least nearer to the minimum: those of the
        // start are all 0.
        let is_best = self
            .best
            .as_ref()
            .is_none_or(|best| score.value() > best.score.value() || best.score.value() == 0.0);
        if is_best {
            // The old best is written over, so that only one copy of the weights is ever kept.
            let mut theta = self.best.take().map_or_else(Vec::new, |b| b.theta);
            theta.clear();
            theta.extend_from_slice(x);
            self.best = Some(Best {
                iteration: number,
                score,
                recall_bias: scored.recall_bias,
                theta,
            });
        }
        self.scoring += started.elapsed();
        Ok(Some(scored))
    }

    /// The weights to keep, and how training ended.
    ///
    /// # Errors
    ///
    /// What went wrong when development data were scored.
    pub fn finish(self, outcome: Outcome<Terms>) -> Result<(Vec<f64>, End)> {
        let time = self.time();
        let iterations = self.iterations;
        let paused = self.pause(outcome)?;
        let dev = paused.best.as_ref().map(|best| best.score);
        let best = paused.best.unwrap_or(Best {
            iteration: iterations,
            score: DevScore::F1(0.0),
            recall_bias: paused.recall_bias,
            theta: paused.theta,
        });
        let end = End {
            reason: paused.reason,
            iterations,
            best_iteration: best.iteration,
            time,
            dev,
            recall_bias: best.recall_bias,
        };
        Ok((best.theta, end))
    }

    /// Leaves the optimizer where it is.
    ///
    /// # Errors
    ///
    /// As [`Watch::finish`].
    pub fn pause(self, outcome: Outcome<Terms>) -> Result<Paused> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let reason = match outcome.stop_reason {
            StopReason::Interrupted if self.impatient => EndReason::Patience,
            reason => EndReason::Optimizer(reason),
        };
        Ok(Paused {
            theta: outcome.x,
            best: self.best,
            reason,
            recall_bias: self.search.bias(),
        })
    }
}
