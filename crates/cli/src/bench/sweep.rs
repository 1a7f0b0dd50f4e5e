//! How the cost of the engines depends on labels, length and attributes.

use dropchain::Result;

use super::measurement::measure;
use super::problem::{Problem, Shape};
use super::results::{Measurement, Sweep, SweepAxis, SweepPoint};
use super::variant::Variant;
use super::weights::{SCALE, random_weights};
use super::work::multiply_adds;

/// Numbers of labels, of tokens, and shares of attributes.
const LABELS: [usize; 4] = [4, 8, 16, 32];
const LENGTHS: [usize; 5] = [5, 10, 20, 40, 80];
const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 1.0];

/// The number of tokens of a sentence where it does not vary, and the highest number of labels of
/// the corpus that then stays.
const LENGTH: usize = 20;
const MAX_LABELS: usize = 32;

/// Maximum number of multiply-adds of an evaluation of several sentences, and of sentences.
const WORK: f64 = 1.5e8;
const SENTENCES: usize = 200;

/// Returns the sizes of sentences, where other sizes than what varies are those of the corpus.
fn shapes(axis: SweepAxis, labels: usize) -> Vec<Shape> {
    let base = Shape { length: LENGTH, labels: labels.clamp(1, MAX_LABELS), share: 1.0 };
    match axis {
        SweepAxis::Labels => LABELS.map(|labels| Shape { labels, ..base }).to_vec(),
        SweepAxis::Length => LENGTHS.map(|length| Shape { length, ..base }).to_vec(),
        SweepAxis::Attributes => SHARES.map(|share| Shape { share, ..base }).to_vec(),
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
    for shape in shapes(axis, problem.space.labels()) {
        let single = problem.synthetic(shape, 1);
        let mut engines: Vec<Measurement> = Vec::new();
        for &variant in variants {
            let sentences = (WORK / multiply_adds(&single, variant).max(1.0)) as usize;
            let sentences = problem.synthetic(shape, sentences.clamp(1, SENTENCES));
            let theta = random_weights(sentences.space.dimension(), SCALE);
            let mut pair = vec![Variant::Likelihood, variant];
            pair.dedup();
            engines.extend(measure(&sentences, &theta, &pair, repeats, observer)?.pop());
        }
        let value = match axis {
            SweepAxis::Labels => shape.labels as f64,
            SweepAxis::Length => shape.length as f64,
            SweepAxis::Attributes => (engines[0].active_per_token * shape.length as f64).round(),
        };
        points.push(SweepPoint { value, engines });
    }
    Ok(Sweep { axis, points })
}
