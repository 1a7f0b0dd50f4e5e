//! The section on calibration: whether probabilities are right.

use dropchain_analysis::Calibration;

use crate::evaluated::{Evaluated, System};
use crate::plot::{Axis, Plot, Scale};
use crate::training::curve;
use crate::views::{Figure, Section, Table, count, heads, letter, told};

/// Which predictions a calibration is of.
type Choice = fn(&System) -> &Calibration;

const CHOICES: [(&str, Choice); 2] = [
    ("All tokens", |system| &system.tokens),
    ("Tokens in predicted spans", |system| &system.in_spans),
];

/// Returns the section; `None` if no probabilities are known.
pub fn calibration(all: &Evaluated, has_spans: bool) -> Option<Section> {
    let systems = &all.systems;
    if systems.iter().all(|system| system.tokens.count() == 0) {
        return None;
    }
    let head = heads(", system, predictions, tokens, calibration error, top-label Brier score");
    let mut errors = Table::new("Calibration", head);
    let (mut figures, mut bins) = (Vec::new(), Vec::new());
    for (name, choose) in CHOICES.iter().take(1 + usize::from(has_spans)) {
        for (i, system) in systems.iter().enumerate() {
            let calibration = choose(system);
            if calibration.count() > 0 {
                errors.row([
                    letter(i),
                    system.name.clone(),
                    name.to_lowercase(),
                    count(calibration.count()),
                    format!("{:.4}", calibration.expected_error()),
                    format!("{:.4}", calibration.top_label_brier_score()),
                ]);
                bins.push(bin_table(&format!("{}: {name}", letter(i)), calibration));
            }
        }
        figures.push(reliability(name, systems, *choose));
    }
    errors.class = "named";
    let mut section = Section::new("calibration", "Calibration");
    section.text(
        "Of the labels predicted with a probability of 80%, about 80% should be correct: then \
         points are on the diagonal. Below it, probabilities are too high. The calibration error \
         (ECE) is the mean distance, weighted by the number of tokens. Hollow points are of fewer \
         than 10 tokens.",
    );
    section.legend(&all.names(), told(all.systems.len()), true);
    section.figures(figures);
    section.table(errors);
    section.details("Points of the diagrams", bins);
    Some(section)
}

fn bin_table(caption: &str, calibration: &Calibration) -> Table {
    let head = heads("probability, tokens, mean probability, accuracy");
    let mut table = Table::new(caption, head);
    for bin in calibration.bins().iter().filter(|bin| bin.count > 0) {
        table.row([
            format!("{:.1}–{:.1}", bin.low, bin.high),
            count(bin.count),
            format!("{:.4}", bin.confidence),
            format!("{:.4}", bin.accuracy),
        ]);
    }
    table
}

/// Draws a reliability diagram.
fn reliability(name: &str, systems: &[System], choose: Choice) -> Option<Figure> {
    let series = systems.iter().enumerate().map(|(i, system)| {
        let bins = choose(system).bins();
        let bins = bins.iter().filter(|bin| bin.count > 0);
        let (points, counts): (Vec<(f64, f64)>, Vec<u64>) =
            bins.map(|bin| ((bin.confidence, bin.accuracy), bin.count)).unzip();
        let mut curve = curve(i, systems.len(), &system.name, points);
        for (point, count) in curve.points.iter_mut().zip(counts) {
            point.count = Some(count);
        }
        curve
    });
    let axis = |label| Axis::new(label, Scale::Linear).range(0.0, 1.04);
    let mut plot = Plot::new(axis("mean probability"), axis("accuracy"), series.collect());
    plot.diagonal = true;
    let description = "On the diagonal, probabilities are right; below it, they are too high. The \
                       table has the same numbers.";
    Figure::draw(name, description, &plot)
}
