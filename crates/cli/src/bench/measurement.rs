//! The time of an evaluation by each gradient engine of the noise term
//! ([`dropchain::kernel::noise`]), relative to the likelihood alone, and its error relative to the
//! exact gradient; its peak memory; and how its cost depends on labels, length and attributes.
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
//! cancels to about 10⁻¹⁵·‖∇L‖, so neither is reported if g* is smaller than its rounding error,
//! for example with one label, where it vanishes.
//!
//! Memory: each variant has its own transposed design matrix and arrays, and there are five
//! vectors of the size of θ besides θ itself.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use cpu_time::ProcessTime;
use dropchain::kernel::noise::Engine;
use dropchain::kernel::optim::Objective;
use dropchain::{Error, Result};

use super::problem::{Problem, SCALE, Shape, Variant, multiply_adds, random_weights};
use super::results::{Deviation, Measurement, Spread, Sweep, SweepAxis, SweepPoint};

/// ‖g*‖ / ‖∇L‖ below which g* is lost in rounding errors.
const ROUNDING: f64 = 1e-12;

/// Returns how many seconds some work takes: with one thread processor time, so that other load
/// on the machine does not count, otherwise wall time.
fn seconds_of(work: impl FnOnce()) -> f64 {
    let (wall, processor) = (Instant::now(), ProcessTime::now());
    work();
    let elapsed = match rayon::current_num_threads() {
        1 => processor.elapsed(),
        _ => wall.elapsed(),
    };
    elapsed.as_secs_f64()
}

/// Evaluates the variants, of which the first is the likelihood, at the weights θ: once to warm up
/// (repeat 0) and then `repeats` times. Every repeat evaluates all variants, so that load on the
/// machine affects all alike. `observer` is called before every evaluation with the variant and the
/// number of the repeat.
///
/// All results except times are the same in every run, for any number of threads.
///
/// # Errors
///
/// An objective that is not finite at θ.
///
/// # Panics
///
/// If the dimension of θ is not that of the problem.
pub fn measure(
    problem: &Problem,
    theta: &[f64],
    variants: &[Variant],
    repeats: u32,
    observer: &(dyn Fn(Variant, u32) + Sync),
) -> Result<Vec<Measurement>> {
    let reference = ReferenceGradient::new(problem, theta)?;
    let mut objectives: Vec<_> = variants.iter().map(|&v| problem.objective(v)).collect();
    let mut gradient = vec![0.0; theta.len()];
    let mut deviations = Vec::new();
    let mut seconds: Vec<Vec<f64>> = vec![Vec::new(); variants.len()];
    for repeat in 0..=repeats {
        for ((objective, &variant), seconds) in
            objectives.iter_mut().zip(variants).zip(&mut seconds)
        {
            observer(variant, repeat);
            let time = seconds_of(|| {
                objective.evaluate(theta, &mut gradient);
            });
            match repeat {
                0 => deviations.push(reference.deviation(variant, &gradient)),
                _ => seconds.push(time),
            }
        }
    }
    let rows =
        variants.iter().zip(&seconds).zip(deviations).map(|((&variant, times), deviation)| {
            let (baseline, work) = (&seconds[0], multiply_adds(problem, variant));
            let added = times.iter().zip(baseline).map(|(time, base)| time - base);
            let (added, added_work) = match variant {
                Variant::Likelihood => (times.clone(), work),
                _ => (added.collect(), work - multiply_adds(problem, Variant::Likelihood)),
            };
            let seconds = Spread::of(times.clone());
            Measurement {
                engine: variant.engine(),
                collapsed: variant.is_collapsed(),
                sentences: problem.data.len(),
                seconds: seconds.median,
                seconds_quartiles: [seconds.low, seconds.high],
                added_seconds: Spread::of(added),
                ratio_to_likelihood: seconds.median / Spread::of(baseline.clone()).median,
                multiply_adds: work,
                added_multiply_adds: added_work,
                deviation,
                active_per_token: problem.active_per_token(variant.is_collapsed()),
                peak_bytes: None,
            }
        });
    Ok(rows.collect())
}

/// The exact gradient, to compare others with.
struct ReferenceGradient {
    likelihood: Vec<f64>, // ∇L
    whole: Vec<f64>,      // ∇J*
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
        Ok(Self {
            likelihood: gradient(Variant::Likelihood)?,
            whole: gradient(Variant::Quadratic(Engine::Exact))?,
        })
    }

    /// Compares the gradient ∇J, and the noise term's part of it, with the exact one; `None` if
    /// there is no noise term, or its gradient is lost in rounding errors.
    fn deviation(&self, variant: Variant, gradient: &[f64]) -> Option<Deviation> {
        let part = |gradient: &[f64]| -> Vec<f64> {
            gradient.iter().zip(&self.likelihood).map(|(g, l)| g - l).collect()
        };
        let (noise, exact) = (part(gradient), part(&self.whole)); // g, g*
        let exact_norm = norm(exact.iter().copied());
        let is_lost = exact_norm <= ROUNDING * norm(self.likelihood.iter().copied());
        if variant == Variant::Likelihood || is_lost {
            return None;
        }
        let pairs = || noise.iter().zip(&exact);
        let error = norm(pairs().map(|(g, e)| g - e));
        let product: f64 = pairs().map(|(g, e)| g * e).sum();
        Some(Deviation {
            relative_error: error / exact_norm,
            relative_error_whole: error / norm(self.whole.iter().copied()),
            // Rounding may exceed 1.
            cosine: (product / (norm(noise.iter().copied()) * exact_norm)).clamp(-1.0, 1.0),
        })
    }
}

