//! A learner: epoch after epoch over the sentences in random order.

use std::sync::atomic::AtomicBool;

use dropchain::kernel::extract::Dataset;
use dropchain::kernel::objective::{NoiseOptions, Penalty, Terms};
use dropchain::kernel::score::ParameterSpace;
use dropchain::train::Calibration;
use dropchain::{Error, Result};

use crate::algorithm::{Algorithm, LearningRate};
use crate::calibration::calibrate;
use crate::loss::OnlineNoise;
use crate::mistakes::MistakeLearner;
use crate::order::shuffle;
use crate::problem::Problem;
use crate::sgd::Descent;
use crate::state::{LowestEpoch, State};

/// The parameters of a learner, all within their ranges.
#[derive(Clone, Debug)]
pub(crate) struct LearnerSettings {
    /// An online algorithm.
    pub algorithm: Algorithm,
    /// The L2 penalty of stochastic gradient descent.
    pub penalty: Penalty,
    /// The noise of stochastic gradient descent.
    pub noise: Option<NoiseOptions>,
    /// Number of epochs without noise, before those with it.
    pub warm_up: usize,
    /// Whether the result is the epoch with the lowest objective, not the last one.
    pub keeps_lowest: bool,
    /// Number of epochs over which the learning rate of stochastic gradient descent falls to 0, on
    /// top of its schedule.
    pub cooling: Option<usize>,
    /// The seed of the order of sentences.
    pub seed: u64,
}

/// A learner and its weights.
#[derive(Debug)]
pub(crate) struct EpochLearner<'a> {
    problem: Problem<'a>,
    rule: UpdateRule,
    seed: u64,
    warm_up: usize,
    order: Vec<u32>, // of the current epoch
    state: State,
    /// The calibration, until it is taken.
    pub calibration: Option<Calibration>,
    /// The parameters θ after the last epoch.
    pub theta: Vec<f64>,
}

#[derive(Debug)]
enum UpdateRule {
    Sgd(Box<Descent>),
    Mistakes(Box<MistakeLearner>),
}

/// The result of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Epoch {
    /// Sum of the losses of the sentences, each before its update, and the penalty after the epoch.
    pub objective: f64,
    /// The terms of that sum, of stochastic gradient descent.
    pub terms: Terms,
    /// The learning rate after the epoch, if there is one.
    pub rate: Option<f64>,
    /// Whether the stopping test of the algorithm holds.
    pub has_converged: bool,
}

impl<'a> EpochLearner<'a> {
    /// Creates a learner that starts at θ.
    pub fn new(
        data: &'a Dataset,
        space: &'a ParameterSpace,
        settings: LearnerSettings,
        theta: Vec<f64>,
    ) -> Self {
        let problem = Problem::new(data, space);
        let noise = settings.noise.map(|noise| OnlineNoise::new(&problem, noise, settings.seed));
        let noise = noise.unwrap_or_default();
        let sentences = if noise.uses_unlabeled() { data.len() } else { data.labeled() };
        let (rule, sum) = match settings.algorithm {
            Algorithm::Sgd(rate) => {
                let mut descent = Descent::new(&problem, rate, settings.penalty, noise, sentences);
                descent.cooling = settings.cooling.map(|epochs| (epochs * sentences.max(1)) as u64);
                (UpdateRule::Sgd(Box::new(descent)), None)
            }
            Algorithm::Mistakes(rule) => {
                let learner = MistakeLearner::new(rule, &problem);
                (UpdateRule::Mistakes(Box::new(learner)), Some(rule.first_sum()))
            }
        };
        let state = State {
            epochs: 0,
            steps: 0,
            eta: None,
            history: Vec::new(),
            weights: problem.weights(theta.clone()),
            sums: sum.map_or_else(Vec::new, |sum| vec![sum; theta.len()]),
            lowest: settings.keeps_lowest.then(LowestEpoch::default),
        };
        Self {
            problem,
            rule,
            seed: settings.seed,
            warm_up: settings.warm_up,
            order: vec![0; sentences],
            state,
            calibration: None,
            theta,
        }
    }

    /// Returns what epochs have changed.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the parameters θ and what epochs have changed.
    pub fn into_parts(self) -> (Vec<f64>, State) {
        (self.theta, self.state)
    }

    /// Restores a state.
    ///
    /// # Errors
    ///
    /// The state is of another algorithm or other data.
    pub fn restore(&mut self, state: State) -> Result<()> {
        let lengths = |state: &State| [state.weights.len(), state.sums.len()];
        if lengths(&state) != lengths(&self.state) {
            return Err(Error::parameter("the state of the learner does not fit the data"));
        }
        self.state = state;
        if let UpdateRule::Mistakes(learner) = &mut self.rule {
            learner.forget();
        }
        self.write();
        Ok(())
    }

    /// Prepares the first epoch: calibrates the learning rate. Returns false if `interrupt` is
    /// set.
    pub fn prepare(&mut self, interrupt: Option<&AtomicBool>) -> bool {
        let UpdateRule::Sgd(descent) = &mut self.rule else { return true };
        if self.state.eta.is_none() {
            self.state.eta = match descent.rate {
                LearningRate::Fixed(eta) => Some(eta),
                LearningRate::Calibrated(eta) => {
                    shuffle(self.seed, 0, &mut self.order);
                    let (problem, start) = (&self.problem, &self.state);
                    self.calibration =
                        calibrate(descent, eta, problem, start, &self.order, interrupt);
                    self.calibration.as_ref().map(|found| found.rate)
                }
            };
        }
        self.state.eta.is_some()
    }

    /// Learns from all sentences once.
    pub fn run_epoch(&mut self) -> Epoch {
        self.prepare(None);
        self.state.epochs += 1;
        let epoch = self.state.epochs;
        shuffle(self.seed, epoch as u64, &mut self.order);
        let (problem, state) = (&self.problem, &mut self.state);
        match &mut self.rule {
            UpdateRule::Sgd(descent) => {
                if epoch == self.warm_up + 1 {
                    // Objectives with and without the noise term are not comparable.
                    state.history.clear();
                    state.lowest = state.lowest.take().map(|_| LowestEpoch::default());
                }
                let noisy_epoch = (epoch > self.warm_up).then_some(epoch as u64);
                let mut terms = descent.run(problem, state, &self.order, noisy_epoch);
                problem.write(|i| state.weights[i], &mut self.theta);
                terms.l2 = descent.penalty.value(&self.theta);
                let objective = terms.l2 + terms.noise - terms.log_likelihood;
                let rate = descent.rate_after(state, state.steps.saturating_sub(1));
                let has_converged = descent.has_converged(&mut state.history, objective);
                if let Some(lowest) = state.lowest.as_mut().filter(|_| objective.is_finite()) {
                    lowest.record(epoch, objective, &self.theta);
                }
                Epoch { objective, terms, rate: Some(rate), has_converged }
            }
            UpdateRule::Mistakes(learner) => {
                let sentences = self.order.iter();
                let loss = sentences.map(|&i| learner.learn(problem, state, i as usize)).sum();
                learner.rule.write(problem, state, &mut self.theta);
                let mean = loss / self.order.len().max(1) as f64;
                Epoch {
                    objective: loss,
                    terms: Terms::default(),
                    rate: None,
                    has_converged: learner.rule.has_converged(mean),
                }
            }
        }
    }

    fn write(&mut self) {
        let (problem, state) = (&self.problem, &self.state);
        match &self.rule {
            UpdateRule::Sgd(_) => problem.write(|i| state.weights[i], &mut self.theta),
            UpdateRule::Mistakes(learner) => learner.rule.write(problem, state, &mut self.theta),
        }
    }
}
