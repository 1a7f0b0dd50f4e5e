//! Documents and options as a problem of minimization, by rounds of multipliers where the loss has
//! kinks, and its solutions as models.
//!
//! # L2 strengths by informativeness
//!
//! The strength on the weight of feature j and class i is c2/(r_ij + ε) with
//!
//! ```text
//! r_ij = | log p(x_j|y = i) − log p(x_j|y ≠ i) |
//! ```
//!
//! where p(x_j|·) is the share of the documents with (without) the class in which the feature
//! occurs, plus one occurrence and one absence. A feature that says nothing of a class has the
//! strength c2/ε there, so it cannot learn to correct what informative ones do: weights are kept
//! from adapting to each other, as by dropout.
//!
//! Source: Wang and Manning, "Fast dropout training", ICML 2013, appendix A.3.

use std::f64::consts::SQRT_2;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::design::Design;
use super::loss::Loss;
use super::noise::{Noise, Sampling};
use super::objective::{Examples, LinearObjective, Terms};
use crate::corpus::DocumentCorpus;
use crate::options::{DocumentOptions, LearningOptions, Masks, Multiclass, NoiseKind};
use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::optim::{Iteration, LbfgsOptions, Objective, Outcome, StopReason, minimize};
use dropchain::{Error, Result};

/// Curvature pairs of L-BFGS: with so many features, iterations are fewer than with those of
/// taggers.
const PAIRS: usize = 15;

/// What σ is multiplied by where a gap is not this much smaller than the one before, and its least
/// value relative to the first.
const SHRINKING: f64 = 0.3;
const LEAST: f64 = 0.03;

/// The tolerance of the minimum for the first multipliers; that for later ones, relative to the gap
/// that is left, as L-BFGS begins anew and slowly; and the least.
const FIRST_TOLERANCE: f64 = 1e-3;
const NEXT_TOLERANCE: f64 = 1e-7;
const LEAST_TOLERANCE: f64 = 1e-13;

/// The largest number of times that multipliers are set.
const MAX_ROUNDS: usize = 100;

/// A minimum.
pub(crate) type Fitted = Outcome<Terms>;

/// An iteration: its number, the terms of the objective and its point.
pub(crate) type Step<'a> = Iteration<'a, Terms>;

/// Follows a minimization, and may end it.
pub(crate) type Watch<'w> = &'w mut dyn FnMut(&Step<'_>) -> ControlFlow<()>;

/// Documents to be fitted.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub design: Design,
    pub corpus: &'a DocumentCorpus,
    options: &'a DocumentOptions,
    is_joint: bool, // one loss is that of more than two classes
    interrupt: Option<&'a AtomicBool>,
}

impl<'a> Problem<'a> {
    /// Prepares documents, of which some have a class.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if noise and masks are not possible with more than two classes, or
    /// memory does not suffice.
    pub fn new(
        corpus: &'a DocumentCorpus,
        options: &'a DocumentOptions,
        interrupt: Option<&'a AtomicBool>,
    ) -> Result<Self> {
        let LearningOptions { loss, multiclass, .. } = options.learning;
        let outputs = match corpus.classes.len() {
            0..=2 => 1,
            classes => classes,
        };
        let is_joint = outputs > 1 && loss == Loss::Softmax && multiclass == Multiclass::Softmax;
        let unit = if is_joint { 1.0 } else { SQRT_2 }; // κ
        let is_gaussian = options.noise() == Some(NoiseKind::GaussianScores);
        if is_joint && is_gaussian && options.learning.masks == Masks::Inputs {
            return Err(Error::parameter(format!(
                "gaussian-scores noise with masks 'inputs' and {outputs} labels; expected two \
                 labels, `masks` weights, or `noise` dropout",
            )));
        }
        check_memory(corpus, options, outputs, 0)?;
        let is_collapsed = options.noise() != Some(NoiseKind::MonteCarlo);
        let design = Design::new(&corpus.rows, corpus.features(), is_collapsed, (outputs, unit));
        let problem = Self { design, corpus, options, is_joint, interrupt };
        check_memory(corpus, options, outputs, problem.dimension())?;
        Ok(problem)
    }

    /// Returns the number of parameters.
    pub fn dimension(&self) -> usize {
        (self.design.dimension() + 1) * self.design.outputs
    }

    fn examples(&self) -> Examples {
        let outputs = self.design.outputs;
        // The only score of two classes is that of the second.
        let first = u32::from(outputs == 1);
        let of_document = |&target: &Option<u32>| {
            let classes = first..first + outputs as u32;
            classes.map(move |class| if target == Some(class) { 1.0 } else { -1.0 })
        };
        let is_known: Vec<bool> = self.corpus.targets.iter().map(Option::is_some).collect();
        let all = || self.corpus.weights.iter().zip(&is_known);
        let total = |kind: bool| all().filter(|(_, k)| **k == kind).map(|(v, _)| v).sum::<f64>();
        let alpha = self.options.strengths.unlabeled_weight;
        let factor = total(true) / (total(true) + alpha * total(false));
        let targets = self.corpus.targets.iter().flat_map(of_document).collect();
        let weights = all().map(|(v, known)| if *known { *v } else { 0.0 }).collect();
        let factors = all().map(|(v, known)| if *known { factor * v } else { alpha * factor * v });
        Examples { targets, weights, factors: factors.collect() }
    }

