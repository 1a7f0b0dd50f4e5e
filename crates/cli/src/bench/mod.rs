//! `dropchain bench`

mod gradients;
mod measurement;

use clap::{Args, Subcommand};
use dropchain_report::{Measurement, TrainingRun, display_name};

use crate::CommandResult;
use crate::terminal::format_table;

/// Benchmark dropchain itself (for researchers)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain bench gradients train.conll --template ner-finkel --json out.json

Run `dropchain bench gradients --help` for what is measured.")]
pub struct BenchCommand {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    Gradients(Box<gradients::GradientsCommand>),
}

impl BenchCommand {
    pub fn run(&self) -> CommandResult {
        match &self.benchmark {
            Benchmark::Gradients(command) => command.run(),
        }
    }
}

/// Formats the cost and the accuracy of each variant.
pub fn gradient_table(rows: &[Measurement]) -> String {
    let heading = [
        "gradient",
        "seconds",
        "x likelihood",
        "error",
        "of all",
        "cosine",
        "active/token",
        "memory",
    ];
    let rows = rows.iter().map(|row| {
        [
            display_name(&row.engine, row.collapsed),
            format!("{:.4}", row.seconds),
            format!("{:.2}", row.ratio_to_likelihood),
            row.relative_error.map_or_else(dash, format_error),
            row.relative_error_whole.map_or_else(dash, format_error),
            row.cosine
                .map_or_else(dash, |cosine| format!("{cosine:.6}")),
            format!("{:.1}", row.active_per_token),
            row.peak_bytes.map_or_else(dash, format_megabytes),
        ]
    });
    format_table([heading.map(str::to_owned)].into_iter().chain(rows))
}

/// Formats the outcome of each training run; empty without any.
pub fn training_table(runs: &[TrainingRun]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let heading = [
        "training",
        "dev score",
        "iterations",
        "best at",
        "seconds",
        "s/iteration",
        "stopped by",
    ];
    let rows = runs.iter().map(|run| {
        let score = match (run.dev_f1, run.dev_accuracy) {
            (Some(f1), _) => format!("F1 {:.2}", 100.0 * f1),
            (None, Some(accuracy)) => format!("acc. {:.2}", 100.0 * accuracy),
            (None, None) => dash(),
        };
        [
            display_name(&run.engine, run.collapsed),
            score,
            run.iterations.to_string(),
            run.best_iteration.to_string(),
            format!("{:.1}", run.seconds),
            format!("{:.3}", run.seconds / run.iterations.max(1) as f64),
            run.stop_reason.clone(),
        ]
    });
    format!(
        "\n{}",
        format_table([heading.map(str::to_owned)].into_iter().chain(rows))
    )
}

fn dash() -> String {
    "–".to_owned()
}

/// Formats rounding errors in scientific notation, others as fractions.
fn format_error(error: f64) -> String {
    if error < 1e-6 {
        format!("{error:.0e}")
    } else {
        format!("{error:.4}")
    }
}

fn format_megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_are_in_scientific_notation() {
        assert_eq!(
            [3.21e-14, 0.0, 0.20345].map(format_error),
            ["3e-14", "0e0", "0.2034"]
        );
    }
}
