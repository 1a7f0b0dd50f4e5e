//! The section on calibration: whether probabilities are right.

use dropchain::Result;
use dropchain::eval::Calibration;
use serde::Serialize;

use super::evaluated::{Evaluated, System};
use super::plot::{Axis, Plot, Scale};
use super::views::{Figure, LegendEntry, Table, count, curve, legend, letter};

/// The calibration of the systems whose probabilities are known.
#[derive(Debug, Serialize)]
pub struct CalibrationView {
    legend: Vec<LegendEntry>,
    errors: Table,
    figures: Vec<Figure>,
    bins: Vec<Table>,
}

/// Which predictions a calibration is of.
type Choice = fn(&System) -> &Calibration;

impl CalibrationView {
    /// Creates the view; `None` if no probabilities are known.
    pub fn new(evaluated: &Evaluated, has_spans: bool) -> Result<Option<Self>> {
        let systems = &evaluated.systems;
        if systems
            .iter()
            .all(|system| system.confidences.tokens.count() == 0)
        {
            return Ok(None);
        }
        let mut choices: Vec<(&str, Choice)> =
            vec![("All tokens", |system| &system.confidences.tokens)];
        if has_spans {
            choices.push(("Tokens in predicted spans", |system| {
                &system.confidences.in_spans
            }));
        }
        let head = [
            "",
            "system",
            "predictions",
            "tokens",
            "calibration error",
            "Brier score",
        ];
        let mut errors = Table::new("Calibration", &head);
        let mut figures = Vec::new();
        let mut bins = Vec::new();
        for (name, choose) in &choices {
            for (i, system) in systems.iter().enumerate() {
                let calibration = choose(system);
                if calibration.count() == 0 {
                    continue;
                }
                errors.row(vec![
                    letter(i),
                    system.name.clone(),
                    name.to_lowercase(),
                    count(calibration.count()),
                    format!("{:.4}", calibration.expected_error()),
                    format!("{:.4}", calibration.brier_score()),
                ]);
                bins.push(bin_table(&format!("{}: {}", letter(i), name), calibration));
            }
            figures.extend(reliability(name, systems, *choose)?);
        }
        Ok(Some(Self {
            legend: legend(systems.iter().map(|system| system.name.as_str())),
            errors,
            figures,
            bins,
        }))
    }
}

fn bin_table(caption: &str, calibration: &Calibration) -> Table {
    let head = ["probability", "tokens", "mean probability", "accuracy"];
    let mut table = Table::new(caption, &head);
    for bin in calibration.bins().iter().filter(|bin| bin.count > 0) {
        table.row(vec![
            format!("{:.1}–{:.1}", bin.low, bin.high),
            count(bin.count),
            format!("{:.4}", bin.confidence),
            format!("{:.4}", bin.accuracy),
        ]);
    }
    table
}

/// Draws a reliability diagram.
fn reliability(name: &str, systems: &[System], choose: Choice) -> Result<Option<Figure>> {
    let series = systems.iter().enumerate().map(|(i, system)| {
        let bins = choose(system).bins();
        let bins = bins.iter().filter(|bin| bin.count > 0);
        let points = bins.map(|bin| (bin.confidence, bin.accuracy));
        curve(i, systems.len(), points.collect())
    });
    let axis = |label: &str| {
        let mut axis = Axis::new(label, Scale::Linear);
        axis.range = Some((0.0, 1.04));
        axis
    };
    let plot = Plot {
        x: axis("mean probability"),
        y: axis("accuracy"),
        series: series.collect(),
        diagonal: true,
    };
    let description = "On the diagonal, probabilities are right; below it, they are too high. The \
                       table has the same numbers.";
    Figure::draw(name, description.to_owned(), &plot)
}
