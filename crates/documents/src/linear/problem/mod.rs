//! Documents and options as a problem of minimization, and its solutions as models.

mod minimize;

use std::f64::consts::SQRT_2;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::design::Design;
use super::informativeness;
use super::loss::Loss;
use super::objective::{Examples, LinearObjective, Noise, Scorer, Terms};
use super::sampling::Sampling;
use crate::corpus::DocumentCorpus;
use crate::options::{DocumentOptions, LearningOptions, Masks, Multiclass, NoiseKind};
use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::optim::{Iteration, Outcome};
use dropchain::{Error, Result};

/// Curvature pairs of L-BFGS: with so many features, iterations are fewer than with those of
/// taggers.
const PAIRS: usize = 15;

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
    corpus: &'a DocumentCorpus,
    options: &'a DocumentOptions,
    is_joint: bool, // one loss is that of more than two classes
    scorer: Scorer,
    interrupt: Option<&'a AtomicBool>,
}

impl<'a> Problem<'a> {
    /// Prepares documents.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there are no documents to learn from, or memory does not suffice.
    pub fn new(
        corpus: &'a DocumentCorpus,
        options: &'a DocumentOptions,
        interrupt: Option<&'a AtomicBool>,
    ) -> Result<Self> {
        if corpus.targets.iter().all(Option::is_none) {
            return Err(Error::parameter("there are no documents to train on"));
        }
        let is_sampled = options.noise() == Some(NoiseKind::MonteCarlo);
        let design = Design::new(&corpus.rows, corpus.features(), !is_sampled);
        let LearningOptions { loss, multiclass, .. } = options.learning;
        let outputs = match corpus.classes.len() {
            0..=2 => 1,
            classes => classes,
        };
        let is_joint = outputs > 1 && loss == Loss::Softmax && multiclass == Multiclass::Softmax;
        let unit = if is_joint { 1.0 } else { SQRT_2 }; // κ
        let scales = design.scales.iter().map(|s| unit * s).collect();
        let scorer = Scorer { outputs, scales, bias: SQRT_2 * unit };
        let problem = Self { design, corpus, options, is_joint, scorer, interrupt };
        problem.check()?;
        Ok(problem)
    }

    fn check(&self) -> Result<()> {
        let is_gaussian = self.options.noise() == Some(NoiseKind::GaussianScores);
        if self.is_joint && is_gaussian && self.has_shared_masks() {
            return Err(Error::parameter(format!(
                "gaussian-scores noise with masks 'inputs' and {} labels; expected two labels, \
                 `masks` weights, or `noise` dropout",
                self.scorer.outputs
            )));
        }
        let features = self.corpus.features();
        let held = self.corpus.memory();
        let weights = self.dimension().saturating_mul(8 * 8 + 4 * (2 * PAIRS + 1));
        let documents = self.corpus.documents().saturating_mul(24 * self.scorer.outputs + 64);
        let own = Design::memory(&self.corpus.rows, features).saturating_add(weights);
        let needed = held.saturating_add(own).saturating_add(documents);
        self.options.memory.check(needed as u64, held as u64).map_err(|over| {
            Error::parameter(format!(
                "training on {features} features: {over}; expected fewer features or a larger \
                 limit (`memory`)"
            ))
        })
    }

    /// Returns the number of parameters.
    pub fn dimension(&self) -> usize {
        (self.design.dimension() + 1) * self.scorer.outputs
    }

    fn has_shared_masks(&self) -> bool {
        self.options.learning.masks == Masks::Inputs
    }

    fn examples(&self) -> Examples {
        let outputs = self.scorer.outputs;
        let sign = |is_class: bool| if is_class { 1.0 } else { -1.0 };
        let of_document = |target: &Option<u32>| -> Vec<f64> {
            match *target {
                None => vec![-1.0; outputs],
                Some(class) if outputs == 1 => vec![sign(class == 1)],
                Some(class) => (0..outputs).map(|k| sign(class as usize == k)).collect(),
            }
        };
        let is_known: Vec<bool> = self.corpus.targets.iter().map(Option::is_some).collect();
        let all = || self.corpus.weights.iter().zip(&is_known);
        let total = |kind: bool| all().filter(|(_, k)| **k == kind).map(|(v, _)| v).sum::<f64>();
        let alpha = self.options.strengths.unlabeled_weight;
        let factor = total(true) / (total(true) + alpha * total(false));
        Examples {
            targets: self.corpus.targets.iter().flat_map(of_document).collect(),
            weights: all().map(|(v, known)| if *known { *v } else { 0.0 }).collect(),
            factors: all()
                .map(|(v, known)| if *known { factor * v } else { alpha * factor * v })
                .collect(),
        }
    }

    fn noise(&self) -> Noise {
        let options = self.options;
        let loss = options.learning.loss;
        let Some(kind) = options.noise() else {
            return if loss == Loss::Hinge { Noise::Smooth(1.0) } else { Noise::None };
        };
        // The masks of the weights ±½w of two classes give half of the variance.
        let is_half = loss == Loss::Softmax && !self.has_shared_masks();
        let factor = if self.is_joint || is_half { 1.0 } else { 2.0 };
        let rate = factor * options.noise_rate();
        match kind {
            NoiseKind::Additive => Noise::Additive(rate),
            NoiseKind::GaussianScores => Noise::Gaussian(rate),
            NoiseKind::MonteCarlo => {
                let (samples, seed) = (options.learning.samples, options.learning.seed);
                let is_shared = self.has_shared_masks();
                Noise::Sampled(Sampling::new(samples, options.strengths.dropout, seed, is_shared))
            }
            _ if self.is_joint && self.has_shared_masks() => Noise::Shared(rate),
            _ => Noise::Proportional(rate),
        }
    }

    fn objective(&self) -> LinearObjective<'_> {
        let l2 = self.options.l2();
        let LearningOptions { loss, l2_informativeness, penalize_bias, .. } = self.options.learning;
        let (examples, outputs) = (self.examples(), self.scorer.outputs);
        let mut strengths = vec![l2; self.design.dimension() * outputs];
        if let Some(epsilon) = l2_informativeness {
            informativeness::divide(&mut strengths, epsilon, &self.design, outputs, &examples);
        }
        strengths.resize(self.dimension(), if penalize_bias { l2 } else { 0.0 });
        let noise = self.noise();
        LinearObjective {
            curvature: self.curvature(&examples, &strengths),
            multipliers: match noise {
                Noise::Smooth(_) => vec![0.0; examples.targets.len()],
                _ => Vec::new(),
            },
            design: &self.design,
            is_joint: self.is_joint,
            scorer: &self.scorer,
            noise,
            l2: strengths,
            examples,
            loss,
        }
    }

    /// Returns estimates of the roots of the inverse diagonal of the Hessian: near the minimum many
    /// documents are certain.
    fn curvature(&self, examples: &Examples, l2: &[f64]) -> Vec<f32> {
        const CERTAIN: f64 = 0.1; // p·(1 − p)
        let outputs = self.scorer.outputs;
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
        self.scorer.scores(phi, &self.design.classes.project(rows))
    }

    /// Returns the bias of each score, and the weights of each feature.
    pub fn parts(&self, phi: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (weights, biases) = self.scorer.parts(phi);
        let classes = &self.design.classes;
        let row = |&class: &u32| {
            let scale = self.scorer.scales[class as usize] / f64::from(classes.size(class));
            self.scorer.weights(weights, class).iter().map(|w| scale * w).collect()
        };
        (biases, classes.class.iter().map(row).collect())
    }
}
