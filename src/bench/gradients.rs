//! How fast and how exact the gradients are.
//!
//! With J = L + R, likelihood and noise term, an engine gives ∇J in one evaluation. What it costs is
//! told beside an evaluation of ∇L alone. How exact it is, by the gradient of the noise term alone,
//!
//! ```text
//! g = ∇J − ∇L        relative error ‖g − g*‖ / ‖g*‖        cosine g·g* / (‖g‖·‖g*‖)
//! ```
//!
//! where g* is that of [`Engine::Adjoint`], which is exact: beside the likelihood's, which all have in
//! common, any error would look small. Both are rounded to what the difference of the two leaves,
//! 10⁻¹⁵·‖∇L‖ or so, and are not told where g* is lost in that, as at weights 0, where it vanishes.
//!
//! Memory: every engine keeps its transposed design matrix and its arrays, and there are three vectors
//! of parameters' size beside θ.

use std::time::Instant;

use serde::Serialize;

use super::Variant;
use super::memory;
use crate::error::{Error, Result};
use crate::noise::Engine;
use crate::objective::{PenalizedLikelihood, active_counts};
use crate::optim::Objective;
use crate::train::Problem;

/// ‖g*‖ in terms of ‖∇L‖ below which it is lost in rounding.
const LOST: f64 = 1e-12;

/// What is known of a gradient.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// [`Variant::name`].
    pub engine: String,
    /// [`Variant::is_collapsed`].
    pub collapsed: bool,
    /// Seconds of an evaluation, value and gradient: the least of all repeats.
    pub seconds: f64,
    /// The same, divided by that of the likelihood.
    pub ratio_to_likelihood: f64,
    /// ‖g − g*‖ / ‖g*‖ of the gradient of the noise term alone. None for the likelihood, and where g*
    /// is lost in rounding.
    pub relative_error: Option<f64>,
    /// Cosine of the angle between g and g*, likewise.
    pub cosine: Option<f64>,
    /// The paper's q/T: different attributes of a sentence by its tokens, averaged over tokens; after
    /// collapsing where `collapsed`, else before. Only `message` computes anything for each of them.
    pub active_per_token: f64,
    /// What [`peak`] says, which needs a process of its own; [`measure`] leaves it open.
    pub peak_bytes: Option<u64>,
}

/// An evaluation that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The engine.
    pub engine: Variant,
    /// Which repeat it is; 0 is the warm-up, whose time does not count.
    pub round: usize,
}

/// Evaluates the engines at the weights θ, once to warm up and then `repeat` times, all of them in
/// every round, so that a busy machine slows all alike. `observer` is told of every evaluation.
///
/// All but seconds is the same in every run, for any number of threads.
///
/// # Errors
///
/// No repeats; no [`Variant::Likelihood`] among the engines; an objective that is not finite at θ.
///
/// # Panics
///
/// If θ has not the dimension of the problem.
pub fn measure(
    problem: &Problem,
    theta: &[f64],
    engines: &[Variant],
    repeat: usize,
    observer: &mut dyn FnMut(Step),
) -> Result<Vec<Measurement>> {
    if repeat == 0 {
        return Err(Error::parameter("0 repeats; expected 1 or more"));
    }
    let mut objectives: Vec<PenalizedLikelihood<'_>> = engines
        .iter()
        .map(|engine| problem.likelihood(engine.engine()))
        .collect();
    let mut exactness = Exactness::new(problem, theta)?;
    let mut gradient = vec![0.0; theta.len()];
    let mut seconds = vec![f64::INFINITY; engines.len()];
    let mut compared = Vec::with_capacity(engines.len());
    for round in 0..=repeat {
        for (i, &engine) in engines.iter().enumerate() {
            observer(Step { engine, round });
            let clock = Instant::now();
            objectives[i].evaluate(theta, &mut gradient);
            let time = clock.elapsed().as_secs_f64();
            if round == 0 {
                compared.push(exactness.of(engine, &gradient));
            } else {
                seconds[i] = seconds[i].min(time);
            }
        }
    }
    let likelihood = engines.iter().position(|&e| e == Variant::Likelihood);
    let Some(likelihood) = likelihood.map(|i| seconds[i]) else {
        return Err(Error::parameter("the likelihood is not among the engines"));
    };
    let per_token = active_per_token(problem);
    let rows = engines.iter().zip(seconds).zip(compared);
    Ok(rows
        .map(|((&engine, seconds), compared)| Measurement {
            engine: engine.name(),
            collapsed: engine.is_collapsed(),
            seconds,
            ratio_to_likelihood: seconds / likelihood,
            relative_error: compared.map(|[error, _]| error),
            cosine: compared.map(|[_, cosine]| cosine),
            active_per_token: per_token[usize::from(engine.is_collapsed())],
            peak_bytes: None,
        })
        .collect())
}

