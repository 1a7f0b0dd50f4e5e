//! Calibration: whether probabilities are right.

use dropchain_analysis::Calibration;

use crate::evaluated::{Evaluated, System};
use crate::plot::{Axis, Mark, Plot, Scale, Series};
use crate::training::curve;
use crate::views::{Figure, Section, count, system};

/// Chooses the calibration of a system.
type Choice = fn(&System) -> &Calibration;

const CHOICES: [(&str, Choice); 2] = [
    ("all tokens", |system| &system.tokens),
    ("tokens in predicted spans", |system| &system.in_spans),
];

/// Adds reliability diagrams to the section on scores, if probabilities are known.
pub fn add(all: &Evaluated, has_spans: bool, section: &mut Section) {
    if all.systems.iter().all(|system| system.tokens.count() == 0) {
        return;
    }
    section.heading("Calibration");
    section.text(
        "Of the labels predicted with a probability of 80%, about 80% should be correct: then \
         points are on the diagonal. Below it, probabilities are too high. The calibration error \
         (ECE) is the mean distance, weighted by the number of tokens. Hollow points are of fewer \
         than 10 tokens.",
    );
    let (mut figures, mut errors) = (Vec::new(), Vec::new());
    for (name, choose) in CHOICES.into_iter().take(1 + usize::from(has_spans)) {
        for (i, one) in all.systems.iter().enumerate() {
            let calibration = choose(one);
            errors.extend((calibration.count() > 0).then(|| {
                format!(
                    "{} {}, {name}: ECE {:.4}, top-label Brier score {:.4}, {} tokens.",
                    system(i),
                    one.name,
                    calibration.expected_error(),
                    calibration.top_label_brier_score(),
                    count(calibration.count())
                )
            }));
        }
        figures.push(reliability(name, &all.systems, choose));
    }
    section.list(errors);
    section.figures(figures);
}

/// Draws a reliability diagram.
fn reliability(name: &str, systems: &[System], choose: Choice) -> Option<Figure> {
    let series = systems.iter().enumerate().map(|(i, one)| {
        let bins = choose(one).bins();
        let bins = bins.iter().filter(|bin| bin.count > 0);
        let (points, counts): (Vec<(f64, f64)>, Vec<u64>) =
            bins.map(|bin| ((bin.confidence, bin.accuracy), bin.count)).unzip();
        let mut curve = curve((i, systems.len()), system, &one.name, points);
        for (point, count) in curve.points.iter_mut().zip(counts) {
            point.count = Some(count);
        }
        curve
    });
    let diagonal = Series::new(0, Mark::Reference, [(0.0, 0.0), (1.0, 1.0)]);
    let axis = |label| Axis::new(label, Scale::Linear).range(0.0, 1.04);
    let series = [diagonal].into_iter().chain(series).collect();
    let plot = Plot::new(axis("mean probability"), axis("accuracy"), series);
    let description = "On the diagonal, probabilities are right; below it, they are too high.";
    Figure::draw(format!("Calibration, {name}"), description, &plot)
}
