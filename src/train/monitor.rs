//! Monitoring of the optimizer after each iteration: time, scores on development data, early
//! stopping.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::best::BestWeights;
use super::development::DevScorer;
use super::events::{DevScore, End, EndReason, Iteration, Observer};
use super::recall_bias::{RecallBiasSearch, ScoredBias};
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::objective::Terms;
use crate::optim::{self, Outcome, StopReason};

/// Monitors the optimizer. A training run consists of one or more optimizer runs, each starting
/// from the weights of the previous one.
pub(super) struct Monitor<'a> {
    clock: Instant,
    earlier_time: Duration, // before training was resumed
    scoring_time: Duration,
    set: &'a TrainingSet,
    scorer: Option<DevScorer<'a>>,
    patience: usize,
    has_l1: bool,
    active: Option<ActiveAttributes<'a>>,
    search: RecallBiasSearch,
    run: OptimizerRun,
    iterations: usize, // so far
    best: Option<BestWeights>,
    chosen: Option<usize>,
    patience_is_exhausted: bool,
    error: Option<Error>,
}

/// The current optimizer run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct OptimizerRun {
    earlier_iterations: usize,  // of earlier runs
    earlier_evaluations: usize, // of earlier runs
    patience_start: usize,      // iteration from which patience counts
    skips_start: bool,          // the starting point is the last iterate of an earlier run
    has_fixed_length: bool,     // no early stopping
}

/// Counts of attributes with nonzero weights.
struct ActiveAttributes<'a> {
    set: &'a TrainingSet,
    counts: Vec<usize>, // after each iteration with a score
}

/// The state of a monitor after an iteration.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct MonitorState<'a> {
    /// Number of iterations so far.
    pub iterations: usize,
    time: Duration,
    recall_bias: f64,
    run: OptimizerRun,
    best: Option<Cow<'a, BestWeights>>,
}

/// The state of training after an optimizer run.
pub(super) struct TrainingState {
    /// The last weights.
    pub theta: Vec<f64>,
    /// The weights with the best score.
    pub best: Option<BestWeights>,
    /// Why the optimizer stopped.
    pub reason: EndReason,
    /// The recall bias chosen last.
    pub recall_bias: f64,
}

impl<'a> Monitor<'a> {
    /// Creates a monitor of training that started at `clock`.
    ///
    /// # Errors
    ///
    /// The settings have a recall bias other than 0, but the order is 0 or there is no label `O`.
    pub fn new(set: &'a TrainingSet, settings: &TrainSettings, clock: Instant) -> Result<Self> {
        let options = settings.options();
        let mut search = RecallBiasSearch::new(options, &set.labels)?;
        search.resume(set.recall_bias());
        Ok(Self {
            clock,
            earlier_time: Duration::ZERO,
            scoring_time: Duration::ZERO,
            set,
            scorer: set.dev_scorer(),
            patience: options.patience,
            has_l1: set.has_l1(options.l1),
            active: None,
            search,
            run: OptimizerRun::default(),
            iterations: 0,
            best: None,
            chosen: None,
            patience_is_exhausted: false,
            error: None,
        })
    }

    /// Counts the attributes with nonzero weights after each iteration that is scored, if there is
    /// an L1 penalty.
    pub fn count_active_attributes(&mut self, set: &'a TrainingSet) {
        self.active = self.has_l1.then_some(ActiveAttributes {
            set,
            counts: Vec::new(),
        });
    }

    /// Returns the counts of attributes with nonzero weights.
    pub fn take_active_attributes(&mut self) -> Vec<usize> {
        self.active
            .take()
            .map_or_else(Vec::new, |active| active.counts)
    }

    /// Begins a run of fixed length: the passes of a warm start, or the warm-up.
    pub fn begin_fixed_run(&mut self) {
        self.run.has_fixed_length = true;
    }

