//! A learner: epoch after epoch over the sentences in random order.

use std::sync::atomic::{AtomicBool, Ordering};

use super::algorithm::{Algorithm, SgdOptions};
use super::mistakes::MistakeLearner;
use super::order::shuffle;
use super::problem::Problem;
use super::sgd::{
    OnlineNoise, OnlineNoiseKind, SentencePenalty, SgdStepper, SgdWeights, StepInput,
};
use dropchain::error::{Error, Result};
use dropchain::extract::Dataset;
use dropchain::objective::{Penalty, Terms};
use dropchain::score::ParameterSpace;
use dropchain::train::Calibration;

/// The parameters of a learner, all within their ranges.
#[derive(Clone, Debug)]
pub(crate) struct LearnerSettings {
    /// An online algorithm.
    pub algorithm: Algorithm,
    /// The L2 penalty of stochastic gradient descent.
    pub penalty: Penalty,
    /// The noise of stochastic gradient descent.
    pub noise: Option<OnlineNoise>,
    /// Number of epochs without noise, before those with it.
    pub warm_up: usize,
    /// Number of epochs over which the learning rate of stochastic gradient descent falls to 0, on
    /// top of its schedule.
    pub cooling: Option<usize>,
    /// The seed of the order of sentences.
    pub seed: u64,
}

/// Numbers of a state besides its vectors.
const SCALARS: usize = 4;

/// A learner and its weights.
#[derive(Debug)]
pub(crate) struct EpochLearner<'a> {
    problem: Problem<'a>,
    settings: LearnerSettings,
    method: Method,
    /// The calibration, until it is taken.
    pub calibration: Option<Calibration>,
    order: Vec<u32>, // of the current epoch
    /// The number of epochs so far.
    pub epochs: usize,
    /// The parameters θ after the last epoch.
    pub theta: Vec<f64>,
    history: Vec<f64>, // objectives of the last epochs, of stochastic gradient descent
}

#[derive(Debug)]
enum Method {
    Sgd(Box<SgdLearner>),
    Mistakes(Box<MistakeLearner>),
}

#[derive(Debug)]
struct SgdLearner {
    options: SgdOptions,
    stepper: SgdStepper,
    weights: SgdWeights,
    eta: Option<f64>, // calibrated
    penalty: Penalty,
}

