//! The error of the gradient within a window, sentence by sentence.

use dropchain::error::Result;
use dropchain::kernel::noise::Engine;

use super::sweep::RADII;
use super::{Clock, Evaluations, Problem, ReferenceGradient, Variant};
use crate::bench::results::{Deviation, ErrorRow, Spread};

/// Maximum number of sentences whose errors are measured, and the lowest number of tokens of them,
/// if there are any.
const ERROR_SENTENCES: usize = 100;
const ERROR_LENGTH: usize = 10;

/// Measures the error of windows on single sentences, evenly spaced among those with at least
/// [`ERROR_LENGTH`] tokens. All results are the same in every run, for any number of threads.
///
/// # Errors
///
/// An objective that is not finite at θ.
pub fn errors(problem: &Problem, theta: &[f64]) -> Result<Vec<ErrorRow>> {
    let all = 0..problem.data.len();
    let at_least = |tokens| {
        let sentences = all.clone().filter(|&i| problem.data.sentence(i).len() >= tokens);
        sentences.collect::<Vec<usize>>()
    };
    let mut sentences = at_least(ERROR_LENGTH);
    if sentences.is_empty() {
        sentences = at_least(2);
    }
    let step = sentences.len().div_ceil(ERROR_SENTENCES).max(1);
    let mut found: Vec<Vec<Deviation<f64>>> = vec![Vec::new(); RADII.len()];
    for &i in sentences.iter().step_by(step) {
        let sentence = problem.sentence(i);
        let reference = ReferenceGradient::new(&sentence, theta)?;
        let variants = RADII.map(|radius| Variant::Quadratic(Engine::Window(radius)));
        let mut evaluations = Evaluations::new(&sentence, &variants, Clock::Wall);
        evaluations.evaluate(0, theta, &mut |_| {}, &mut |number, gradient| {
            found[number].extend(reference.deviation(variants[number], gradient));
        });
    }
    let rows = RADII.into_iter().zip(found).filter_map(|(radius, all)| {
        let spread = |get: fn(&Deviation<f64>) -> f64| Spread::of(all.iter().map(get).collect());
        let deviation = Deviation {
            relative_error: spread(|d| d.relative_error)?,
            relative_error_whole: spread(|d| d.relative_error_whole)?,
            cosine: spread(|d| d.cosine)?,
            cosine_whole: spread(|d| d.cosine_whole)?,
        };
        Some(ErrorRow { radius, sentences: all.len(), deviation })
    });
    Ok(rows.collect())
}
