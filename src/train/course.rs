//! The course of training: where a stage starts, what becomes of each iteration, and how training
//! ends.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::agreement::Agreement;
use super::checkpoint::{CourseState, LearnerState, Run};
use super::development::DevScorer;
use super::events::{
    Calibration, DevDetails, DevScore, End, Iteration, ObjectiveTerms, Observer, OptimizerStep,
    WeightCounts,
};
use super::options::{CommonOptions, Regularization};
use super::schedule::{Progress, Schedule, Stage};
use super::selection::{RecallBiasSearch, Selection};
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::model::NoiseExposure;
use crate::objective::{PenalizedLikelihood, Penalty, Terms};
use crate::optim::{self, Outcome, SavedState, StateObserver, StopReason};
use crate::ranks::Ranks;

/// The course of a training run, through which a [`Learner`](super::learner::Learner) starts a
/// stage, reports its iterations, saves its state and is interrupted.
pub struct Course<'a> {
    set: &'a TrainingSet,
    settings: CourseSettings<'a>,
    pub(super) observer: &'a mut dyn Observer,
    agreement: &'a Agreement<'a>,
    pub(super) run: &'a mut Run,
    /// The weights of the stage before; `None`: this stage starts where training does.
    weights: Option<Vec<f64>>,
    /// Or where an interrupted run has left the stage.
    saved: Option<LearnerState>,
    started: Instant, // without the time since then for scoring development data
    scorer: Option<DevScorer<'a>>,
    state: CourseState,
    /// Why the course ended training: patience, or a failure.
    ending: Option<Result<StopReason>>,
}

/// The settings that a course follows.
pub(super) struct CourseSettings<'a> {
    pub options: &'a CommonOptions,
    pub regularization: &'a Regularization,
    pub schedule: Schedule,
}