/// The result of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
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
        let weights = problem.layout.weights(space, &theta);
        let uses_unlabeled = matches!(
            settings.noise.as_ref().map(|noise| noise.kind),
            Some(OnlineNoiseKind::Analytic(_))
        );
        let sentences = if uses_unlabeled { data.len() } else { data.labeled() };
        let mistakes = |epsilon| {
            let weights = weights.clone();
            let learner = MistakeLearner::new(settings.algorithm, epsilon, &problem, weights);
            Method::Mistakes(Box::new(learner))
        };
        let method = match settings.algorithm {
            Algorithm::Sgd(options) => {
                let penalty = SentencePenalty::new(&problem, &settings.penalty, sentences);
                let weights = weights.clone();
                let mut stepper = SgdStepper::new(
                    &problem,
                    options.step,
                    penalty.clone(),
                    settings.noise.clone(),
                );
                stepper.cooling =
                    (settings.cooling).map(|epochs| (epochs * sentences.max(1)) as u64);
                Method::Sgd(Box::new(SgdLearner {
                    weights: SgdWeights::new(&problem, weights, options.step, &penalty),
                    stepper,
                    eta: None,
                    options,
                    penalty: settings.penalty.clone(),
                }))
            }
            Algorithm::Perceptron(options) => mistakes(options.epsilon),
            Algorithm::PassiveAggressive(options) => mistakes(options.epsilon),
            Algorithm::Arow(options) => mistakes(options.epsilon),
        };
        Self {
            problem,
            settings,
            method,
            calibration: None,
            order: vec![0; sentences],
            epochs: 0,
            theta,
            history: Vec::new(),
        }
    }

    /// Prepares the first epoch: calibrates the learning rate. Returns false if `interrupt` is
    /// set.
    pub fn prepare(&mut self, interrupt: Option<&AtomicBool>) -> bool {
        let Method::Sgd(sgd) = &mut self.method else {
            return true;
        };
        if sgd.eta.is_none() {
            shuffle(self.settings.seed, 0, &mut self.order);
            self.calibration = sgd.calibrate(&self.problem, &self.order, interrupt);
            sgd.eta = self.calibration.as_ref().map(|found| found.rate);
        }
        sgd.eta.is_some()
    }

    /// Learns from all sentences once.
    pub fn run_epoch(&mut self) -> Epoch {
        self.prepare(None);
        self.epochs += 1;
        shuffle(self.settings.seed, self.epochs as u64, &mut self.order);
        let (problem, epoch) = (&self.problem, self.epochs);
        match &mut self.method {
            Method::Sgd(sgd) => {
                let has_noise = epoch > self.settings.warm_up;
                if epoch == self.settings.warm_up + 1 {
                    // Objectives with and without the noise term are not comparable.
                    self.history.clear();
                }
                let mut terms = sgd.run(problem, &self.order, epoch as u64, has_noise);
                sgd.weights.complete(problem, &sgd.stepper.penalty);
                let values = &sgd.weights.values;
                (problem.layout).write(problem.space, |slot| values[slot], &mut self.theta);
                terms.l2 = sgd.penalty.value(&self.theta);
                let objective = terms.l2 + terms.noise - terms.log_likelihood;
                let has_converged = sgd.has_converged(&mut self.history, objective);
                Epoch { objective, terms, rate: Some(sgd.current_rate()), has_converged }
            }
            Method::Mistakes(method) => {
                let mut loss = 0.0;
                for &sentence in &self.order {
                    loss += method.learn(problem, sentence as usize);
                }
                method.write(problem, &mut self.theta);
                Epoch {
                    objective: loss,
                    terms: Terms::default(),
                    rate: None,
                    has_converged: method.has_converged(loss / self.order.len().max(1) as f64),
                }
            }
        }
    }

    /// Returns how many numbers a state has.
    pub fn state_length(&self) -> usize {
        let vectors = self.vectors();
        SCALARS + self.period() + vectors.map(<[f64]>::len).iter().sum::<usize>()
    }

    /// Returns the state as numbers, from which [`restore`](Self::restore) continues to the same
    /// bits.
    pub fn state(&self) -> Vec<f64> {
        let (count, eta) = match &self.method {
            Method::Sgd(sgd) => (sgd.weights.steps, sgd.eta),
            Method::Mistakes(method) => (method.count, None),
        };
        let mut numbers = Vec::with_capacity(self.state_length());
        numbers.extend([
            self.epochs as f64,
            count as f64,
            eta.unwrap_or(f64::NAN),
            self.history.len() as f64,
        ]);
        numbers.extend_from_slice(&self.history);
        numbers.resize(SCALARS + self.period(), 0.0);
        for vector in self.vectors() {
            numbers.extend_from_slice(vector);
        }
        numbers
    }

    /// Restores a state.
    ///
    /// # Errors
    ///
    /// The state is of another algorithm or other data.
    pub fn restore(&mut self, numbers: &[f64]) -> Result<()> {
        if numbers.len() != self.state_length() {
            return Err(Error::parameter("the state of the learner does not fit the data"));
        }
        let (scalars, rest) = numbers.split_at(SCALARS);
        let (history, rest) = rest.split_at(self.period());
        let (weights, sums) = rest.split_at(self.vectors()[0].len());
        let (weights, sums) = (weights.to_vec(), sums.to_vec());
        self.epochs = scalars[0] as usize;
        self.history = history[..(scalars[3] as usize).min(history.len())].to_vec();
        let (problem, count) = (&self.problem, scalars[1] as u64);
        match &mut self.method {
            Method::Sgd(sgd) => {
                sgd.eta = (!scalars[2].is_nan()).then_some(scalars[2]);
                sgd.weights.values = weights;
                sgd.weights.squares = sums;
                sgd.weights.steps = count;
                let values = &sgd.weights.values;
                (problem.layout).write(problem.space, |slot| values[slot], &mut self.theta);
            }
            Method::Mistakes(method) => {
                method.weights = weights;
                method.sums = sums;
                method.count = count;
                method.is_stale = true;
                method.write(problem, &mut self.theta);
            }
        }
        Ok(())
    }

    /// Returns the weights and the numbers beside them.
    fn vectors(&self) -> [&[f64]; 2] {
        match &self.method {
            Method::Sgd(sgd) => [&sgd.weights.values, &sgd.weights.squares],
            Method::Mistakes(method) => [&method.weights, &method.sums],
        }
    }

    /// Returns the maximum length of the history.
    fn period(&self) -> usize {
        match self.settings.algorithm {
            Algorithm::Sgd(options) => options.period,
            _ => 0,
        }
    }
}

