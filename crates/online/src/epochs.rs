//! Epoch after epoch over the sentences in random order: the iterations of a stage of training.

use std::sync::atomic::AtomicBool;

use dropchain::kernel::extract::Dataset;
use dropchain::kernel::objective::Terms;
use dropchain::kernel::optim::{Iteration, Outcome, StopReason};
use dropchain::kernel::random::nth;
use dropchain::kernel::score::ParameterSpace;
use dropchain::kernel::train::{Course, Stage};
use dropchain::train::Calibration;
use dropchain::{Error, Result};

use crate::algorithm::{Algorithm, LearnerSettings, LearningRate};
use crate::calibration::calibrate;
use crate::loss::OnlineNoise;
use crate::mistakes::MistakeLearner;
use crate::problem::{LowestEpoch, Problem, State};
use crate::sgd::Descent;

/// A learner and its weights.
#[derive(Debug)]
pub(crate) struct EpochLearner<'a> {
    problem: Problem<'a>,
    rule: UpdateRule,
    settings: LearnerSettings,
    order: Vec<u32>, // of the current epoch
    pub state: State,
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
        let sentences = if noise.quadratic.is_some() { data.len() } else { data.labeled() };
        let (rule, sum) = match settings.algorithm {
            Algorithm::Sgd(rate) => {
                let descent = Descent::new(&problem, rate, &settings, noise, sentences);
                (UpdateRule::Sgd(Box::new(descent)), None)
            }
            Algorithm::Mistakes(rule) => {
                let learner = MistakeLearner::new(rule, &problem);
                let sum = if rule.is_averaged() { 0.0 } else { 1.0 }; // of changes, or a variance
                (UpdateRule::Mistakes(Box::new(learner)), Some(sum))
            }
        };
        let state = State {
            weights: problem.weights(theta.clone()),
            sums: sum.map_or_else(Vec::new, |sum| vec![sum; theta.len()]),
            lowest: settings.keeps_lowest.then(LowestEpoch::default),
            ..State::default()
        };
        let order = vec![0; sentences];
        Self { problem, rule, settings, order, state, calibration: None, theta }
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
        let (problem, state) = (&self.problem, &self.state);
        match &mut self.rule {
            UpdateRule::Sgd(_) => problem.write(|i| state.weights[i], &mut self.theta),
            UpdateRule::Mistakes(learner) => {
                learner.is_stale = true;
                learner.rule.write(problem, state, &mut self.theta);
            }
        }
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
                    shuffle(self.settings.seed, 0, &mut self.order);
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
        shuffle(self.settings.seed, epoch as u64, &mut self.order);
        let (problem, state) = (&self.problem, &mut self.state);
        match &mut self.rule {
            UpdateRule::Sgd(descent) => {
                if epoch == self.settings.warm_up + 1 {
                    // Objectives with and without the noise term are not comparable.
                    state.history.clear();
                    state.lowest = state.lowest.take().map(|_| LowestEpoch::default());
                }
                let noisy_epoch = (epoch > self.settings.warm_up).then_some(epoch as u64);
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
}

/// Fills `order` with the numbers below its length, in an order that is a function of seed and
/// epoch: the shuffle of Fisher and Yates.
///
/// Random integers below n are the high half of a 64-bit random number times n; their bias is below
/// n/2⁶⁴.
pub(crate) fn shuffle(seed: u64, epoch: u64, order: &mut [u32]) {
    for (i, number) in order.iter_mut().enumerate() {
        *number = i as u32;
    }
    let key = nth(seed, epoch);
    for i in (1..order.len()).rev() {
        let random = u128::from(nth(key, i as u64));
        let j = (random * (i as u128 + 1)) >> 64;
        order.swap(i, j as usize);
    }
}

/// Runs a stage in epochs.
///
/// # Errors
///
/// The weights became infinite before the first epoch ended; the state to resume from does not fit
/// the data.
pub(crate) fn learn(
    settings: LearnerSettings,
    stage: &Stage,
    course: &mut Course<'_>,
) -> Result<Outcome<Terms>> {
    let set = course.set();
    let is_probabilistic = matches!(settings.algorithm, Algorithm::Sgd(_));
    let mut learner = EpochLearner::new(set.data(), set.space(), settings, course.take_start());
    if let Some(state) = course.take_state()? {
        learner.restore(state)?;
    }
    let mut last = Epoch { objective: f64::NAN, ..Epoch::default() };
    let reason = loop {
        if stage.limit.is_some_and(|limit| learner.state.epochs >= limit) {
            break StopReason::MaxIterations;
        }
        if course.is_interrupted() || !learner.prepare(course.interrupt()) {
            course.save(true, || &learner.state);
            break StopReason::Interrupted;
        }
        if let Some(calibration) = learner.calibration.take() {
            course.calibrated(&calibration);
        }
        let epoch = learner.run_epoch();
        if !epoch.objective.is_finite() {
            break StopReason::NonFinite;
        }
        last = epoch;
        // No checkpoint follows the last epoch: a run that resumes from it would not know that
        // training has ended. One from before repeats the epoch.
        let mut terms = last.terms;
        if !is_probabilistic {
            terms.log_likelihood = f64::NAN;
        }
        let (epochs, theta) = (learner.state.epochs, &learner.theta[..]);
        let iteration = Iteration {
            step: last.rate.unwrap_or(1.0),
            ..Iteration::new(epochs, last.objective, &terms, theta)
        };
        if course.iteration(&iteration, last.rate).is_break() {
            break StopReason::Interrupted;
        }
        if last.has_converged {
            break if is_probabilistic { StopReason::Improvement } else { StopReason::Loss };
        }
        course.save(false, || &learner.state);
    };
    let epochs = learner.state.epochs;
    let mut x = learner.theta;
    if let Some(lowest) = learner.state.lowest.filter(|lowest| lowest.epoch > 0) {
        course.choose(lowest.epoch);
        x = lowest.theta;
    } else if reason == StopReason::NonFinite && !course.has_kept() {
        return Err(Error::NotFinite(format!(
            "the loss is not finite in epoch {epochs}; expected smaller attribute values, or \
             smaller steps"
        )));
    }
    Ok(Outcome {
        x,
        value: last.objective,
        detail: last.terms,
        stop_reason: reason,
        iterations: epochs,
        evaluations: epochs,
        gradient_norm: f64::NAN,
        restarts: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_permutation_that_depends_on_seed_and_epoch() {
        let order = |seed, epoch| {
            let mut order = vec![0; 100];
            shuffle(seed, epoch, &mut order);
            order
        };
        let mut sorted = order(1, 2);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert_eq!(order(1, 2), order(1, 2));
        assert_ne!(order(1, 2), order(1, 3));
        assert_ne!(order(1, 2), order(2, 2));
    }

    #[test]
    fn every_position_is_equally_likely() {
        // Number 0 of 5 over 5000 epochs: 1000 at each position, standard deviation 28.
        let mut counts = [0_i32; 5];
        for epoch in 0..5000 {
            let mut order = [0; 5];
            shuffle(7, epoch, &mut order);
            let position = order.iter().position(|&number| number == 0).unwrap();
            counts[position] += 1;
        }
        assert!(counts.iter().all(|n| (n - 1000).abs() < 140), "{counts:?}");
    }
}