fn norm(vector: impl Iterator<Item = f64>) -> f64 {
    vector.map(|x| x * x).sum::<f64>().sqrt()
}

/// What sweeps vary: radii of windows, numbers of labels, of tokens, and shares of attributes.
const SWEEP_RADII: [usize; 4] = [1, 2, 4, 8];
const SWEEP_LABELS: [usize; 4] = [4, 8, 16, 32];
const SWEEP_LENGTHS: [usize; 5] = [5, 10, 20, 40, 80];
const SWEEP_SHARES: [f64; 4] = [0.125, 0.25, 0.5, 1.0];

/// The number of tokens of a sentence where it does not vary, and the highest number of labels of
/// the corpus that then stays.
const SWEEP_LENGTH: usize = 20;
const SWEEP_MAX_LABELS: usize = 32;

/// Maximum number of multiply-adds of an evaluation of several sentences, and of sentences.
const SWEEP_WORK: f64 = 1.5e8;
const SWEEP_SENTENCES: usize = 200;

/// Returns the sizes of sentences, where other sizes than what varies are those of the corpus, and
/// what is measured on them: where the radius varies, windows and the exact gradient.
fn steps(axis: SweepAxis, labels: usize, variants: &[Variant]) -> Vec<(Shape, Vec<Variant>)> {
    let base =
        Shape { length: SWEEP_LENGTH, labels: labels.clamp(1, SWEEP_MAX_LABELS), share: 1.0 };
    let windows = |radius| [Engine::Exact, Engine::Window(radius)].map(Variant::Quadratic);
    let step = |shape| (shape, variants.to_vec());
    match axis {
        SweepAxis::Window => SWEEP_RADII
            .map(|radius| (base, [&[Variant::Likelihood], &windows(radius)[..]].concat()))
            .to_vec(),
        SweepAxis::Labels => SWEEP_LABELS.map(|labels| step(Shape { labels, ..base })).to_vec(),
        SweepAxis::Length => SWEEP_LENGTHS.map(|length| step(Shape { length, ..base })).to_vec(),
        SweepAxis::Attributes => SWEEP_SHARES.map(|share| step(Shape { share, ..base })).to_vec(),
    }
}

/// Measures the variants, of which the first is the likelihood, on sentences like those of
/// a problem. Each is evaluated with the likelihood on sentences of its own; the slow ones have
/// fewer.
///
/// # Errors
///
/// An objective that is not finite.
pub fn sweep(
    axis: SweepAxis,
    problem: &Problem,
    variants: &[Variant],
    repeats: u32,
    observer: &(dyn Fn(Variant, u32) + Sync),
) -> Result<Sweep> {
    let mut points = Vec::new();
    for (shape, variants) in steps(axis, problem.space.labels(), variants) {
        let single = problem.synthetic(shape, 1);
        let mut engines: Vec<Measurement> = Vec::new();
        for variant in variants {
            let sentences = (SWEEP_WORK / multiply_adds(&single, variant).max(1.0)) as usize;
            let sentences = problem.synthetic(shape, sentences.clamp(1, SWEEP_SENTENCES));
            let theta = random_weights(sentences.space.dimension(), SCALE);
            let mut pair = vec![Variant::Likelihood, variant];
            pair.dedup();
            engines.extend(measure(&sentences, &theta, &pair, repeats, observer)?.pop());
        }
        let value = match axis {
            SweepAxis::Window => engines.last().and_then(Measurement::radius).unwrap_or(0.0),
            SweepAxis::Labels => shape.labels as f64,
            SweepAxis::Length => shape.length as f64,
            SweepAxis::Attributes => (engines[0].active_per_token * shape.length as f64).round(),
        };
        points.push(SweepPoint { value, engines });
    }
    Ok(Sweep { axis, points })
}

/// Environment variables that make glibc return freed blocks of 4 KiB and more to the system at
/// once. Other allocators ignore them.
const ALLOCATOR_ENVIRONMENT: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "4096"), ("MALLOC_TRIM_THRESHOLD_", "0")];

/// Runs this program again, with the same arguments, to measure the peak memory of one evaluation
/// of engine `number`; `None` if the system does not report it.
pub fn measure_memory(number: usize) -> Option<u64> {
    // In the Python package, the name of a script precedes those of the commands.
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let own = 1 + arguments.iter().position(|argument| argument == "gradients")?;
    let output = Command::new(std::env::current_exe().ok()?)
        .args(&arguments[..own])
        .args(["--peak-of", &number.to_string()])
        .args(&arguments[own..])
        .envs(ALLOCATOR_ENVIRONMENT)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    serde_json::from_slice(&output.stdout).ok()?
}

/// Measures the peak memory in bytes of an evaluation, excluding the training data: transposed
/// matrix, parameters, gradient, and the arrays of chunks and engine; `None` if the system does not
/// report it. Call it in a process that has only prepared the training set. The weights are 0,
/// since sizes do not depend on them.
pub fn memory_of_evaluation(problem: &Problem, variant: Variant) -> Option<u64> {
    fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = peak()?;
    let mut objective = problem.objective(variant);
    let theta = vec![0.0; objective.dimension()];
    // Not 0: pages of zeros become resident only when they are written to.
    let mut gradient = vec![f64::NAN; theta.len()];
    objective.evaluate(&theta, &mut gradient);
    Some(peak()?.saturating_sub(before))
}

/// Returns the peak resident set size of the process in bytes.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