impl SgdLearner {
    /// Returns η.
    fn rate(&self) -> f64 {
        self.eta.unwrap_or(self.options.eta)
    }

    /// Returns the learning rate of the last step.
    fn current_rate(&self) -> f64 {
        let steps = self.weights.steps.saturating_sub(1);
        self.stepper.rate(self.rate(), steps)
    }

    /// Takes a step for each sentence of `order`; returns the sums of their terms.
    fn run(&mut self, problem: &Problem<'_>, order: &[u32], epoch: u64, has_noise: bool) -> Terms {
        let mut sums = Terms::default();
        let eta = self.rate();
        for &sentence in order {
            let input = StepInput { sentence: sentence as usize, epoch, eta, has_noise };
            let terms = self.stepper.step(problem, &mut self.weights, input);
            sums.log_likelihood -= terms.loss;
            sums.noise += terms.noise;
        }
        sums
    }

    /// Finds the learning rate with the lowest objective after one pass over the first sentences of
    /// `order`, without noise, among those around its initial value; `None` if interrupted.
    ///
    /// It first goes up by factors, as long as the objective falls below that at the start, then
    /// down from the initial value: the procedure of CRFsuite.
    ///
    /// CRFsuite takes the loss of a sentence before its update, which of few sentences no rate can
    /// lower: the first one has always that of the start. Where no rate seems to lower the
    /// objective, the losses after all updates decide.
    fn calibrate(
        &mut self,
        problem: &Problem<'_>,
        order: &[u32],
        interrupt: Option<&AtomicBool>,
    ) -> Option<Calibration> {
        let calibration = self.calibrate_by(problem, order, interrupt, false)?;
        let mut objectives = calibration.trials.iter().map(|(_, objective)| *objective);
        match objectives.any(|objective| objective < calibration.initial) {
            true => Some(calibration),
            false => self.calibrate_by(problem, order, interrupt, true),
        }
    }

    fn calibrate_by(
        &mut self,
        problem: &Problem<'_>,
        order: &[u32],
        interrupt: Option<&AtomicBool>,
        is_after: bool,
    ) -> Option<Calibration> {
        let options = self.options;
        let sample = &order[..order.len().min(options.samples)];
        let start = self.weights.values.clone();
        let mut theta = vec![0.0; problem.space.dimension()];
        let mut penalty = |this: &Self| {
            let values = &this.weights.values;
            problem.layout.write(problem.space, |slot| values[slot], &mut theta);
            this.penalty.value(&theta) * sample.len() as f64 / order.len() as f64
        };
        let mut initial = penalty(self);
        for &sentence in sample {
            initial += self.stepper.loss(problem, &self.weights, sentence as usize);
        }
        let (mut eta, mut best) = (options.eta, (options.eta, f64::INFINITY));
        let mut trials = Vec::new();
        let (mut is_descending, mut left) = (false, options.candidates);
        for _ in 1..options.max_trials.max(2) {
            if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return None;
            }
            self.reset(problem, start.clone());
            self.eta = Some(eta);
            let terms = self.run(problem, sample, 0, false);
            self.weights.complete(problem, &self.stepper.penalty);
            let mut objective = penalty(self);
            if is_after {
                for &sentence in sample {
                    objective += self.stepper.loss(problem, &self.weights, sentence as usize);
                }
            } else {
                objective -= terms.log_likelihood;
            }
            let is_lower = objective.is_finite() && objective < initial;
            trials.push((eta, objective));
            left -= usize::from(is_lower);
            if objective < best.1 {
                best = (eta, objective);
            }
            if is_descending {
                eta /= options.rate;
            } else if is_lower && left > 0 {
                eta *= options.rate;
            } else {
                is_descending = true;
                left = options.candidates;
                eta = options.eta / options.rate;
            }
            if is_descending && left == 0 {
                break;
            }
        }
        self.reset(problem, start);
        Some(Calibration { sentences: sample.len(), initial, trials, rate: best.0 })
    }

    fn reset(&mut self, problem: &Problem<'_>, values: Vec<f64>) {
        let penalty = &self.stepper.penalty;
        self.weights = SgdWeights::new(problem, values, self.options.step, penalty);
    }

    /// Records an objective and returns whether it fell too little in a period.
    fn has_converged(&self, history: &mut Vec<f64>, objective: f64) -> bool {
        let old = (history.len() == self.options.period).then(|| history.remove(0));
        history.push(objective);
        old.is_some_and(|old| (old - objective) / objective < self.options.delta)
    }
}