/// Runs a stage: [`Learner::run`](super::Learner::run).
type RunStage<'r> = &'r dyn Fn(&Stage, &mut Course<'_>) -> Result<Outcome<Terms>>;

impl<'a> Course<'a> {
    /// Creates the course of training that started at `started`.
    ///
    /// # Errors
    ///
    /// The settings have a recall bias other than 0, but the order is 0 or there is no label `O`.
    pub(super) fn new(
        set: &'a TrainingSet,
        settings: CourseSettings<'a>,
        run: &'a mut Run,
        agreement: &'a Agreement<'a>,
        started: Instant,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let mut search = RecallBiasSearch::new(settings.options, &set.extracted.labels)?;
        if let Some(origin) = set.origin.as_ref().filter(|_| search.is_enabled) {
            search.bias = origin.recall_bias;
        }
        let schedule = settings.schedule.clone();
        let progress = Progress::default();
        let mut selection = Selection::new(search);
        if let Some(first) = schedule.stage(&progress) {
            selection.begin_stage(&first, 0);
        }
        let development = set.extracted.development.as_ref();
        Ok(Self {
            set,
            settings,
            observer,
            agreement,
            run,
            weights: None,
            saved: None,
            started,
            scorer: development.map(|development| DevScorer::new(development, set.space())),
            state: CourseState {
                schedule,
                progress,
                time: Duration::ZERO,
                selection,
                kept: Vec::new(),
            },
            ending: None,
        })
    }

    /// Goes on where an interrupted run has saved its state, if there is one, and runs all stages
    /// by `run_stage`, that of the learner.
    ///
    /// # Errors
    ///
    /// The errors of [`Learner::run`](super::Learner::run); the observer ended training with an
    /// error; development data cannot be scored.
    pub(super) fn train(mut self, run_stage: RunStage<'_>) -> Result<(Vec<f64>, End)> {
        if let Some((state, saved)) = self.run.start() {
            self.observer.resumed(state.progress.iterations);
            let max_iterations = self.state.schedule.max_iterations;
            self.state = state;
            self.state.schedule.max_iterations = max_iterations;
            self.saved = Some(saved);
        }
        let outcome = self.run_stages(run_stage);
        if let Some(failure) = self.agreement.ranks.and_then(Ranks::take_failure) {
            return Err(failure);
        }
        self.finish(outcome?)
    }

    fn run_stages(&mut self, run_stage: RunStage<'_>) -> Result<Outcome<Terms>> {
        let CourseState { schedule, progress, selection, kept, .. } = &self.state;
        let fits = selection.kept().is_none() || kept.len() == self.set.space().dimension();
        let Some(mut stage) = schedule.stage(progress).filter(|_| fits) else {
            return Err(Error::parameter(
                "the state in the checkpoint is of other data; remove the checkpoint",
            ));
        };
        loop {
            let outcome = run_stage(&stage, self)?;
            if outcome.stop_reason == StopReason::Interrupted {
                return Ok(outcome);
            }
            let CourseState { schedule, progress, selection, .. } = &mut self.state;
            match schedule.advance(progress, outcome.iterations, outcome.evaluations) {
                None => return Ok(outcome),
                Some(next) => stage = next,
            }
            selection.begin_stage(&stage, progress.iterations);
            self.weights = Some(outcome.x);
        }
    }

    /// Returns the training set.
    pub fn set(&self) -> &'a TrainingSet {
        self.set
    }

    /// Returns the seed of the random numbers.
    pub fn seed(&self) -> u64 {
        self.settings.options.seed
    }

    /// Returns the weights that the stage starts from, `[dimension]`.
    pub fn take_start(&mut self) -> Vec<f64> {
        self.weights.take().unwrap_or_else(|| self.set.start())
    }

    /// Returns the state that was [saved](Self::save) in this stage, if training resumes there.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`]: the state is of another type.
    pub fn take_state<S: DeserializeOwned>(&mut self) -> Result<Option<S>> {
        self.saved.take().map(|saved| saved.decode()).transpose()
    }

    /// Creates the objective −Σ log p(y|x) with a penalty and the terms of the options, without
    /// noise, divided among the ranks if there are any.
    pub fn objective(&self, penalty: Penalty) -> PenalizedLikelihood {
        let (data, space) = (self.set.data(), self.set.space());
        let objective = PenalizedLikelihood::divided(data, space, penalty, self.agreement.ranks);
        let terms = self.settings.options.terms.iter();
        terms.fold(objective, |objective, term| objective.with_term(term.begin()))
    }

    /// Returns the flag that ends training at the next evaluation.
    pub fn interrupt(&self) -> Option<&'a AtomicBool> {
        self.agreement.interrupt()
    }

    /// Returns whether training is to end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns whether no iteration has been made yet.
    pub fn is_at_start(&self) -> bool {
        self.state.progress.iterations == 0
    }

    /// Returns whether the weights of some iteration are kept, since they scored best.
    pub fn has_kept(&self) -> bool {
        self.state.selection.kept().is_some()
    }

    /// Chooses the iteration whose weights the model has, if no development data do.
    pub fn choose(&mut self, iteration: usize) {
        self.state.selection.chosen = Some(iteration);
    }

    /// Reports how a learner has chosen its learning rate.
    pub fn calibrated(&mut self, calibration: &Calibration) {
        self.observer.calibrated(calibration);
    }

    /// Reports an iteration, and the learning rate after it if there is one: scores it, notifies
    /// the observer, and decides whether to continue.
    pub fn iteration(
        &mut self,
        iteration: &optim::Iteration<'_, Terms>,
        learning_rate: Option<f64>,
    ) -> ControlFlow<()> {
        let flow = self.report(iteration, learning_rate).unwrap_or_else(|error| {
            self.ending = Some(Err(error));
            ControlFlow::Break(())
        });
        self.agreement.agree(iteration, flow)
    }

    fn report(
        &mut self,
        iteration: &optim::Iteration<'_, Terms>,
        learning_rate: Option<f64>,
    ) -> Result<ControlFlow<()>> {
        let progress = &mut self.state.progress;
        if iteration.number == 0 && progress.stage > 0 {
            // The last iterate of the stage before.
            return Ok(ControlFlow::Continue(()));
        }
        let number = progress.iterations_before.saturating_add(iteration.number);
        progress.iterations = number;
        let evaluations = progress.evaluations_before.saturating_add(iteration.evaluations);
        let time = self.time();
        let &Terms { log_likelihood, noise, l2 } = iteration.detail;
        // The optimizer has added the L1 penalty to the smooth terms.
        let l1 = match self.settings.regularization.l1 > 0.0 {
            true => iteration.value - (l2 + noise - log_likelihood),
            false => 0.0,
        };
        let mut reported = Iteration {
            number,
            objective: iteration.value,
            terms: ObjectiveTerms { log_likelihood, noise, l2, l1 },
            optimizer: OptimizerStep {
                gradient_norm: iteration.gradient_norm,
                evaluations,
                step: iteration.step,
                learning_rate,
            },
            weights: WeightCounts {
                nonzero: iteration.nonzero,
                norm: iteration.x_norm,
                nonzero_weights: self.set.nonzero_weights(iteration.x, iteration.nonzero),
            },
            time,
            dev: None,
            dev_mean: None,
            recall_bias: None,
            dev_details: None,
        };
        self.score(&mut reported, iteration.x)?;
        if self.observer.iteration(&reported).map_err(Error::Observer)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if self.state.selection.is_exhausted(number, self.settings.options.patience) {
            self.ending = Some(Ok(StopReason::Patience));
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Scores the iterate `x` of an iteration, and keeps a copy of it if it is the best so far.
    fn score(&mut self, iteration: &mut Iteration, x: &[f64]) -> Result<()> {
        let Some(scorer) = &mut self.scorer else { return Ok(()) };
        let start = Instant::now();
        let number = iteration.number;
        let CourseState { selection, kept, .. } = &mut self.state;
        let biases = selection.search.candidates(number);
        let scored = scorer.score(x, &biases)?.into_iter();
        let (scores, mut types): (Vec<DevScore>, Vec<_>) = scored.unzip();
        let best = selection.search.choose(&biases, &scores);
        iteration.dev = Some(best.score);
        iteration.dev_mean = self.set.chooses_on_dev().then(|| selection.decide(number, best));
        iteration.recall_bias = selection.search.is_enabled.then_some(best.recall_bias);
        if selection.keeps(number) {
            kept.clear();
            kept.extend_from_slice(x);
        }
        let chosen = biases.iter().position(|bias| *bias == best.recall_bias);
        iteration.dev_details = Some(DevDetails {
            best_iteration: selection.kept().map_or(number, |(kept, _)| kept.iteration),
            waited: selection.waited(number),
            types: chosen.map_or_else(Vec::new, |i| types.swap_remove(i)),
            label_scores: scorer.label_scores.take(),
        });
        self.started += start.elapsed();
        Ok(())
    }

    /// Returns the time since training began, excluding the time for scoring development data.
    fn time(&self) -> Duration {
        self.state.time + self.started.elapsed()
    }

    /// Saves the state of the learner after an iteration, if it is time or if training is
    /// interrupted: training resumes from it to the same bits ([`take_state`](Self::take_state)).
    pub fn save<S: Serialize>(&mut self, is_interrupted: bool, state: impl FnOnce() -> S) {
        let iterations = self.state.progress.iterations;
        if iterations > 0 && self.run.is_due(iterations, is_interrupted) {
            self.state.time = self.time();
            self.started = Instant::now();
            self.run.save(Some((&self.state, state())), self.observer);
        }
    }

    /// Returns the weights of the model and the result of training.
    fn finish(self, outcome: Outcome<Terms>) -> Result<(Vec<f64>, End)> {
        let time = self.time();
        let reason = match (self.ending.transpose()?, outcome.stop_reason) {
            (Some(ending), StopReason::Interrupted) => ending,
            (_, reason) => reason,
        };
        let CourseState { progress, selection, kept, .. } = self.state;
        let iterations = progress.iterations;
        let warm_up = selection.warm_up(iterations);
        let (best_iteration, recall_bias, theta) = match selection.kept() {
            Some((best, scored)) => (best.iteration, scored.recall_bias, kept),
            None => {
                let iteration = selection.chosen.unwrap_or(iterations);
                (iteration, selection.search.bias, outcome.x)
            }
        };
        let regularization = self.settings.regularization;
        let noise = regularization.noise.is_on().then(|| NoiseExposure {
            lost: selection.lost_after(warm_up),
            ..NoiseExposure::new(regularization.noise.kind.to_string(), best_iteration, warm_up)
        });
        let end = End {
            reason,
            iterations,
            warm_up,
            best_iteration,
            time,
            dev: selection.kept().map(|(_, scored)| scored.score),
            dev_mean: selection.kept().map(|(best, _)| best.mean),
            recall_bias,
            regularization: regularization.describe(noise.as_ref()),
            noise,
        };
        Ok((theta, end))
    }
}

/// Reports the iterations of L-BFGS and saves its states.
impl StateObserver<Terms> for Course<'_> {
    fn iteration(&mut self, iteration: &optim::Iteration<'_, Terms>) -> ControlFlow<()> {
        Course::iteration(self, iteration, None)
    }

    fn state(&mut self, state: &SavedState<'_, Terms>, is_interrupted: bool) {
        self.save(is_interrupted, || state);
    }
}
