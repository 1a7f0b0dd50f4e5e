//! Calibration: whether probabilities are right.

use dropchain_analysis::Calibration;

use crate::evaluated::{Evaluated, System};
use crate::plot::{Axis, Mark, Plot, Scale, Series};
use crate::views::{Figure, count, series};

/// Chooses the calibration of a system.
type Choice = fn(&System) -> &Calibration;

const CHOICES: [(&str, Choice); 2] = [
    ("all tokens", |system| &system.tokens),
    ("tokens in predicted spans", |system| &system.in_spans),
];

/// What the diagrams show.
const NOTE: &str = "Of the labels predicted with a probability of 80%, about 80% should be \
                    correct: then points are on the diagonal. Below it, probabilities are too \
                    high. The calibration error (ECE) is the mean distance, weighted by the number \
                    of tokens. Hollow points are of fewer than 10 tokens.";

/// Draws the reliability diagrams of systems with known probabilities.
pub fn figures(all: &Evaluated, has_spans: bool) -> impl Iterator<Item = Option<Figure>> {
    let choices = CHOICES.into_iter().take(1 + usize::from(has_spans));
    choices.map(|(name, choose)| reliability(name, &all.systems, choose))
}

/// Draws a reliability diagram; `None` without probabilities.
fn reliability(name: &str, systems: &[System], choose: Choice) -> Option<Figure> {
    let known = systems.iter().filter(|one| choose(one).count() > 0);
    let errors = known.map(|one| {
        let calibration = choose(one);
        format!(
            "{}: ECE {:.4}, top-label Brier score {:.4}, {} tokens. ",
            one.name,
            calibration.expected_error(),
            calibration.top_label_brier_score(),
            count(calibration.count())
        )
    });
    let errors: String = errors.collect();
    let curves = systems.iter().enumerate().map(|(i, one)| {
        let bins = choose(one).bins();
        let bins = bins.iter().filter(|bin| bin.count > 0);
        let (points, counts): (Vec<(f64, f64)>, Vec<u64>) =
            bins.map(|bin| ((bin.confidence, bin.accuracy), bin.count)).unzip();
        let mut curve = series((i, systems.len()), &one.name, points);
        for (point, count) in curve.points.iter_mut().zip(counts) {
            point.count = Some(count);
        }
        curve
    });
    let diagonal = Series::new(0, Mark::Reference, [(0.0, 0.0), (1.0, 1.0)]);
    let axis = |label| Axis::new(label, Scale::Linear).range(0.0, 1.04);
    let curves = [diagonal].into_iter().chain(curves).collect();
    let plot = Plot::new(axis("mean probability"), axis("accuracy"), curves);
    let figure = Figure::draw(format!("Calibration, {name}"), &errors, &plot)?;
    let note = if name == CHOICES[0].0 { NOTE } else { "" };
    (!errors.is_empty()).then(|| figure.note(errors + note))
}
