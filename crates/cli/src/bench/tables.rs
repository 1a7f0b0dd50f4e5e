//! The tables of `dropchain bench`.

use dropchain_report::{
    ErrorRow, Exponent, Measurement, Spread, Sweep, SweepRow, TrainingRun, display_name,
};

use dropchain_layout::format_table;

/// Formats the cost and the accuracy of each variant.
pub fn gradient_table(rows: &[Measurement]) -> String {
    let heading = [
        "gradient",
        "seconds",
        "x likelihood",
        "multiply-adds",
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
            format!("{:.2e}", row.multiply_adds),
            row.relative_error.map_or_else(dash, format_error),
            row.relative_error_whole.map_or_else(dash, format_error),
            row.cosine.map_or_else(dash, |cosine| format!("{cosine:.6}")),
            format!("{:.1}", row.active_per_token),
            row.peak_bytes.map_or_else(dash, format_megabytes),
        ]
    });
    format_table([heading.map(str::to_owned)].into_iter().chain(rows))
}

/// Formats the error of windows over sentences; empty without any.
pub fn error_table(rows: &[ErrorRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let heading = ["radius", "error", "quartiles", "of all", "quartiles", "cosine", "of all"];
    let error = |error: f64| match error < 1e-3 {
        true => format!("{error:.1e}"),
        false => format!("{error:.4}"),
    };
    let quartiles = |spread: Spread| [spread.low, spread.high].map(error).join("–");
    let lines = rows.iter().map(|row| {
        [
            row.radius.to_string(),
            error(row.relative_error.median),
            quartiles(row.relative_error),
            error(row.relative_error_whole.median),
            quartiles(row.relative_error_whole),
            format!("{:.6}", row.cosine.median),
            format!("{:.6}", row.cosine_whole.median),
        ]
    });
    let table = format_table([heading.map(str::to_owned)].into_iter().chain(lines));
    format!("\nBy radius of the window, over {} sentences\n{table}", rows[0].sentences)
}

/// Formats the cost by what was varied; empty without any.
pub fn sweep_tables(sweeps: &[Sweep]) -> String {
    sweeps.iter().map(sweep_table).collect()
}

fn sweep_table(sweep: &Sweep) -> String {
    let heading = [
        sweep.axis.as_str(),
        "gradient",
        "µs/sentence",
        "noise, µs",
        "quartiles",
        "multiply-adds",
        "noise",
        "memory",
    ];
    let lines = sweep.rows.iter().map(|row: &SweepRow| {
        let (all, part) = (row.seconds.times(1e6), row.part_seconds.times(1e6));
        let is_noise = row.engine != "likelihood";
        let of_noise = |text: String| if is_noise { text } else { dash() };
        [
            row.value.map_or_else(dash, |value| format!("{value:.0}")),
            display_name(&row.engine, row.collapsed),
            format!("{:.1}", all.median),
            of_noise(format!("{:.1}", part.median)),
            of_noise(format!("{:.1}–{:.1}", part.low, part.high)),
            format!("{:.2e}", row.multiply_adds),
            of_noise(format!("{:.2e}", row.part_multiply_adds)),
            row.peak_bytes.map_or_else(dash, format_megabytes),
        ]
    });
    let table = format_table([heading.map(str::to_owned)].into_iter().chain(lines));
    let heading = ["exponents", "seconds", "multiply-adds", "theory"];
    let lines = sweep.exponents.iter().map(|exponent: &Exponent| {
        [
            display_name(&exponent.engine, exponent.collapsed),
            format!("{:.2}", exponent.seconds),
            format!("{:.2}", exponent.multiply_adds),
            format!("{:.2}", exponent.theory),
        ]
    });
    let mut text = format!("\nCost by {}: {}\n{table}", sweep.axis, sweep.construction);
    if !sweep.exponents.is_empty() {
        text += "\n";
        text += &format_table([heading.map(str::to_owned)].into_iter().chain(lines));
    }
    text
}

/// Formats the outcome of each training run; empty without any.
pub fn training_table(runs: &[TrainingRun]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let heading = [
        "training",
        "objective",
        "noise term",
        "dev score",
        "evaluations",
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
            run.objective.map_or_else(dash, |value| format!("{value:.2}")),
            run.noise.map_or_else(dash, |value| format!("{value:.2}")),
            score,
            run.evaluations.to_string(),
            run.iterations.to_string(),
            run.best_iteration.to_string(),
            format!("{:.1}", run.seconds),
            format!("{:.3}", run.seconds / run.iterations.max(1) as f64),
            run.stop_reason.clone(),
        ]
    });
    format!("\n{}", format_table([heading.map(str::to_owned)].into_iter().chain(rows)))
}

fn dash() -> String {
    "–".to_owned()
}

/// Formats rounding errors in scientific notation, others as fractions.
fn format_error(error: f64) -> String {
    if error < 1e-6 { format!("{error:.0e}") } else { format!("{error:.4}") }
}

fn format_megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_errors_are_in_scientific_notation() {
        assert_eq!([3.21e-14, 0.0, 0.20345].map(format_error), ["3e-14", "0e0", "0.2034"]);
    }
}
