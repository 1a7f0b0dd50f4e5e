//! The course of training: where a learner starts, what it reports after each iteration, and when
//! it ends.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::agreement::Agreement;
use super::checkpoint::{CourseState, Run, SavedState, Stage};
use super::dev_scorer::DevScorer;
use super::events::{DevDetails, DevScore, End, EndReason, Iteration, Observer};
use super::noise_options::Regularization;
use super::options::{CommonOptions, Lbfgs};
use super::predictor::{Predictor, start_of};
use super::recall_bias::{RecallBiasSearch, ScoredBias};
use super::segment::{BestWeights, RecentScores, Segment, SegmentEnd};
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::objective::{PenalizedLikelihood, Penalty, Terms};
use crate::optim::{self, OptimizerState, Outcome, StateObserver, StopReason};
use crate::ranks::Ranks;

/// The course of a training run or of a segment of one, through which a
/// [`Learner`](super::Learner) starts, reports
/// its iterations, saves its state and is interrupted.
///
/// A run has one or more stages, each starting from the weights of the previous one.
pub struct Course<'a> {
    set: &'a TrainingSet,
    options: &'a CommonOptions,
    regularization: &'a Regularization,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) interrupt: Option<&'a AtomicBool>,
    pub(super) checkpoints: Option<&'a mut Run>, // unless it is a segment
    /// What ranks agree on after every iteration, with the ranks.
    pub(super) agreement: Option<(&'a Ranks, &'a Agreement<'a>)>,
    start: Option<Vec<f64>>, // of a segment
    pub(super) saved: Option<SavedState>,
    is_segment: bool,
    pub(super) limit: Option<usize>, // of iterations in all
    clock: Instant,
    scoring_time: Duration,               // since then
    predictor: Option<&'a dyn Predictor>, // unless it is a tagger
    scorer: Option<DevScorer<'a>>,
    has_l1: bool,
    // In a segment, after each iteration with a score.
    scores: Vec<ScoredBias>,
    active_attributes: Vec<usize>, // with an L1 penalty
    pub(super) state: CourseState,
    chosen: Option<usize>,
    patience_is_exhausted: bool,
    error: Option<Error>,
}

impl<'a> Course<'a> {
    /// Creates the course of training that started at `clock`.
    ///
    /// # Errors
    ///
    /// The settings have a recall bias other than 0, but the order is 0 or there is no label `O`.
    pub(super) fn new(
        set: &'a TrainingSet,
        (options, regularization): (&'a CommonOptions, &'a Regularization),
        predictor: Option<&'a dyn Predictor>,
        clock: Instant,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let mut search = RecallBiasSearch::new(options, &set.corpora.labels)?;
        search.resume(set.recall_bias());
        Ok(Self {
            set,
            options,
            regularization,
            observer,
            interrupt: None,
            checkpoints: None,
            agreement: None,
            start: None,
            saved: None,
            is_segment: false,
            limit: None,
            clock,
            scoring_time: Duration::ZERO,
            predictor,
            scorer: DevScorer::new(set, predictor),
            has_l1: set.has_l1(regularization.l1),
            scores: Vec::new(),
            active_attributes: Vec::new(),
            state: CourseState {
                iterations: 0,
                warm_up: None,
                time: Duration::ZERO,
                search,
                run: Stage::default(),
                recent: RecentScores::default(),
                best: None,
            },
            chosen: None,
            patience_is_exhausted: false,
            error: None,
        })
    }

    /// Creates the course of a segment.
    ///
    /// # Errors
    ///
    /// Same as [`Course::new`].
    pub(super) fn of_segment(
        set: &'a TrainingSet,
        options: (&'a CommonOptions, &'a Regularization),
        predictor: Option<&'a dyn Predictor>,
        segment: Segment<'a>,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let mut course = Self::new(set, options, predictor, Instant::now(), observer)?;
        let done = segment.done;
        course.interrupt = segment.interrupt;
        course.start = Some(segment.start);
        course.is_segment = true;
        course.limit = segment.limit.map(|n| done.saturating_add(n));
        course.state.run = Stage {
            earlier_iterations: done,
            skips_start: true,
            has_fixed_length: segment.is_warm_up,
            ..Stage::default()
        };
        course.state.iterations = done;
        course.state.best = segment.best;
        for &score in &segment.scores {
            course.state.recent.mean_with(score);
        }
        course.state.search.resume(segment.recall_bias);
        Ok(course)
    }

