//! The tables of `bench gradients`.

use dropchain_layout::format_table;

use super::results::{Gradients, Measurement};

/// The columns of all tables.
const HEADS: [&str; 10] = [
    "gradient",
    "µs/sentence",
    "quartiles",
    "x likelihood",
    "multiply-adds",
    "error",
    "of all",
    "cosine",
    "active/token",
    "memory",
];

/// Formats the cost and the accuracy of each engine on the corpus, and by what was varied.
pub fn tables(results: &Gradients) -> String {
    let mut text = table("", results.engines.iter().map(|row| (None, row)));
    for sweep in &results.sweeps {
        let size = sweep.axis.label();
        let rows = sweep.points.iter().flat_map(|point| {
            point.engines.iter().map(move |row| (Some(format!("{:.0}", point.value)), row))
        });
        text += &format!("\nBy {size} of a sentence\n{}", table(size, rows));
    }
    text
}

/// Formats rows, which may have a first cell with the heading `first`.
fn table<'a>(first: &str, rows: impl Iterator<Item = (Option<String>, &'a Measurement)>) -> String {
    let first = (!first.is_empty()).then(|| first.to_owned());
    let heads: Vec<String> = first.into_iter().chain(HEADS.map(str::to_owned)).collect();
    let rows = rows.map(|(value, row)| value.into_iter().chain(cells(row)).collect());
    format_table([heads].into_iter().chain(rows))
}

fn cells(row: &Measurement) -> [String; 10] {
    let [time, low, high] = [row.seconds, row.seconds_quartiles[0], row.seconds_quartiles[1]]
        .map(|seconds| 1e6 * seconds / row.sentences as f64);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let deviation = row.deviation;
    [
        row.name().to_owned(),
        format!("{time:.1}"),
        format!("{low:.1}–{high:.1}"),
        format!("{:.2}", row.ratio_to_likelihood),
        format!("{:.2e}", row.multiply_adds / row.sentences as f64),
        or_dash(deviation.map(|d| format_error(d.relative_error))),
        or_dash(deviation.map(|d| format_error(d.relative_error_whole))),
        or_dash(deviation.map(|d| format!("{:.6}", d.cosine))),
        format!("{:.1}", row.active_per_token),
        or_dash(row.peak_bytes.map(|bytes| format!("{:.1} MB", bytes as f64 / 1e6))),
    ]
}

/// Formats small errors in scientific notation, others as fractions.
fn format_error(error: f64) -> String {
    if error < 1e-3 { format!("{error:.1e}") } else { format!("{error:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_errors_are_in_scientific_notation() {
        assert_eq!([3.21e-14, 0.0, 0.20345].map(format_error), ["3.2e-14", "0.0e0", "0.2034"]);
    }
}