/// Bytes that an evaluation with an engine takes beside the training data: transposed matrix,
/// parameters, gradient, arrays of chunks and engine; none where the system does not tell. To be called
/// in a process that has done nothing but prepare the problem, see [`memory`]. The weights are 0, since
/// sizes do not depend on them.
#[must_use]
pub fn peak(problem: &Problem, engine: Variant) -> Option<u64> {
    let work = || {
        let mut objective = problem.likelihood(engine.engine());
        let theta = vec![0.0; objective.dimension()];
        // Not zeros from the allocator, which are no memory before something is written to them.
        let mut gradient = vec![f64::NAN; theta.len()];
        objective.evaluate(&theta, &mut gradient);
    };
    memory::growth(work).1
}

/// q/T before and after collapsing.
fn active_per_token(problem: &Problem) -> [f64; 2] {
    let counts = active_counts(problem.data(), problem.space());
    [counts.attributes, counts.collapsed].map(|n| n as f64 / counts.tokens.max(1) as f64)
}

/// Compares gradients of the noise term with the exact one.
struct Exactness {
    likelihood: Vec<f64>, // ∇L
    exact: Vec<f64>,      // g*
    exact_norm: f64,
    is_lost: bool,
}

impl Exactness {
    fn new(problem: &Problem, theta: &[f64]) -> Result<Self> {
        let gradient = |engine| {
            let mut gradient = vec![0.0; theta.len()];
            let (value, _) = problem.likelihood(engine).evaluate(theta, &mut gradient);
            let is_finite = value.is_finite() && gradient.iter().all(|g| g.is_finite());
            is_finite.then_some(gradient).ok_or_else(|| {
                Error::parameter(
                    "the objective is not finite at these weights; expected smaller values of \
                     attributes, smaller weights, or less noise",
                )
            })
        };
        let likelihood = gradient(None)?;
        let mut exact = gradient(Some(Engine::Adjoint))?;
        exact.iter_mut().zip(&likelihood).for_each(|(g, l)| *g -= l);
        let exact_norm = norm(exact.iter().copied());
        Ok(Self {
            is_lost: exact_norm <= LOST * norm(likelihood.iter().copied()),
            likelihood,
            exact,
            exact_norm,
        })
    }

    /// Relative error and cosine of the noise term's part of ∇J.
    fn of(&mut self, engine: Variant, gradient: &[f64]) -> Option<[f64; 2]> {
        if engine == Variant::Likelihood || self.is_lost {
            return None;
        }
        let noise = || gradient.iter().zip(&self.likelihood).map(|(g, l)| g - l);
        let error = norm(noise().zip(&self.exact).map(|(g, e)| g - e));
        let product: f64 = noise().zip(&self.exact).map(|(g, e)| g * e).sum();
        let cosine = product / (norm(noise()) * self.exact_norm);
        // Rounding must not make more than 1 of it.
        Some([error / self.exact_norm, cosine.clamp(-1.0, 1.0)])
    }
}

fn norm(vector: impl Iterator<Item = f64>) -> f64 {
    vector.map(|x| x * x).sum::<f64>().sqrt()
}