    /// Returns the training set.
    pub fn set(&self) -> &'a TrainingSet {
        self.set
    }

    /// Returns the options but for those of the learner.
    pub fn options(&self) -> &'a CommonOptions {
        self.options
    }

    /// Returns the seed of the random numbers.
    pub fn seed(&self) -> u64 {
        self.options.seed
    }

    /// Returns whether this is a segment of training ([`Segment`]).
    pub fn is_segment(&self) -> bool {
        self.is_segment
    }

    /// Returns the weights to start from, `[dimension]`.
    pub fn take_start(&mut self) -> Vec<f64> {
        let start = self.start.take();
        start.unwrap_or_else(|| start_of(self.predictor, self.set))
    }

    /// Returns what an earlier segment ended with, if there is one.
    pub fn take_earlier(&mut self) -> Option<Vec<f64>> {
        let has_earlier = self.is_segment && self.state.run.earlier_iterations > 0;
        self.start.take_if(|_| has_earlier)
    }

    /// Returns the state that was [saved](Self::save) in this stage, if training resumes there.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]: the state is of another type.
    pub fn take_state<S: DeserializeOwned>(&mut self, stage: &str) -> Result<Option<S>> {
        match self.saved.take_if(|saved| saved.stage == stage) {
            None => Ok(None),
            Some(saved) => saved.decode().map(Some),
        }
    }

    /// Returns whether training resumes from a state that was saved in this stage.
    pub fn has_state_of(&self, stage: &str) -> bool {
        self.saved.as_ref().is_some_and(|saved| saved.stage == stage)
    }

    /// Sets the weights that the next stage starts from.
    pub fn start_at(&mut self, weights: Vec<f64>) {
        self.start = Some(weights);
    }

    /// Creates the objective −Σ log p(y|x) with a penalty and without noise, divided among the
    /// ranks if there are any.
    pub fn objective(&self, penalty: Penalty) -> PenalizedLikelihood {
        let (data, space) = (self.set.data(), self.set.space());
        match self.agreement {
            None => PenalizedLikelihood::new(data, space, penalty),
            Some((ranks, _)) => PenalizedLikelihood::divided(data, space, penalty, ranks),
        }
    }

    /// Returns the flag that ends training at the next evaluation.
    pub fn interrupt(&self) -> Option<&'a AtomicBool> {
        let agreed = self.agreement.map(|(_, agreement)| &agreement.is_interrupted);
        agreed.or(self.interrupt)
    }

    /// Reports what the learner found before its first iteration, in a type of its own.
    pub fn prepared(&mut self, found: &dyn Any) {
        self.observer.prepared(found);
    }

    /// Returns whether training is to end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns the maximum number of iterations in all, if there is one.
    pub fn limit(&self) -> Option<usize> {
        self.limit
    }

    /// Returns the number of iterations that earlier stages have left, if there is a maximum.
    pub fn iterations_left(&self) -> Option<usize> {
        self.limit.map(|limit| limit.saturating_sub(self.state.run.earlier_iterations))
    }

    /// Returns the number of iterations without noise, given the default of the learner. What it is
    /// at first, it stays when training resumes.
    pub fn warm_up(&mut self, default: usize) -> usize {
        let limit = self.options.max_iterations;
        let given = self.regularization.warm_up_or(default, limit);
        *self.state.warm_up.get_or_insert(given)
    }

    /// Begins a stage of fixed length, such as the warm-up.
    pub fn begin_stage(&mut self) {
        self.state.run.has_fixed_length = true;
    }

    /// Ends a stage of fixed length; the next one starts from its outcome.
    pub fn end_stage(&mut self, outcome: &Outcome<Terms>) {
        let iterations = self.state.run.earlier_iterations + outcome.iterations;
        self.state.run = Stage {
            earlier_iterations: iterations,
            earlier_evaluations: self.state.run.earlier_evaluations + outcome.evaluations,
            patience_start: iterations,
            skips_start: true,
            has_fixed_length: false,
        };
        self.state.recent = RecentScores::default(); // the next ones have another objective
    }

    /// Counts patience from iteration `start` on.
    pub fn start_patience(&mut self, start: usize) {
        self.state.run.patience_start = start;
    }

    /// Chooses the iteration whose weights the model has, if there are no development data.
    pub fn choose(&mut self, iteration: usize) {
        self.chosen = Some(iteration);
    }

    /// Returns whether some weights were scored.
    pub fn has_best(&self) -> bool {
        self.state.best.is_some()
    }

    /// Returns whether this is a stage of fixed length.
    pub fn is_stage(&self) -> bool {
        self.state.run.has_fixed_length
    }

    /// Returns the number of iterations of earlier stages.
    pub fn earlier_iterations(&self) -> usize {
        self.state.run.earlier_iterations
    }

    /// Returns whether no iteration has been made yet.
    pub fn is_at_start(&self) -> bool {
        self.state.iterations == 0
    }

    /// Returns the time since training began, excluding the time for scoring development data.
    fn time(&self) -> Duration {
        let elapsed = self.clock.elapsed().saturating_sub(self.scoring_time);
        self.state.time + elapsed
    }

    /// Reports an iteration, and the learning rate after it if there is one: scores it, notifies
    /// the observer, and decides whether to continue.
    pub fn iteration(
        &mut self,
        iteration: &optim::Iteration<'_, Terms>,
        learning_rate: Option<f64>,
    ) -> ControlFlow<()> {
        let flow = self.report(iteration, learning_rate);
        match self.agreement {
            None => flow,
            Some((_, agreement)) => agreement.agree(iteration, flow),
        }
    }

    fn report(
        &mut self,
        iteration: &optim::Iteration<'_, Terms>,
        learning_rate: Option<f64>,
    ) -> ControlFlow<()> {
        if iteration.number == 0 && self.state.run.skips_start {
            return ControlFlow::Continue(());
        }
        let number = self.state.run.earlier_iterations + iteration.number;
        self.state.iterations = number;
        let time = self.time();
        let dev = match self.score(number, iteration.x) {
            Ok(dev) => dev,
            Err(error) => {
                self.error = Some(error);
                return ControlFlow::Break(());
            }
        };
        if let Some(dev) = dev.filter(|_| self.is_segment) {
            self.scores.push(dev);
            if self.has_l1 {
                let active = self.set.active_attributes(iteration.x);
                self.active_attributes.push(active);
            }
        }
        let dev_details = dev.map(|dev| self.dev_details(number, dev));
        let terms = iteration.detail;
        let smooth = terms.l2 + terms.noise - terms.log_likelihood;
        let observed = self.observer.iteration(&Iteration {
            number,
            objective: iteration.value,
            log_likelihood: terms.log_likelihood,
            noise: terms.noise,
            l2: terms.l2,
            // The optimizer adds the L1 penalty to the smooth terms.
            l1: if self.has_l1 { iteration.value - smooth } else { 0.0 },
            gradient_norm: iteration.gradient_norm,
            evaluations: self.state.run.earlier_evaluations + iteration.evaluations,
            nonzero: iteration.nonzero,
            time,
            dev: dev.map(|dev| dev.score),
            recall_bias: dev
                .and_then(|dev| self.state.search.is_enabled.then_some(dev.recall_bias)),
            learning_rate,
            weight_norm: iteration.x_norm,
            step: iteration.step,
            nonzero_weights: match self.predictor {
                Some(predictor) => predictor.nonzero_weights(self.set, iteration.x),
                None => self.set.nonzero_weights(iteration.x, iteration.nonzero),
            },
            label_scores: self.scorer.as_mut().and_then(DevScorer::take_label_scores),
            dev_details,
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
        let has_score = self.state.best.as_ref().is_some_and(|best| best.mean > 0.0);
        let waited = self.waited(number);
        self.patience_is_exhausted = !self.state.run.has_fixed_length
            && has_score
            && waited.is_some_and(|waited| waited >= self.options.patience);
        if self.patience_is_exhausted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Scores the iterate `x`, and keeps a copy of it if it is the best so far.
    fn score(&mut self, number: usize, x: &[f64]) -> Result<Option<ScoredBias>> {
        let Some(scorer) = &mut self.scorer else {
            return Ok(None);
        };
        let started = Instant::now();
        let candidates = self.state.search.candidates(number);
        let scores = scorer.score(x, &candidates)?;
        let scored = self.state.search.choose(&candidates, &scores);
        let score = scored.score;
        let mean = match number {
            0 => score.value(), // of what others trained, or of nothing
            _ => self.state.recent.mean_with(score),
        };
        // While the score is 0, later weights count as better: they are closer to the minimum.
        let is_better = |best: &BestWeights| {
            let is_replaced = self.is_warm_up(best.iteration) && !self.is_warm_up(number);
            mean > best.mean || best.mean == 0.0 || is_replaced
        };
        let is_best = !self.set.reports_dev() && self.state.best.as_ref().is_none_or(is_better);
        if is_best {
            // Overwrites the previous best, so that there is only one copy of the weights.
            let mut theta = self.state.best.take().map_or_else(Vec::new, |b| b.theta);
            theta.clear();
            theta.extend_from_slice(x);
            self.state.best = Some(BestWeights {
                iteration: number,
                score,
                mean,
                recall_bias: scored.recall_bias,
                theta,
            });
        }
        self.scoring_time += started.elapsed();
        Ok(Some(scored))
    }

    /// Returns what development data show beside the score of an iteration.
    fn dev_details(&mut self, number: usize, dev: ScoredBias) -> DevDetails {
        let best = self.state.best.as_ref();
        let best_iteration = best.map_or(number, |best| best.iteration);
        let waited = self.waited(number).unwrap_or(0);
        let scorer = self.scorer.as_mut();
        DevDetails {
            best_iteration,
            waited,
            types: scorer.map_or_else(Vec::new, |scorer| scorer.take_types(dev.recall_bias)),
        }
    }

    /// Returns the number of iterations since the best one, without those of the warm-up; `None`
    /// during the warm-up.
    fn waited(&self, number: usize) -> Option<usize> {
        let best = self.state.best.as_ref()?;
        number.checked_sub(best.iteration.max(self.state.run.patience_start))
    }

    /// Returns whether an iteration is one of the warm-up, which those with noise replace.
    fn is_warm_up(&self, iteration: usize) -> bool {
        let has_noise = self.regularization.noise.is_on() && !self.state.run.has_fixed_length;
        has_noise && (1..=self.state.run.patience_start).contains(&iteration)
    }

    /// Returns the weights of the model and the result of training.
    ///
    /// # Errors
    ///
    /// Scoring development data failed.
    pub(super) fn finish(self, outcome: Outcome<Terms>) -> Result<(Vec<f64>, End)> {
        let time = self.time();
        let iterations = self.state.iterations;
        let chosen = self.chosen.unwrap_or(iterations);
        let warm_up = if self.state.run.has_fixed_length {
            iterations
        } else {
            self.state.run.patience_start
        };
        let regularization = self.regularization;
        let last = self.into_end(outcome)?;
        let dev = last.best.as_ref().map(|best| best.score);
        let best = last.best.unwrap_or(BestWeights {
            iteration: chosen,
            score: DevScore::F1(0.0),
            mean: 0.0,
            recall_bias: last.recall_bias,
            theta: last.theta,
        });
        let resumable = EndReason::Optimizer(StopReason::MaxIterations);
        let noise = regularization.noise.exposure(best.iteration, warm_up);
        let end = End {
            reason: last.reason.unwrap_or(resumable),
            iterations,
            warm_up,
            best_iteration: best.iteration,
            time,
            dev,
            recall_bias: best.recall_bias,
            regularization: regularization.describe(noise.as_ref()),
            noise,
        };
        Ok((best.theta, end))
    }

    /// Returns what a segment ended with.
    ///
    /// # Errors
    ///
    /// Same as [`Course::finish`].
    pub(super) fn into_end(self, outcome: Outcome<Terms>) -> Result<SegmentEnd> {
        if let Some(error) = self.error {
            return Err(error);
        }
        // The weights are empty if they belong to an earlier segment.
        let is_own = |best: &BestWeights| !self.is_segment || !best.theta.is_empty();
        Ok(SegmentEnd {
            theta: outcome.x,
            done: self.state.run.earlier_iterations + outcome.iterations,
            objective: outcome.value,
            scores: self.scores.iter().map(|found| found.score).collect(),
            recall_biases: self.scores.iter().map(|found| found.recall_bias).collect(),
            active_attributes: self.active_attributes,
            best: self.state.best.filter(is_own),
            reason: match outcome.stop_reason {
                StopReason::MaxIterations => None,
                StopReason::Interrupted if self.patience_is_exhausted => Some(EndReason::Patience),
                reason => Some(EndReason::Optimizer(reason)),
            },
            recall_bias: self.state.search.bias,
        })
    }

    /// Saves a state after an iteration, if it is time or if training is interrupted: training
    /// resumes from it to the same bits ([`take_state`](Self::take_state)).
    pub fn save<S: Serialize>(
        &mut self,
        stage: &str,
        is_interrupted: bool,
        state: impl FnOnce() -> S,
    ) {
        let Some(checkpoints) = &mut self.checkpoints else {
            return;
        };
        let iterations = self.state.iterations;
        if iterations > 0 && checkpoints.is_due(iterations, is_interrupted) {
            self.observer.checkpoint();
            self.state.time += self.clock.elapsed().saturating_sub(self.scoring_time);
            (self.clock, self.scoring_time) = (Instant::now(), Duration::ZERO);
            if let Err(error) = checkpoints.write(Some((&self.state, stage, state()))) {
                self.observer.checkpoint_failed(&error);
            }
        }
    }
}

/// Reports the iterations of L-BFGS and saves its states.
impl StateObserver<Terms> for Course<'_> {
    fn iteration(&mut self, iteration: &optim::Iteration<'_, Terms>) -> ControlFlow<()> {
        Course::iteration(self, iteration, None)
    }

    fn state(&mut self, state: &OptimizerState<'_, Terms>, is_interrupted: bool) {
        self.save(Lbfgs::NAME, is_interrupted, || state.clone());
    }
}