    fn noise(&self) -> Noise {
        let LearningOptions { loss, masks, samples, seed, .. } = self.options.learning;
        let Some(kind) = self.options.noise() else {
            return if loss == Loss::Hinge { Noise::Smooth(1.0) } else { Noise::None };
        };
        let is_shared = masks == Masks::Inputs;
        // The masks of the weights ±½w of two classes give half of the variance.
        let is_half = loss == Loss::Softmax && !is_shared;
        let factor = if self.is_joint || is_half { 1.0 } else { 2.0 };
        let amount = self.options.strengths.dropout;
        let rate = factor * if kind.is_gaussian() { amount } else { amount / (1.0 - amount) };
        match kind {
            NoiseKind::Additive => Noise::Additive(rate),
            NoiseKind::GaussianScores => Noise::Gaussian(rate),
            NoiseKind::MonteCarlo => {
                Noise::Sampled(Sampling { samples, rate: amount, seed, iteration: 0, is_shared })
            }
            _ if self.is_joint && is_shared => Noise::Shared(rate),
            _ => Noise::Proportional(rate),
        }
    }

    fn objective(&self) -> LinearObjective<'_> {
        let (examples, noise) = (self.examples(), self.noise());
        let l2 = self.strengths(&examples);
        let multipliers = match noise {
            Noise::Smooth(_) => vec![0.0; examples.targets.len()],
            _ => Vec::new(),
        };
        let curvature = self.curvature(&examples, &l2);
        let (design, loss, is_joint) = (&self.design, self.options.learning.loss, self.is_joint);
        LinearObjective { design, examples, loss, is_joint, noise, multipliers, l2, curvature }
    }

    /// Returns the L2 strength of each number in φ.
    fn strengths(&self, examples: &Examples) -> Vec<f64> {
        let (l2, outputs) = (self.options.l2(), self.design.outputs);
        let mut strengths = vec![l2; self.design.dimension() * outputs];
        if let Some(epsilon) = self.options.learning.l2_informativeness {
            let count = |documents: &mut dyn Iterator<Item = usize>, k: usize| {
                documents.fold([0.0; 2], |mut counts, n| {
                    let is_of = examples.targets[n * outputs + k] > 0.0;
                    counts[usize::from(is_of)] += examples.weights[n];
                    counts
                })
            };
            let total = |k| count(&mut (0..examples.weights.len()), k);
            let totals: Vec<[f64; 2]> = (0..outputs).map(total).collect();
            for (i, strength) in strengths.iter_mut().enumerate() {
                let (j, k) = (i / outputs, i % outputs);
                let entries = self.design.columns.entries(j).filter(|(_, x)| *x != 0.0);
                let occurrences = count(&mut entries.map(|(n, _)| n as usize), k);
                let [outside, inside] =
                    [0, 1].map(|i| ((occurrences[i] + 1.0) / (totals[k][i] + 2.0)).ln());
                *strength /= (inside - outside).abs() + epsilon;
            }
        }
        let of_bias = if self.options.learning.penalize_bias { l2 } else { 0.0 };
        strengths.resize(self.dimension(), of_bias);
        strengths
    }

    /// Returns estimates of the roots of the inverse diagonal of the Hessian: near the minimum many
    /// documents are certain.
    fn curvature(&self, examples: &Examples, l2: &[f64]) -> Vec<f32> {
        const CERTAIN: f64 = 0.1; // p·(1 − p)
        let outputs = self.design.outputs;
        let estimate = |square: f64, l2: f64| {
            let h = (CERTAIN * square.max(1.0) + 2.0 * l2).sqrt();
            (1.0 / h).clamp(1e-30, 1e30) as f32
        };
        let square = |j: usize| {
            let entries = self.design.columns.entries(j);
            entries.map(|(n, x)| examples.weights[n as usize] * x * x).sum()
        };
        let share = examples.weights.iter().sum::<f64>() / self.corpus.classes.len().max(1) as f64;
        let squares = (0..self.design.dimension()).map(square).chain([share]);
        let estimates = squares.zip(l2.chunks_exact(outputs));
        estimates.flat_map(|(square, l2)| l2.iter().map(move |l2| estimate(square, *l2))).collect()
    }

    /// Returns the scores of documents of a matrix with the features of the corpus, `[N][F]`.
    pub fn scores(&self, phi: &[f64], rows: &SparseRows) -> Vec<f64> {
        self.design.scores(phi, &self.design.classes.project(rows))
    }

    /// Returns the bias of each score, and the weights of each feature.
    pub fn parts(&self, phi: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (weights, biases) = self.design.parts(phi);
        let classes = &self.design.classes;
        let row = |&class: &u32| {
            let scale = self.design.scales[class as usize] / f64::from(classes.size(class));
            self.design.weights(weights, class).iter().map(|w| scale * w).collect()
        };
        (biases, classes.class.iter().map(row).collect())
    }

    /// Minimizes the objective from w = 0.
    ///
    /// # Errors
    ///
    /// [`Error::NotFinite`] if numbers overflow at the start.
    pub fn minimize(&self, watch: Watch<'_>) -> Result<Fitted> {
        let fitted = self.minimize_rounds(watch)?;
        let is_finite = fitted.value.is_finite() && fitted.x.iter().all(|w| w.is_finite());
        if fitted.stop_reason == StopReason::NonFinite && fitted.iterations == 0 || !is_finite {
            let message = "the objective is not finite at the start of training; expected smaller \
                           features";
            return Err(Error::NotFinite(message.to_owned()));
        }
        Ok(fitted)
    }

    fn minimize_rounds(&self, watch: Watch<'_>) -> Result<Fitted> {
        let mut objective = self.objective();
        let mut phi = vec![0.0; objective.dimension()];
        let Noise::Smooth(mut sigma) = objective.noise else {
            return self.run(&mut objective, phi, self.options.tolerance(), 0, watch);
        };
        let least = LEAST * sigma;
        let mut last_gap = f64::INFINITY;
        // Multipliers that are far from the dual variables need no exact minimum. At an exact one,
        // the gap bounds how far the objective is above its least value.
        let (mut tolerance, mut done) = (FIRST_TOLERANCE, 0);
        for round in 1.. {
            let outcome = self.run(&mut objective, phi, tolerance, done, watch)?;
            let gap = -outcome.detail.noise / outcome.value.abs();
            if gap > SHRINKING * last_gap {
                sigma = (SHRINKING * sigma).max(least);
            }
            last_gap = gap;
            objective.set_multipliers(&outcome.x, sigma);
            let is_last = !matches!(
                outcome.stop_reason,
                StopReason::Improvement | StopReason::Gradient | StopReason::LineSearch
            );
            done += outcome.iterations;
            let is_near = gap.max(tolerance) <= self.options.tolerance();
            if is_last || is_near || round == MAX_ROUNDS {
                let value = outcome.value - outcome.detail.noise;
                return Ok(Outcome { value, iterations: done, ..outcome });
            }
            tolerance = (NEXT_TOLERANCE * gap).clamp(LEAST_TOLERANCE, FIRST_TOLERANCE);
            phi = outcome.x;
        }
        unreachable!("the last round returns")
    }

    /// Minimizes an objective after so many iterations.
    fn run(
        &self,
        objective: &mut LinearObjective<'_>,
        start: Vec<f64>,
        tolerance: f64,
        done: usize,
        watch: Watch<'_>,
    ) -> Result<Outcome<Terms>> {
        let mut l1 = vec![0.0; start.len()];
        for (own, scale) in l1.chunks_exact_mut(self.design.outputs).zip(&self.design.scales) {
            own.fill(self.options.strengths.l1 * scale);
        }
        let mut last = [f64::INFINITY; 2];
        let mut observe = |step: &Step<'_>| {
            last = [last[1], step.value];
            match step.number {
                0 if done > 0 => ControlFlow::Continue(()), // it was the last of the round before
                number => watch(&Step { number: done + number, ..*step }),
            }
        };
        let options = LbfgsOptions {
            memory: PAIRS,
            max_iterations: self.options.learning.max_iterations.map(|most| most - most.min(done)),
            improvement_tolerance: Some(tolerance),
            gradient_tolerance: match self.options.learning.loss {
                Loss::Softmax => tolerance.min(1e-5),
                _ => 0.0,
            },
            ..LbfgsOptions::default()
        };
        let mut outcome =
            minimize(objective, start, Some(&l1), &options, self.interrupt, &mut observe)?;
        // Where nothing is left to gain but rounding, no step does.
        let is_at_rest = last[0] - last[1] <= tolerance.max(1e-9) * last[1].abs();
        if outcome.stop_reason == StopReason::LineSearch && is_at_rest {
            outcome.stop_reason = StopReason::Improvement;
        }
        Ok(outcome)
    }
}

/// Checks that memory suffices for training so many parameters, and for the model after it.
fn check_memory(
    corpus: &DocumentCorpus,
    options: &DocumentOptions,
    outputs: usize,
    parameters: usize,
) -> Result<()> {
    let (features, held, names) = (corpus.features(), corpus.memory(), corpus.names.memory());
    let weights = parameters.saturating_mul(68 + 8 * PAIRS).saturating_add(40 * features);
    // After training: rows as they are written and as they are read, JSON in a buffer that doubles.
    let model = features.saturating_mul(100 + 40 * outputs).saturating_add(names);
    let documents = corpus.documents().saturating_mul(24 * outputs + 64);
    let own = weights.max(model).saturating_add(2 * corpus.rows.memory() + documents);
    options.memory.check(held.saturating_add(own) as u64, held as u64).map_err(|over| {
        Error::parameter(format!(
            "training on {features} features: {over}; expected fewer features or a larger limit \
             (`memory`)"
        ))
    })
}
