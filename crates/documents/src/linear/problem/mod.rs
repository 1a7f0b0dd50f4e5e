//! Documents and options as a problem of minimization, and its solutions as models.

mod minimize;

use std::f64::consts::SQRT_2;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::design::{Design, Moments};
use super::hidden::{self, HiddenObjective};
use super::informativeness;
use super::loss::{Loss, Smoothing};
use super::objective::{Examples, LinearObjective, Noise, Scorer, Terms};
use super::sampling::Sampling;
use crate::corpus::{DocumentCorpus, Target};
use crate::model::{Output, OutputLayer, Parts};
use crate::options::{DocumentOptions, Masks, Multiclass, NoiseKind, Task};
use dropchain::kernel::extract::SparseRows;
use dropchain::kernel::optim::{Iteration, StopReason};
use dropchain::{Error, Result};

/// Curvature pairs of L-BFGS: with so many features, iterations are fewer than with those of
/// taggers.
const PAIRS: usize = 15;

/// A minimum.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub phi: Vec<f64>,
    pub objective: f64,
    pub iterations: usize,
    pub stop_reason: StopReason,
}

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
    moments: Option<Moments>, // of numbers, or where penalties need them
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
        let has_labels = corpus.targets.iter().any(|target| *target != Target::Unknown);
        if !has_labels {
            return Err(Error::parameter("there are no documents to train on"));
        }
        let is_sampled = options.noise() == Some(NoiseKind::MonteCarlo);
        let of_numbers = options.task == Task::Numbers;
        let design = Design::new(&corpus.rows, corpus.features(), !is_sampled);
        let moments = (of_numbers || options.learning.standardize).then(|| design.moments());
        let scorer = Scorer { outputs: 1, scales: Vec::new(), bias: 1.0, centers: Vec::new() };
        let mut problem = Self { design, corpus, options, moments, scorer, interrupt };
        problem.scorer = problem.new_scorer();
        problem.check()?;
        Ok(problem)
    }

    fn check(&self) -> Result<()> {
        let is_gaussian = self.options.noise() == Some(NoiseKind::GaussianScores);
        if self.is_joint() && is_gaussian && self.has_shared_masks() {
            return Err(Error::parameter(format!(
                "gaussian-scores noise with masks 'inputs' and {} labels; expected two labels, \
                 `masks` weights, or `noise` dropout",
                self.outputs()
            )));
        }
        if self.options.loss == Loss::Poisson && self.mean() == 0.0 {
            let message = "all numbers to predict are 0; expected some above, for the poisson loss";
            return Err(Error::parameter(message));
        }
        let features = self.corpus.features();
        let held = self.corpus.memory();
        let weights = self.dimension().saturating_mul(8 * 8 + 4 * (2 * PAIRS + 1));
        let documents = self.corpus.documents().saturating_mul(24 * self.columns() + 64);
        let own = Design::memory(&self.corpus.rows, features).saturating_add(weights);
        let needed = held.saturating_add(own).saturating_add(documents);
        self.options.memory.check(needed as u64, held as u64).map_err(|over| {
            Error::parameter(format!(
                "training on {features} features: {over}; expected fewer features, fewer hidden \
                 units (`hidden`) or a larger limit (`memory`)"
            ))
        })
    }

    /// Returns the number of classes; 0 of numbers.
    fn classes(&self) -> usize {
        match self.options.task {
            Task::Numbers => 0,
            Task::Classes => self.corpus.classes.len(),
        }
    }

    /// Returns the number of scores of a document.
    pub fn outputs(&self) -> usize {
        match self.classes() {
            0..=2 => 1,
            classes => classes,
        }
    }

    /// Returns the number of weights of a feature.
    fn columns(&self) -> usize {
        self.outputs() * self.options.classes.hidden.max(1)
    }

    /// Returns the number of parameters.
    pub fn dimension(&self) -> usize {
        match self.options.classes.hidden {
            0 => (self.design.dimension() + 1) * self.outputs(),
            units => ((self.design.dimension() + 2) * units + 1) * self.outputs(),
        }
    }

    /// Returns whether one loss is that of all classes.
    fn is_joint(&self) -> bool {
        self.outputs() > 1
            && self.options.loss == Loss::Softmax
            && self.options.classes.multiclass == Multiclass::Softmax
    }

    fn has_shared_masks(&self) -> bool {
        self.options.classes.masks == Masks::Inputs
    }

    /// Returns κ: what features are multiplied by.
    fn unit(&self) -> f64 {
        if self.classes() == 0 || self.is_joint() { 1.0 } else { SQRT_2 }
    }

    fn new_scorer(&self) -> Scorer {
        let of_numbers = self.classes() == 0;
        let (unit, scales) = (self.unit(), &self.design.scales);
        let centers =
            self.moments.as_ref().filter(|_| of_numbers).map(|moments| {
                moments.means.iter().zip(scales).map(|(mean, s)| mean * s).collect()
            });
        Scorer {
            outputs: self.outputs(),
            scales: scales.iter().map(|s| unit * s).collect(),
            bias: if of_numbers { 1.0 } else { SQRT_2 * unit },
            centers: centers.unwrap_or_default(),
        }
    }

    fn examples(&self) -> Examples {
        let outputs = self.outputs();
        let of_document = |target: &Target| -> Vec<f64> {
            let sign = |is_class: bool| if is_class { 1.0 } else { -1.0 };
            match *target {
                Target::Number(y) => vec![y],
                Target::Class(class) if outputs == 1 => vec![sign(class == 1)],
                Target::Class(class) => (0..outputs).map(|k| sign(class as usize == k)).collect(),
                Target::Unknown => vec![-1.0; outputs],
            }
        };
        let is_known: Vec<bool> =
            self.corpus.targets.iter().map(|target| *target != Target::Unknown).collect();
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

    /// Returns the mean number to be predicted.
    fn mean(&self) -> f64 {
        let numbers = self.corpus.targets.iter().filter_map(|target| match target {
            Target::Number(y) => Some(y),
            _ => None,
        });
        let count = numbers.clone().count().max(1) as f64;
        numbers.map(|y| y / count).sum()
    }

    /// Returns the score that all documents have if no feature matters.
    fn null_score(&self) -> f64 {
        match (self.options.task, self.options.loss) {
            (Task::Classes, _) => 0.0,
            (_, Loss::Poisson) => self.mean().ln(),
            _ => self.mean(),
        }
    }

    /// Returns what weights are multiplied by before they are penalized.
    fn factor(&self, j: usize) -> f64 {
        match &self.moments {
            Some(moments) if self.options.learning.standardize => {
                (moments.squares[j] / self.corpus.documents() as f64).sqrt()
            }
            _ => 1.0,
        }
    }

    fn noise(&self) -> Noise {
        let options = self.options;
        let Some(kind) = options.noise() else { return Noise::None };
        // The masks of the weights ±½w of two classes give half of the variance.
        let is_half = options.loss == Loss::Softmax && !self.has_shared_masks();
        let factor = if self.unit() == 1.0 || is_half { 1.0 } else { 2.0 };
        let rate = factor * options.noise_rate();
        match kind {
            NoiseKind::Additive => Noise::Additive(rate),
            NoiseKind::GaussianScores => Noise::Gaussian(rate),
            NoiseKind::MonteCarlo => {
                let (samples, seed) = (options.classes.samples, options.classes.seed);
                let is_shared = self.has_shared_masks();
                Noise::Sampled(Sampling::new(samples, options.dropout(), seed, is_shared))
            }
            _ if self.is_joint() && self.has_shared_masks() => Noise::Shared(rate),
            _ => Noise::Proportional(rate),
        }
    }

    fn linear(&self) -> LinearObjective<'_> {
        let l2 = self.options.l2();
        let (loss, examples, outputs) = (self.options.loss, self.examples(), self.outputs());
        let scale = loss.scale(&examples.targets);
        let mut strengths = vec![l2; self.design.dimension() * outputs];
        for j in 0..self.design.dimension() {
            let is_constant = self.moments.as_ref().is_some_and(|m| m.squares[j] == 0.0);
            let own = &mut strengths[j * outputs..][..outputs];
            own.iter_mut().for_each(|l2| *l2 *= self.factor(j).powi(2));
            if is_constant && self.classes() == 0 {
                own.fill(l2.max(1.0)); // the bias: it has no weight of its own
            }
        }
        if let Some(epsilon) = self.options.classes.l2_informativeness {
            informativeness::divide(&mut strengths, epsilon, &self.design, outputs, &examples);
        }
        let has_penalty = self.options.classes.penalize_bias && self.classes() > 0;
        strengths.resize(self.dimension(), if has_penalty { l2 } else { 0.0 });
        let smoothing = match loss.has_kinks() && self.options.noise().is_none() {
            true => Smoothing::Multipliers(scale),
            false => Smoothing::Noise(loss.smoothing(scale)),
        };
        LinearObjective {
            curvature: self.curvature(&examples, &strengths),
            multipliers: match smoothing {
                Smoothing::Multipliers(_) => vec![0.0; examples.targets.len()],
                Smoothing::Noise(_) => Vec::new(),
            },
            design: &self.design,
            is_joint: self.is_joint(),
            scorer: &self.scorer,
            noise: self.noise(),
            l2: strengths,
            examples,
            loss,
            smoothing,
        }
    }

    /// Returns estimates of the inverse diagonal of the Hessian: of classes their roots, as near
    /// the minimum many documents are certain.
    fn curvature(&self, examples: &Examples, l2: &[f64]) -> Vec<f32> {
        const CERTAIN: f64 = 0.1; // p·(1 − p)
        let (of_numbers, outputs) = (self.classes() == 0, self.outputs());
        let slope = match self.options.loss {
            Loss::Poisson => self.mean(),
            _ => 2.0,
        };
        let estimate = |square: f64, l2: f64| {
            let h = match of_numbers {
                true => slope * square + 2.0 * l2,
                false => (CERTAIN * square.max(1.0) + 2.0 * l2).sqrt(),
            };
            (if h > 0.0 { 1.0 / h } else { 1.0 }).clamp(1e-30, 1e30) as f32
        };
        let mut estimates = vec![1.0; l2.len()];
        for j in 0..self.design.dimension() {
            let square = match &self.moments {
                Some(moments) if of_numbers => self.design.scales[j].powi(2) * moments.squares[j],
                _ => {
                    let entries = self.design.columns.entries(j);
                    entries.map(|(n, x)| examples.weights[n as usize] * x * x).sum()
                }
            };
            for i in j * outputs..(j + 1) * outputs {
                estimates[i] = estimate(square, l2[i]);
            }
        }
        let share = examples.weights.iter().sum::<f64>() / self.classes().max(1) as f64;
        for i in l2.len() - outputs..l2.len() {
            estimates[i] = estimate(share, l2[i]);
        }
        estimates
    }

    fn hidden<'o>(&'o self, examples: &'o Examples, targets: &'o [f64]) -> HiddenObjective<'o> {
        let loss = self.options.loss;
        HiddenObjective {
            design: &self.design,
            targets,
            weights: &examples.weights,
            loss,
            delta: hidden::SMOOTHING * loss.smoothing(loss.scale(targets)),
            rate: self.options.noise_rate(),
            l2: (0.5 * self.options.l2(), self.options.classes.penalize_bias),
            units: self.options.classes.hidden,
        }
    }

    /// Returns the scores of documents of a matrix with the features of the corpus, `[N][F]`. With
    /// hidden units φ may be that of the first scores alone, whose number is F.
    pub fn scores(&self, phi: &[f64], rows: &SparseRows) -> Vec<f64> {
        let rows = self.design.classes.project(rows);
        let units = self.options.classes.hidden;
        if units == 0 {
            return self.scorer.scores(phi, &rows);
        }
        let examples = self.examples();
        let length = (self.design.dimension() + 2) * units + 1;
        let by_score: Vec<Vec<f64>> = phi
            .chunks(length)
            .map(|theta| self.hidden(&examples, &[]).scores(theta, &rows))
            .collect();
        (0..rows.len()).flat_map(|n| by_score.iter().map(move |scores| scores[n])).collect()
    }

    /// Returns what a model consists of.
    pub fn parts(&self, phi: &[f64]) -> Parts {
        let units = self.options.classes.hidden;
        let classes = &self.design.classes;
        let features = classes.classes().iter();
        if units == 0 {
            let Scorer { outputs, scales, .. } = &self.scorer;
            let row = |&class: &u32| {
                let scale = scales[class as usize] / f64::from(classes.size(class));
                let row = phi[class as usize * outputs..][..*outputs].iter();
                row.enumerate().map(|(k, w)| (k as u32, scale * w)).collect()
            };
            let rows = features.map(row).collect();
            return Parts { biases: self.scorer.biases(phi), outputs: None, rows };
        }
        let dimension = self.design.dimension();
        let thetas: Vec<&[f64]> = phi.chunks((dimension + 2) * units + 1).collect();
        let weights = dimension * units;
        let row = |&class: &u32| {
            let scale = 1.0 / f64::from(classes.size(class)).sqrt();
            let own = class as usize * units..(class as usize + 1) * units;
            let row = thetas.iter().flat_map(|theta| &theta[own.clone()]);
            row.enumerate().map(|(k, w)| (k as u32, scale * w)).collect()
        };
        let output = |theta: &&[f64]| Output {
            weights: theta[weights + units..][..units].to_vec(),
            bias: theta[weights + 2 * units],
        };
        Parts {
            rows: features.map(row).collect(),
            biases: thetas.iter().flat_map(|theta| &theta[weights..][..units]).copied().collect(),
            outputs: Some(OutputLayer(thetas.iter().map(output).collect())),
        }
    }
}
