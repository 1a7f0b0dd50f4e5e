//! The tables of `dropchain bench`.

use dropchain_layout::format_table;

use super::results::{
    ErrorRow, Exponent, Gradients, Measurement, Spread, Sweep, SweepRow, display_name,
};

/// Formats the cost and the accuracy of each variant, the errors of windows, and the sweeps.
pub fn tables(results: &Gradients) -> String {
    let mut text = gradient_table(&results.engines);
    if let Some(first) = results.errors.first() {
        text += &format!("\nBy radius of the window, over {} sentences\n", first.sentences);
        text += &error_table(&results.errors);
    }
    for sweep in &results.sweeps {
        text += &format!("\nCost by {}: {}\n", sweep.axis, sweep.construction);
        text += &sweep_table(sweep);
        if !sweep.exponents.is_empty() {
            text += "\n";
            text += &exponent_table(&sweep.exponents);
        }
    }
    text
}

fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    format_table([heads.map(str::to_owned)].into_iter().chain(rows))
}

fn gradient_table(rows: &[Measurement]) -> String {
    let heads = [
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
        let deviation = row.deviation;
        [
            display_name(&row.engine, row.collapsed),
            format!("{:.4}", row.seconds),
            format!("{:.2}", row.ratio_to_likelihood),
            format!("{:.2e}", row.multiply_adds),
            deviation.map_or_else(dash, |d| format_error(d.relative_error)),
            deviation.map_or_else(dash, |d| format_error(d.relative_error_whole)),
            deviation.map_or_else(dash, |d| format!("{:.6}", d.cosine)),
            format!("{:.1}", row.active_per_token),
            row.peak_bytes.map_or_else(dash, format_megabytes),
        ]
    });
    table(heads, rows)
}

fn error_table(rows: &[ErrorRow]) -> String {
    let heads = ["radius", "error", "quartiles", "of all", "quartiles", "cosine", "of all"];
    let quartiles = |spread: Spread| [spread.low, spread.high].map(format_error).join("–");
    let rows = rows.iter().map(|row| {
        let deviation = row.deviation;
        [
            row.radius.to_string(),
            format_error(deviation.relative_error.median),
            quartiles(deviation.relative_error),
            format_error(deviation.relative_error_whole.median),
            quartiles(deviation.relative_error_whole),
            format!("{:.6}", deviation.cosine.median),
            format!("{:.6}", deviation.cosine_whole.median),
        ]
    });
    table(heads, rows)
}

fn sweep_table(sweep: &Sweep) -> String {
    let heads = [
        sweep.axis.as_str(),
        "gradient",
        "µs/sentence",
        "noise, µs",
        "quartiles",
        "multiply-adds",
        "noise",
        "memory",
    ];
    let rows = sweep.rows.iter().map(|row: &SweepRow| {
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
    table(heads, rows)
}

fn exponent_table(exponents: &[Exponent]) -> String {
    let rows = exponents.iter().map(|exponent| {
        [
            display_name(&exponent.engine, exponent.collapsed),
            format!("{:.2}", exponent.seconds),
            format!("{:.2}", exponent.multiply_adds),
            format!("{:.2}", exponent.theory),
        ]
    });
    table(["exponents", "seconds", "multiply-adds", "theory"], rows)
}

fn dash() -> String {
    "–".to_owned()
}

/// Formats small errors in scientific notation, others as fractions.
fn format_error(error: f64) -> String {
    if error < 1e-3 { format!("{error:.1e}") } else { format!("{error:.4}") }
}

fn format_megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_errors_are_in_scientific_notation() {
        assert_eq!([3.21e-14, 0.0, 0.20345].map(format_error), ["3.2e-14", "0.0e0", "0.2034"]);
    }
}
