//! Benchmarks of the gradient engines, for researchers: the measurements of `dropchain bench`,
//! without the printing.
//!
//! [`measure`] evaluates the training objective with each engine of the noise term
//! ([`dropchain::noise`]): its time relative to the likelihood alone, and its error relative to the
//! exact gradient. [`peak_memory`] measures the memory of an evaluation, and [`train`] runs a
//! complete training.
//!
//! # Time and accuracy
//!
//! With J = L + R, likelihood and noise term, an engine computes ∇J in one evaluation. Its time is
//! reported relative to an evaluation of ∇L alone, its accuracy by the gradient of the noise term
//! alone,
//!
//! ```text
//! g = ∇J − ∇L        relative error ‖g − g*‖ / ‖g*‖        cosine g·g* / (‖g‖·‖g*‖)
//! ```
//!
//! where g* is that of [`Engine::Exact`], which is exact: next to the gradient of the likelihood,
//! which all engines have in common, any error would look small. What an optimizer follows is
//! ∇J, so ‖g − g*‖ / ‖∇J*‖, the error of the whole gradient, is reported as well. The difference
//! cancels to about
//! 10⁻¹⁵·‖∇L‖, so neither is reported if g* is smaller than its rounding error, for example at
//! weights 0, where it vanishes.
//!
//! Memory: each variant has its own transposed design matrix and arrays, and there are three
//! vectors of the size of θ besides θ itself.

#[cfg(test)]
mod tests;
mod variant;

pub use variant::{EvaluationPoint, Variant, parse_variants};

use std::fs;
use std::time::Instant;

use dropchain::error::{Error, Result};
use dropchain::noise::{Engine, NoiseTerm};
use dropchain::objective::{PenalizedLikelihood, active_counts};
use dropchain::optim::Objective;
use dropchain::template::Template;
use dropchain::train::{DevScore, TrainSettings, Trainer, TrainingCorpora, TrainingSet};
use dropchain_report::{Measurement, TrainingRun};

/// ‖g*‖ / ‖∇L‖ below which g* is lost in rounding errors.
const ROUNDING: f64 = 1e-12;

/// An evaluation that is about to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The variant to be evaluated.
    pub variant: Variant,
    /// Number of the repeat; 0 is the warm-up, which is not timed.
    pub round: usize,
}

/// Evaluates the variants at the weights θ, once to warm up and then `repeat` times. Every round
/// evaluates all variants, so that load on the machine affects all alike. `observer` is called
/// before every evaluation.
///
/// All results except times are the same in every run, for any number of threads.
///
/// # Errors
///
/// No repeats; no [`Variant::Likelihood`] among the variants; no noise with a quadratic
/// regularizer; an objective that is not finite at θ.
///
/// # Panics
///
/// If the dimension of θ is not that of the training set.
pub fn measure(
    set: &TrainingSet,
    settings: &TrainSettings,
    theta: &[f64],
    variants: &[Variant],
    repeat: usize,
    observer: &mut dyn FnMut(Step),
) -> Result<Vec<Measurement>> {
    if repeat == 0 {
        return Err(Error::parameter("0 repeats; expected 1 or more"));
    }
    let mut objectives: Vec<PenalizedLikelihood> = variants
        .iter()
        .map(|variant| variant.objective(set, settings))
        .collect::<Result<_>>()?;
    let reference = ReferenceGradient::new(set, settings, theta)?;
    let mut gradient = vec![0.0; theta.len()];
    let mut seconds = vec![f64::INFINITY; variants.len()];
    let mut deviations = Vec::with_capacity(variants.len());
    for round in 0..=repeat {
        for (i, &variant) in variants.iter().enumerate() {
            observer(Step { variant, round });
            let clock = Instant::now();
            objectives[i].evaluate(theta, &mut gradient);
            let time = clock.elapsed().as_secs_f64();
            if round == 0 {
                deviations.push(reference.deviation(variant, &gradient));
            } else {
                seconds[i] = seconds[i].min(time);
            }
        }
    }
    let likelihood = variants.iter().position(|&v| v == Variant::Likelihood);
    let Some(likelihood) = likelihood.map(|i| seconds[i]) else {
        return Err(Error::parameter("the likelihood is not among the variants"));
    };
    let per_token = active_per_token(set);
    let rows = variants.iter().zip(seconds).zip(deviations);
    Ok(rows
        .map(|((variant, seconds), deviation)| Measurement {
            engine: variant.name(),
            collapsed: variant.is_collapsed(),
            seconds,
            ratio_to_likelihood: seconds / likelihood,
            relative_error: deviation.map(|[error, ..]| error),
            relative_error_whole: deviation.map(|[_, whole, _]| whole),
            cosine: deviation.map(|[.., cosine]| cosine),
            active_per_token: per_token[usize::from(variant.is_collapsed())],
            peak_bytes: None,
        })
        .collect())
}

/// Measures the peak memory in bytes of an evaluation, excluding the training data: transposed
/// matrix, parameters, gradient, and the arrays of chunks and engine; `None` if the system does not
/// report it. Call it in a process that has only prepared the training set; see
/// [`ALLOCATOR_ENVIRONMENT`]. The weights are 0, since sizes do not depend on them.
///
/// # Errors
///
/// The settings have no noise with a quadratic regularizer.
pub fn peak_memory(
    set: &TrainingSet,
    settings: &TrainSettings,
    variant: Variant,
) -> Result<Option<u64>> {
    let work = || {
        let mut objective = variant.objective(set, settings)?;
        let theta = vec![0.0; objective.dimension()];
        // Not 0: pages of zeros become resident only when they are written to.
        let mut gradient = vec![f64::NAN; theta.len()];
        objective.evaluate(&theta, &mut gradient);
        Ok(())
    };
    let (result, growth) = peak_growth(work);
    result.map(|()| growth)
}

