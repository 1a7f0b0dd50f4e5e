//! Benchmarks of the gradient engines, for researchers: the measurements of `dropchain bench`,
//! without the printing.
//!
//! [`measure`] evaluates the training objective with each engine of the noise term
//! ([`dropchain::kernel::noise`]): its time relative to the likelihood alone, and its error
//! relative to the exact gradient. [`peak_memory`] measures the memory of an evaluation.
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

mod errors;
mod problem;
mod sweep;
#[cfg(test)]
mod tests;
mod variant;
mod work;

pub use errors::errors;
pub use problem::{Problem, Shape};
pub use sweep::{SweepAxis, points, sweep};
pub use variant::{EvaluationPoint, Variant, parse_variants, random_weights};

use std::fs;
use std::time::Instant;

use cpu_time::ThreadTime;
use dropchain::error::{Error, Result};
use dropchain::kernel::noise::Engine;
use dropchain::kernel::objective::PenalizedLikelihood;
use dropchain::kernel::optim::Objective;

use crate::bench::results::{Deviation, Measurement, Spread};
use work::multiply_adds;

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

/// The clock that `seconds` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Wall time.
    Wall,
    /// Processor time of the current thread, which must be the only one: other load on the
    /// machine does not count.
    Thread,
}

impl Clock {
    /// Calls `work`, and returns how many seconds it took.
    fn time(self, work: impl FnOnce()) -> f64 {
        let (wall, thread) = (Instant::now(), ThreadTime::now());
        work();
        let time = match self {
            Self::Wall => wall.elapsed(),
            Self::Thread => thread.elapsed(),
        };
        time.as_secs_f64()
    }
}

/// The objectives of variants, and how long their evaluations took.
pub struct Evaluations<'a> {
    variants: &'a [Variant],
    objectives: Vec<PenalizedLikelihood>,
    gradient: Vec<f64>,
    clock: Clock,
    /// The seconds of each variant, but for those of round 0.
    pub seconds: Vec<Vec<f64>>,
}

impl<'a> Evaluations<'a> {
    /// Creates the objectives.
    pub fn new(problem: &Problem, variants: &'a [Variant], clock: Clock) -> Self {
        Self {
            variants,
            objectives: variants.iter().map(|&v| problem.objective(v)).collect(),
            gradient: vec![0.0; problem.space.dimension()],
            clock,
            seconds: vec![Vec::new(); variants.len()],
        }
    }

    /// Evaluates all variants at θ. `observer` is called before every evaluation, `visit` with
    /// every gradient and the number of its variant. Round 0 warms up.
    pub fn evaluate(
        &mut self,
        round: usize,
        theta: &[f64],
        observer: &mut dyn FnMut(Step),
        visit: &mut dyn FnMut(usize, &[f64]),
    ) {
        for (number, objective) in self.objectives.iter_mut().enumerate() {
            let variant = self.variants[number];
            observer(Step { variant, round });
            let gradient = &mut self.gradient;
            let time = self.clock.time(|| {
                objective.evaluate(theta, gradient);
            });
            if round > 0 {
                self.seconds[number].push(time);
            }
            visit(number, &self.gradient);
        }
    }
}

/// Evaluates the variants at the weights θ, once to warm up and then `repeat` times. Every round
/// evaluates all variants, so that load on the machine affects all alike. `observer` is called
/// before every evaluation.
///
/// All results except times are the same in every run, for any number of threads.
///
/// # Errors
///
/// No repeats; no [`Variant::Likelihood`] among the variants; an objective that is not finite at θ.
///
/// # Panics
///
/// If the dimension of θ is not that of the problem.
pub fn measure(
    problem: &Problem,
    theta: &[f64],
    variants: &[Variant],
    repeat: usize,
    observer: &mut dyn FnMut(Step),
) -> Result<Vec<Measurement>> {
    if repeat == 0 {
        return Err(Error::parameter("0 repeats; expected 1 or more"));
    }
    let reference = ReferenceGradient::new(problem, theta)?;
    let mut evaluations = Evaluations::new(problem, variants, Clock::Wall);
    let mut deviations = Vec::with_capacity(variants.len());
    evaluations.evaluate(0, theta, observer, &mut |number, gradient| {
        deviations.push(reference.deviation(variants[number], gradient));
    });
    for round in 1..=repeat {
        evaluations.evaluate(round, theta, observer, &mut |_, _| {});
    }
    let seconds: Vec<Spread> = evaluations.seconds.into_iter().filter_map(Spread::of).collect();
    let likelihood = variants.iter().position(|&v| v == Variant::Likelihood);
    let Some(likelihood) = likelihood.map(|i| seconds[i].median) else {
        return Err(Error::parameter("the likelihood is not among the variants"));
    };
    let per_token = problem.active_per_token();
    let rows = variants.iter().zip(seconds).zip(deviations);
    Ok(rows
        .map(|((&variant, seconds), deviation)| Measurement {
            engine: variant.name(),
            collapsed: variant.is_collapsed(),
            seconds: seconds.median,
            seconds_quartiles: (seconds.low, seconds.high),
            multiply_adds: multiply_adds(problem, variant),
            ratio_to_likelihood: seconds.median / likelihood,
            deviation,
            active_per_token: per_token[usize::from(variant.is_collapsed())],
            peak_bytes: None,
        })
        .collect())
}