    /// Ends a run of fixed length; the next one starts from its outcome.
    pub fn end_fixed_run(&mut self, outcome: &Outcome<Terms>) {
        let iterations = self.run.earlier_iterations + outcome.iterations;
        self.run = OptimizerRun {
            earlier_iterations: iterations,
            earlier_evaluations: self.run.earlier_evaluations + outcome.evaluations,
            patience_start: iterations,
            skips_start: true,
            has_fixed_length: false,
        };
    }

    /// Resumes training after `iterations` iterations. The weights of `best` may be empty.
    pub fn resume(&mut self, iterations: usize, best: Option<BestWeights>, recall_bias: f64) {
        self.run.earlier_iterations = iterations;
        self.run.skips_start = true;
        self.iterations = iterations;
        self.best = best;
        self.search.resume(recall_bias);
    }

    /// Returns the state, from which [`Monitor::restore`] continues.
    pub fn state(&self) -> MonitorState<'_> {
        MonitorState {
            iterations: self.iterations,
            time: self.time(),
            recall_bias: self.search.bias(),
            run: self.run,
            best: self.best.as_ref().map(Cow::Borrowed),
        }
    }

    /// Restores a state.
    pub fn restore(&mut self, state: MonitorState<'_>) {
        self.iterations = state.iterations;
        self.earlier_time = state.time;
        self.run = state.run;
        self.best = state.best.map(Cow::into_owned);
        self.search.resume(state.recall_bias);
    }

    /// Counts patience from iteration `start` on.
    pub fn start_patience(&mut self, start: usize) {
        self.run.patience_start = start;
    }

    /// Chooses the iteration whose weights the model has, if there are no development data.
    pub fn choose(&mut self, iteration: usize) {
        self.chosen = Some(iteration);
    }

    /// Returns whether some weights were scored.
    pub fn has_best(&self) -> bool {
        self.best.is_some()
    }

    /// Returns whether this is a run of fixed length.
    pub fn is_fixed_run(&self) -> bool {
        self.run.has_fixed_length
    }

    /// Returns the number of iterations of earlier optimizer runs.
    pub fn earlier_iterations(&self) -> usize {
        self.run.earlier_iterations
    }

    /// Returns whether no iteration has been made yet.
    pub fn is_at_start(&self) -> bool {
        self.iterations == 0
    }

    /// Returns the time since training began, excluding the time for scoring development data.
    pub fn time(&self) -> Duration {
        let elapsed = self.clock.elapsed().saturating_sub(self.scoring_time);
        self.earlier_time + elapsed
    }

    /// Handles an iteration: scores it, notifies `observer`, and decides whether to continue.
    pub fn iteration(
        &mut self,
        iteration: &optim::Iteration<'_, Terms>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        self.epoch(iteration, None, observer)
    }

    /// Like [`Monitor::iteration`], for an epoch of an online algorithm and its learning rate.
    pub fn epoch(
        &mut self,
        iteration: &optim::Iteration<'_, Terms>,
        learning_rate: Option<f64>,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        if iteration.number == 0 && self.run.skips_start {
            return ControlFlow::Continue(());
        }
        let number = self.run.earlier_iterations + iteration.number;
        self.iterations = number;
        let time = self.time();
        let dev = match self.score(number, iteration.x) {
            Ok(dev) => dev,
            Err(error) => {
                self.error = Some(error);
                return ControlFlow::Break(());
            }
        };
        if let Some(active) = self.active.as_mut().filter(|_| dev.is_some()) {
            active
                .counts
                .push(active.set.active_attributes(iteration.x));
        }
        let terms = iteration.detail;
        let smooth = terms.l2 + terms.noise - terms.log_likelihood;
        let observed = observer.iteration(&Iteration {
            number,
            objective: iteration.value,
            log_likelihood: terms.log_likelihood,
            noise: terms.noise,
            l2: terms.l2,
            // The optimizer adds the L1 penalty to the smooth terms.
            l1: if self.has_l1 {
                iteration.value - smooth
            } else {
                0.0
            },
            gradient_norm: iteration.gradient_norm,
            evaluations: self.run.earlier_evaluations + iteration.evaluations,
            nonzero: iteration.nonzero,
            time,
            dev: dev.map(|dev| dev.score),
            recall_bias: dev.and_then(|dev| self.search.is_enabled().then_some(dev.recall_bias)),
            learning_rate,
            weight_norm: iteration.x_norm,
            step: iteration.step,
            nonzero_weights: self.set.nonzero_weights(iteration.x, iteration.nonzero),
            label_scores: self.scorer.as_mut().and_then(DevScorer::take_label_scores),
        });
        match observed {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => return ControlFlow::Break(()),
            Err(error) => {
                self.error = Some(Error::Observer(error));
                return ControlFlow::Break(());
            }
        }
        // Early iterations may predict no span: patience does not count while the score is 0.
        self.patience_is_exhausted = !self.run.has_fixed_length
            && self.best.as_ref().is_some_and(|best| {
                let since = best.iteration.max(self.run.patience_start);
                best.score.value() > 0.0 && number >= since.saturating_add(self.patience)
            });
        if self.patience_is_exhausted {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Scores the iterate `x`, and keeps a copy of it if it is the best so far.
    fn score(&mut self, number: usize, x: &[f64]) -> Result<Option<ScoredBias>> {
        let Some(scorer) = &mut self.scorer else {
            return Ok(None);
        };
        let started = Instant::now();
        let candidates = self.search.candidates(number);
        let scores = scorer.score(x, &candidates)?;
        let scored = self.search.choose(&candidates, &scores);
        let score = scored.score;
        // While the score is 0, later weights count as better: they are closer to the minimum.
        let is_best = !self.set.reports_dev()
            && self
                .best
                .as_ref()
                .is_none_or(|best| score.value() > best.score.value() || best.score.value() == 0.0);
        if is_best {
            // Overwrites the previous best, so that there is only one copy of the weights.
            let mut theta = self.best.take().map_or_else(Vec::new, |b| b.theta);
            theta.clear();
            theta.extend_from_slice(x);
            self.best = Some(BestWeights {
                iteration: number,
                score,
                recall_bias: scored.recall_bias,
                theta,
            });
        }
        self.scoring_time += started.elapsed();
        Ok(Some(scored))
    }

    /// Returns the weights of the model and the result of training.
    ///
    /// # Errors
    ///
    /// Scoring development data failed.
    pub fn finish(self, outcome: Outcome<Terms>) -> Result<(Vec<f64>, End)> {
        let time = self.time();
        let iterations = self.iterations;
        let chosen = self.chosen.unwrap_or(iterations);
        let warm_up = if self.run.has_fixed_length {
            iterations
        } else {
            self.run.patience_start
        };
        let state = self.into_state(outcome)?;
        let dev = state.best.as_ref().map(|best| best.score);
        let best = state.best.unwrap_or(BestWeights {
            iteration: chosen,
            score: DevScore::F1(0.0),
            recall_bias: state.recall_bias,
            theta: state.theta,
        });
        let end = End {
            reason: state.reason,
            iterations,
            warm_up,
            best_iteration: best.iteration,
            time,
            dev,
            recall_bias: best.recall_bias,
        };
        Ok((best.theta, end))
    }

    /// Returns the state of training, to resume later.
    ///
    /// # Errors
    ///
    /// Same as [`Monitor::finish`].
    pub fn into_state(self, outcome: Outcome<Terms>) -> Result<TrainingState> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let reason = match outcome.stop_reason {
            StopReason::Interrupted if self.patience_is_exhausted => EndReason::Patience,
            reason => EndReason::Optimizer(reason),
        };
        Ok(TrainingState {
            theta: outcome.x,
            best: self.best,
            reason,
            recall_bias: self.search.bias(),
        })
    }
}
