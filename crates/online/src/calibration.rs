//! The calibration of the learning rate of stochastic gradient descent, as in CRFsuite.

use std::sync::atomic::{AtomicBool, Ordering};

use dropchain::train::Calibration;

use crate::problem::{Problem, State};
use crate::sgd::Descent;

/// The factor between the learning rates that are tried.
const FACTOR: f64 = 2.0;

/// Maximum number of sentences to calibrate on.
const SAMPLES: usize = 1000;

/// Number of learning rates to try upwards, and downwards, that lower the objective.
const CANDIDATES: usize = 10;

/// Maximum number of learning rates to try: one less than CRFsuite's limit of 20, as there.
const TRIALS: usize = 19;

/// The sentences to calibrate on.
struct Trials<'a> {
    problem: &'a Problem<'a>,
    descent: &'a mut Descent,
    eta: f64,
    start: &'a State,
    sample: &'a [u32],
    /// The share of the sample in all sentences.
    share: f64,
}

/// Finds the learning rate with the lowest objective after one pass over the first sentences of
/// `order`, without noise, among those around the initial value `eta`; `None` if interrupted.
///
/// It first goes up by factors, as long as the objective falls below that at the start, then
/// down from the initial value: the procedure of CRFsuite.
///
/// CRFsuite takes the loss of a sentence before its update, which of few sentences no rate can
/// lower: the first one has always that of the start. Where no rate seems to lower the
/// objective, the losses after all updates decide.
pub(crate) fn calibrate(
    descent: &mut Descent,
    eta: f64,
    problem: &Problem<'_>,
    start: &State,
    order: &[u32],
    interrupt: Option<&AtomicBool>,
) -> Option<Calibration> {
    let sample = &order[..order.len().min(SAMPLES)];
    let share = sample.len() as f64 / order.len() as f64;
    let mut trials = Trials { problem, descent, eta, start, sample, share };
    let calibration = trials.run(interrupt, false)?;
    let mut objectives = calibration.trials.iter().map(|(_, objective)| *objective);
    match objectives.any(|objective| objective < calibration.initial) {
        true => Some(calibration),
        false => trials.run(interrupt, true),
    }
}

impl Trials<'_> {
    /// Tries learning rates. `is_after`: the losses of sentences are those after all updates.
    fn run(&mut self, interrupt: Option<&AtomicBool>, is_after: bool) -> Option<Calibration> {
        let initial = self.penalty(self.start) + self.loss(self.start);
        let (mut eta, mut best) = (self.eta, (self.eta, f64::INFINITY));
        let mut trials = Vec::new();
        let (mut is_descending, mut left) = (false, CANDIDATES);
        for _ in 0..TRIALS {
            if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return None;
            }
            let objective = self.try_rate(eta, is_after);
            let is_lower = objective.is_finite() && objective < initial;
            trials.push((eta, objective));
            left -= usize::from(is_lower);
            if objective < best.1 {
                best = (eta, objective);
            }
            if is_descending {
                eta /= FACTOR;
            } else if is_lower && left > 0 {
                eta *= FACTOR;
            } else {
                is_descending = true;
                left = CANDIDATES;
                eta = self.eta / FACTOR;
            }
            if is_descending && left == 0 {
                break;
            }
        }
        Some(Calibration { sentences: self.sample.len(), initial, trials, rate: best.0 })
    }

    /// Returns the objective of a pass with this rate.
    fn try_rate(&mut self, eta: f64, is_after: bool) -> f64 {
        let mut state = State { eta: Some(eta), ..self.start.clone() };
        let terms = self.descent.run(self.problem, &mut state, self.sample, None);
        let penalty = self.penalty(&state);
        if is_after { penalty + self.loss(&state) } else { penalty - terms.log_likelihood }
    }

    /// Returns the share of the penalty.
    fn penalty(&self, state: &State) -> f64 {
        let mut theta = vec![0.0; state.weights.len()];
        self.problem.write(|i| state.weights[i], &mut theta);
        self.descent.penalty.value(&theta) * self.share
    }

    fn loss(&mut self, state: &State) -> f64 {
        self.sample.iter().map(|&i| self.descent.loss(self.problem, state, i as usize)).sum()
    }
}