/// Returns q/T before and after collapsing.
fn active_per_token(set: &TrainingSet) -> [f64; 2] {
    let counts = active_counts(set.data(), set.space());
    [counts.attributes, counts.collapsed].map(|n| n as f64 / counts.tokens.max(1) as f64)
}

/// The exact gradient of the noise term, to compare others with.
struct ReferenceGradient {
    likelihood: Vec<f64>, // ∇L
    exact: Vec<f64>,      // g*
    exact_norm: f64,
    whole_norm: f64, // ‖∇J*‖
    is_lost: bool,   // in rounding errors
}

impl ReferenceGradient {
    fn new(set: &TrainingSet, settings: &TrainSettings, theta: &[f64]) -> Result<Self> {
        let gradient = |variant: Variant| {
            let mut gradient = vec![0.0; theta.len()];
            let mut objective = variant.objective(set, settings)?;
            let (value, _) = objective.evaluate(theta, &mut gradient);
            let is_finite = value.is_finite() && gradient.iter().all(|g| g.is_finite());
            is_finite.then_some(gradient).ok_or_else(|| {
                Error::parameter(
                    "the objective is not finite at these weights; expected smaller attribute \
                     values, smaller weights, or less noise",
                )
            })
        };
        let likelihood = gradient(Variant::Likelihood)?;
        let mut exact = gradient(Variant::Noise(NoiseTerm::Quadratic(Engine::Exact)))?;
        let whole_norm = norm(exact.iter().copied());
        exact.iter_mut().zip(&likelihood).for_each(|(g, l)| *g -= l);
        let exact_norm = norm(exact.iter().copied());
        Ok(Self {
            is_lost: exact_norm <= ROUNDING * norm(likelihood.iter().copied()),
            likelihood,
            exact,
            exact_norm,
            whole_norm,
        })
    }

    /// Compares the noise term's part of the gradient ∇J with the exact one: its error relative to
    /// that and to the whole gradient, and the cosine.
    fn deviation(&self, variant: Variant, gradient: &[f64]) -> Option<[f64; 3]> {
        if variant == Variant::Likelihood || self.is_lost {
            return None;
        }
        let noise = || gradient.iter().zip(&self.likelihood).map(|(g, l)| g - l);
        let error = norm(noise().zip(&self.exact).map(|(g, e)| g - e));
        let product: f64 = noise().zip(&self.exact).map(|(g, e)| g * e).sum();
        let cosine = product / (norm(noise()) * self.exact_norm);
        // Rounding may exceed 1.
        let cosine = cosine.clamp(-1.0, 1.0);
        Some([error / self.exact_norm, error / self.whole_norm, cosine])
    }
}

fn norm(vector: impl Iterator<Item = f64>) -> f64 {
    vector.map(|x| x * x).sum::<f64>().sqrt()
}

/// Environment variables that make glibc return freed blocks of 4 KiB and more to the system at
/// once. Other allocators ignore them.
pub const ALLOCATOR_ENVIRONMENT: [(&str, &str); 2] = [
    ("MALLOC_MMAP_THRESHOLD_", "4096"),
    ("MALLOC_TRIM_THRESHOLD_", "0"),
];

/// Calls `work`, and returns its result with the growth in bytes of the peak resident set size;
/// `None` if the system does not report it.
pub fn peak_growth<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    let before = fs::write("/proc/self/clear_refs", "5")
        .ok()
        .and_then(|()| process_status("VmHWM:"));
    let result = work();
    let growth = before.and_then(|before| Some(process_status("VmHWM:")?.saturating_sub(before)));
    (result, growth)
}

/// Returns a field of `/proc/self/status`, in bytes.
fn process_status(field: &str) -> Option<u64> {
    parse_bytes(&fs::read_to_string("/proc/self/status").ok()?, field)
}

fn parse_bytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Trains a model with a variant of the objective, without noise for [`Variant::Likelihood`]; all
/// other settings are the same.
///
/// # Errors
///
/// Same as [`Trainer::new`] and [`Trainer::train`].
pub fn train(
    variant: Variant,
    settings: &TrainSettings,
    corpora: &TrainingCorpora,
    template: Option<&Template>,
) -> Result<TrainingRun> {
    let mut regularization = settings.regularization().clone();
    variant.apply(&mut regularization.noise);
    let end = Trainer::with_settings(settings.with_regularization(regularization)?)
        .train(corpora.clone(), template.cloned(), &mut ())?
        .end;
    let (mut dev_f1, mut dev_accuracy) = (None, None);
    match end.dev {
        Some(DevScore::F1(score)) => dev_f1 = Some(score),
        Some(DevScore::Accuracy(score)) => dev_accuracy = Some(score),
        None => {}
    }
    Ok(TrainingRun {
        engine: variant.name(),
        collapsed: variant.is_collapsed(),
        dev_f1,
        dev_accuracy,
        iterations: end.iterations,
        best_iteration: end.best_iteration,
        stop_reason: end.reason.name().to_owned(),
        seconds: end.time.as_secs_f64(),
    })
}