/// Measures the peak memory in bytes of an evaluation, excluding the training data: transposed
/// matrix, parameters, gradient, and the arrays of chunks and engine; `None` if the system does not
/// report it. Call it in a process that has only prepared the training set; see
/// [`ALLOCATOR_ENVIRONMENT`]. The weights are 0, since sizes do not depend on them.
pub fn peak_memory(problem: &Problem, variant: Variant) -> Option<u64> {
    let work = || {
        let mut objective = problem.objective(variant);
        let theta = vec![0.0; objective.dimension()];
        // Not 0: pages of zeros become resident only when they are written to.
        let mut gradient = vec![f64::NAN; theta.len()];
        objective.evaluate(&theta, &mut gradient);
    };
    peak_growth(work).1
}

/// The exact gradient of the noise term, to compare others with.
struct ReferenceGradient {
    likelihood: Vec<f64>, // ∇L
    exact: Vec<f64>,      // g*
    whole: Vec<f64>,      // ∇J*
    exact_norm: f64,
    whole_norm: f64, // ‖∇J*‖
    is_lost: bool,   // in rounding errors
}

impl ReferenceGradient {
    fn new(problem: &Problem, theta: &[f64]) -> Result<Self> {
        let gradient = |variant: Variant| {
            let mut gradient = vec![0.0; theta.len()];
            let (value, _) = problem.objective(variant).evaluate(theta, &mut gradient);
            let is_finite = value.is_finite() && gradient.iter().all(|g| g.is_finite());
            is_finite.then_some(gradient).ok_or_else(|| {
                Error::parameter(
                    "the objective is not finite at these weights; expected smaller attribute \
                     values, smaller weights, or less noise",
                )
            })
        };
        let likelihood = gradient(Variant::Likelihood)?;
        let whole = gradient(Variant::Quadratic(Engine::Exact))?;
        let exact = || whole.iter().zip(&likelihood).map(|(g, l)| g - l);
        let exact_norm = norm(exact());
        Ok(Self {
            exact: exact().collect(),
            exact_norm,
            whole_norm: norm(whole.iter().copied()),
            is_lost: exact_norm <= ROUNDING * norm(likelihood.iter().copied()),
            likelihood,
            whole,
        })
    }

    /// Compares the gradient ∇J, and the noise term's part of it, with the exact one.
    fn deviation(&self, variant: Variant, gradient: &[f64]) -> Option<Deviation<f64>> {
        if variant == Variant::Likelihood || self.is_lost {
            return None;
        }
        let noise = || gradient.iter().zip(&self.likelihood).map(|(g, l)| g - l);
        let error = norm(noise().zip(&self.exact).map(|(g, e)| g - e));
        let product: f64 = noise().zip(&self.exact).map(|(g, e)| g * e).sum();
        let whole = gradient.iter().zip(&self.whole);
        let product_whole: f64 = whole.map(|(g, e)| g * e).sum();
        // Rounding may exceed 1.
        let cosine = |product: f64, norms: f64| (product / norms).clamp(-1.0, 1.0);
        Some(Deviation {
            relative_error: error / self.exact_norm,
            relative_error_whole: error / self.whole_norm,
            cosine: cosine(product, norm(noise()) * self.exact_norm),
            cosine_whole: cosine(product_whole, norm(gradient.iter().copied()) * self.whole_norm),
        })
    }
}

fn norm(vector: impl Iterator<Item = f64>) -> f64 {
    vector.map(|x| x * x).sum::<f64>().sqrt()
}

/// Environment variables that make glibc return freed blocks of 4 KiB and more to the system at
/// once. Other allocators ignore them.
pub const ALLOCATOR_ENVIRONMENT: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "4096"), ("MALLOC_TRIM_THRESHOLD_", "0")];

/// Calls `work`, and returns its result with the growth in bytes of the peak resident set size;
/// `None` if the system does not report it.
pub fn peak_growth<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    let before =
        fs::write("/proc/self/clear_refs", "5").ok().and_then(|()| process_status("VmHWM:"));
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
