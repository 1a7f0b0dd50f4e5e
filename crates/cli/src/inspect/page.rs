//! A model on a page: what it is, its transitions as a shaded matrix, the top weights side by side.

use dropchain::Model;
use dropchain::Result;
use dropchain_analysis::ModelSummary;
use dropchain_layout::{Paint, cut, pad, printable, shade, styled, width, wrap};

/// Lines of the page, unless facts are long.
const LINES: usize = 38;

/// The most labels of the matrix.
const MAX_LABELS: usize = 17;

/// Columns of a weight of the matrix, with the blank before it, if there are many labels.
const NARROW: usize = 5;

/// The most columns of the name of a label.
const NAME: usize = 12;

/// Columns of an attribute with its weight, at least.
const ATTRIBUTE: usize = 34;

/// The most attributes of a label.
const ATTRIBUTES: usize = 3;

/// Columns before the value of a fact.
const FACT: usize = 13;

const START: &str = "start";
const END: &str = "end";

/// The widths of a matrix that fits a terminal.
struct Layout {
    columns: usize,
    name: usize, // of rows
    cell: usize, // with the blank before it
    labels: usize,
}

impl Layout {
    /// Chooses the widths: names in full if all labels then fit, else few columns for each.
    fn new(names: &[String], columns: usize) -> Self {
        let longest = names.iter().map(|name| width(name)).max().unwrap_or(0).min(NAME);
        let name = longest.max(START.len());
        let fit = |cell: usize| (columns.saturating_sub(name) / cell).saturating_sub(1).max(1);
        let wide = longest.max(NARROW) + 1;
        let cell = if fit(wide) >= names.len() { wide } else { NARROW };
        Self { columns, name, cell, labels: fit(cell).min(MAX_LABELS) }
    }
}

/// Returns the page, painted. With `lists`, lists of all attributes follow, and it has none.
pub fn page(model: &Model, columns: usize, lists: bool) -> Result<String> {
    let layout = Layout::new(model.header().labels.names(), columns);
    let summary = ModelSummary::of(model, layout.labels, ATTRIBUTES)?;
    let mut text = String::new();
    for (name, value) in &summary.facts {
        let line = wrap(&printable(value), columns.saturating_sub(FACT), 0);
        text += &format!("{name:FACT$}{}\n", line.replace('\n', &format!("\n{:FACT$}", "")));
    }
    text += &matrix(&summary, &layout);
    let lines = text.lines().count();
    if !lists {
        text += &attributes(&summary, &layout, LINES.saturating_sub(lines + 2).max(4));
    }
    Ok(text)
}

/// Returns the transitions, shaded by weight.
fn matrix(summary: &ModelSummary, layout: &Layout) -> String {
    let Some(largest) = largest(summary.transitions.iter().flatten()) else {
        return "\nno transition has a weight\n".to_owned();
    };
    let digits = layout.cell - 1;
    let heading = summary.labels.iter().map(String::as_str).chain([END]);
    let heading: String =
        heading.map(|name| right(&shortened(name, digits), layout.cell)).collect();
    let mut text = title("transitions from row to column", summary.labels.len(), summary);
    text += &format!("{:1$}{heading}\n", "", layout.name);
    let names = [START].into_iter().chain(summary.labels.iter().map(String::as_str));
    for (name, row) in names.zip(&summary.transitions) {
        text += &pad(&cut(&printable(name), layout.name), layout.name);
        for weight in row {
            let number = number(*weight, digits, largest);
            text += &styled(shade(weight / largest), &right(&number, layout.cell));
        }
        text.push('\n');
    }
    text
}

/// Returns the strongest attributes of the first labels, one label a line.
fn attributes(summary: &ModelSummary, layout: &Layout, lines: usize) -> String {
    let weights = summary.attributes.iter().flatten().map(|(weight, _)| weight);
    let Some(largest) = largest(weights) else {
        return String::new();
    };
    let shown = summary.labels.len().min(lines);
    let rest = layout.columns.saturating_sub(layout.name);
    let number_of = (rest / ATTRIBUTE).clamp(1, ATTRIBUTES);
    let of_each = rest / number_of;
    let mut text = title("top attributes of a label", shown, summary);
    for (label, top) in summary.labels.iter().zip(&summary.attributes).take(shown) {
        text += &pad(&cut(&printable(label), layout.name), layout.name);
        for (weight, attribute) in top.iter().take(number_of) {
            let number = right(&number(*weight, 4, largest), 5);
            let room = of_each.saturating_sub(7);
            let name = cut(&printable(attribute), room);
            text += " ";
            text += &styled(shade(weight / largest), &number);
            text += &pad(&format!(" {name}"), of_each.saturating_sub(6));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// Returns a title, which says if not all labels are shown.
fn title(text: &str, shown: usize, summary: &ModelSummary) -> String {
    let part = match summary.all_labels {
        all if all > shown => format!(" ({shown} of {all} labels; --all)"),
        _ => String::new(),
    };
    format!("\n{}{part}\n", Paint::Title.on(text))
}

/// Returns the largest absolute value, if any is not 0.
fn largest<'a>(weights: impl Iterator<Item = &'a f64>) -> Option<f64> {
    let largest = weights.fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
    (largest > 0.0).then_some(largest)
}

/// Formats a weight in a few columns, with as many digits as the largest one has room for.
fn number(weight: f64, columns: usize, largest: f64) -> String {
    let before = format!("-{largest:.0}.").len();
    let decimals = columns.saturating_sub(before).min(2);
    match format!("{weight:.decimals$}") {
        _ if before > columns + 1 => format!("{weight:.0e}"),
        zero if zero.trim_start_matches(['-', '0', '.']).is_empty() => zero.replace('-', ""),
        number => number,
    }
}

/// Returns the beginning of a name.
fn shortened(name: &str, columns: usize) -> String {
    let mut short = printable(name);
    while width(&short) > columns {
        short.pop();
    }
    short
}

/// Returns a text with blanks before it.
fn right(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width(text))) + text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_the_digits_that_fit() {
        for (weight, columns, largest, expected) in [
            (-1.234, 6, 2.0, "-1.23"),
            (-1.234, 4, 2.0, "-1.2"),
            (-0.04, 4, 2.0, "0.0"),
            (0.5, 4, 12.0, "0"),
            (-12.3, 5, 12.3, "-12.3"),
            (-123.4, 4, 123.4, "-123"),
            (1e9, 4, 1e9, "1e9"),
        ] {
            assert_eq!(number(weight, columns, largest), expected, "{weight} {columns}");
        }
    }

    #[test]
    fn all_labels_are_shown_as_far_as_they_fit() {
        let names = |n: usize| (0..n).map(|i| format!("B-{i:04}")).collect::<Vec<_>>();
        for (n, columns, expected) in [
            (9, 80, (7, 9)),
            (9, 60, (5, 9)),
            (17, 80, (5, 13)),
            (17, 100, (5, 17)),
            (4096, 200, (5, 17)),
            (4096, 40, (5, 5)),
        ] {
            let layout = Layout::new(&names(n), columns);
            assert_eq!((layout.cell, layout.labels.min(n)), expected, "{n} {columns}");
        }
    }
}
