//! Transition and boundary weights, as wide as the terminal.

use std::fmt::Write as _;

use dropchain::model::Model;

use crate::table::format_table;
use crate::terminal::{cut, width};

/// Number of labels up to which all transitions are shown.
const MAX_LABELS: usize = 24;

/// Longest name of a label in the table; longer ones are cut.
const MAX_NAME: usize = 14;

/// Columns of a weight.
const WEIGHT: usize = 8;

/// Columns between cells.
const GAP: usize = 2;

/// Number of strongest transitions that are shown at least.
const MIN_SHOWN: usize = 20;

const START: &str = "(start)";
const END: &str = "(end)";

/// Returns all transitions as a table that fits the terminal, in several blocks if need be; of many
/// labels, the strongest ones.
pub fn text(model: &Model, top: usize, columns: usize) -> String {
    match model.header().labels.len() {
        0..=MAX_LABELS => table(model, columns),
        _ => strongest(model, top.max(MIN_SHOWN)),
    }
}

fn table(model: &Model, columns: usize) -> String {
    let header = model.header();
    let weights = &header.label_weights;
    let names = header.labels.names().iter().map(|name| cut(name, MAX_NAME));
    let names: Vec<String> = names.collect();
    let longest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let (first, cell) = (longest.max(START.len()), longest.max(WEIGHT));
    let in_block = columns.saturating_sub(first) / (GAP + cell);
    let targets: Vec<usize> = (0..=names.len()).collect(); // labels, then the end
    let blocks = targets.chunks(in_block.max(1)).map(|block| {
        let row = |name: &str, value: &dyn Fn(usize) -> String| -> Vec<String> {
            let values = block.iter().map(|&target| value(target));
            [name.to_owned()].into_iter().chain(values).collect()
        };
        let name = |target| names.get(target).map_or(END.to_owned(), String::clone);
        let start = |target| {
            weights
                .start
                .get(target)
                .map_or(String::new(), format_weight)
        };
        let transitions = names.iter().zip(weights.transition_rows());
        let rows = transitions
            .zip(&weights.end)
            .map(|((name, transitions), end)| {
                let weight = |target| transitions.get(target).unwrap_or(end);
                row(name, &|target| format_weight(weight(target)))
            });
        format_table([row("", &name), row(START, &start)].into_iter().chain(rows))
    });
    let title = "transition weights, from the label of the row to that of the column";
    format!("\n{title}\n{}", blocks.collect::<Vec<_>>().join("\n"))
}

fn format_weight(weight: &f64) -> String {
    format!("{weight:.3}")
}

/// Returns the transitions with the largest absolute weights, best first.
fn strongest(model: &Model, count: usize) -> String {
    let header = model.header();
    let weights = &header.label_weights;
    let names: Vec<&str> = header.labels.names().iter().map(String::as_str).collect();
    let rows = names.iter().zip(weights.transition_rows());
    let pairs =
        rows.flat_map(|(&from, row)| row.iter().zip(&names).map(move |(&w, &to)| (w, from, to)));
    let starts = weights
        .start
        .iter()
        .zip(&names)
        .map(|(&w, name)| (w, START, *name));
    let ends = weights
        .end
        .iter()
        .zip(&names)
        .map(|(&w, name)| (w, *name, END));
    let mut all: Vec<(f64, &str, &str)> = pairs.chain(starts).chain(ends).collect();
    let total = all.len();
    all.retain(|(weight, ..)| *weight != 0.0);
    all.sort_by(|x, y| y.0.abs().total_cmp(&x.0.abs()));
    all.truncate(count);
    all.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut text = format!(
        "\nstrongest {} of {total} transition weights (--json has all)\n",
        all.len()
    );
    for (weight, from, to) in all {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{weight:10.4}  {from} → {to}");
    }
    text
}
