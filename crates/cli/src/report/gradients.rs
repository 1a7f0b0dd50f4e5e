//! The section on gradient engines.

use dropchain::Result;
use dropchain_report::{RecordedEngine, RecordedGradients};
use serde::Serialize;

use super::plot::{Axis, Mark, Plot, Scale, Series};
use super::views::{Figure, LegendEntry, Table, count_of, legend, letter, percent};
use crate::bench::display_name;

/// Errors below are rounding errors, and drawn as this one.
const ROUNDING: f64 = 1e-16;

/// Measurements of the gradient engines.
#[derive(Debug, Serialize)]
pub struct Gradients {
    name: String,
    summary: String,
    legend: Vec<LegendEntry>,
    engines: Table,
    training: Option<Table>,
    figure: Option<Figure>,
}

impl Gradients {
    pub fn new(name: &str, gradients: &RecordedGradients) -> Result<Self> {
        let sentences = gradients.sentences.map(|n| count_of(n, "sentence"));
        let tokens = gradients.tokens.map(|n| count_of(n, "token"));
        let parts: Vec<String> = [gradients.files.join(", ")]
            .into_iter()
            .chain(sentences)
            .chain(tokens)
            .filter(|part| !part.is_empty())
            .collect();
        let names: Vec<String> = gradients
            .engines
            .iter()
            .map(|row| display_name(&row.engine, row.collapsed))
            .collect();
        Ok(Self {
            name: name.to_owned(),
            summary: parts.join("; "),
            legend: legend(names.iter().map(String::as_str)),
            engines: engine_table(&gradients.engines, &names),
            training: training_table(gradients),
            figure: figure(&gradients.engines)?,
        })
    }
}

fn engine_table(engines: &[RecordedEngine], names: &[String]) -> Table {
    let head = [
        "",
        "gradient",
        "seconds",
        "× likelihood",
        "error",
        "of all",
        "cosine",
        "memory",
    ];
    let mut table = Table::new("Cost and accuracy", &head);
    let dash = || "–".to_owned();
    for (i, (row, name)) in engines.iter().zip(names).enumerate() {
        let error = |error: Option<f64>| error.map_or_else(dash, |error| format!("{error:.1e}"));
        table.row(vec![
            letter(i),
            name.clone(),
            format!("{:.4}", row.seconds),
            format!("{:.2}", row.ratio_to_likelihood),
            error(row.relative_error),
            error(row.relative_error_whole),
            row.cosine
                .map_or_else(dash, |cosine| format!("{cosine:.6}")),
            row.peak_bytes
                .map_or_else(dash, |bytes| format!("{:.1} MB", bytes as f64 / 1e6)),
        ]);
    }
    table
}

fn training_table(gradients: &RecordedGradients) -> Option<Table> {
    let head = ["gradient", "dev score", "iterations", "best at", "seconds"];
    let mut table = Table::new("Training with each", &head);
    for run in &gradients.training {
        let score = run.dev_f1.or(run.dev_accuracy);
        table.row(vec![
            display_name(&run.engine, run.collapsed),
            score.map_or("–".to_owned(), percent),
            run.iterations.to_string(),
            run.best_iteration.to_string(),
            format!("{:.1}", run.seconds),
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Plots the error of each engine by its cost.
fn figure(engines: &[RecordedEngine]) -> Result<Option<Figure>> {
    let series = engines.iter().enumerate().filter_map(|(i, row)| {
        let error = row.relative_error?.max(ROUNDING);
        Some(Series {
            color: i,
            letter: letter(i),
            mark: Mark::Points,
            points: vec![(row.ratio_to_likelihood, error)],
            best: None,
        })
    });
    let plot = Plot {
        x: Axis::new("time, as a multiple of the likelihood's", Scale::Log),
        y: Axis::new("relative error", Scale::Log),
        series: series.collect(),
        diagonal: false,
    };
    let description = "Each engine is a point; the table has the same numbers.".to_owned();
    Figure::draw("Error by cost", description, &plot)
}
