//! View model of the page's template: sections of blocks.

use serde::Serialize;
use serde_json::Value;

use crate::plot::{Mark, Plot, Point, Series, swatch};

/// A section of the page.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    pub id: &'static str,
    pub title: &'static str,
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
pub enum Block {
    Heading(String),
    Text(String),
    Note(String),
    List(Vec<String>),
    Summary(Box<Summary>),
    /// Plots side by side.
    Figures(Vec<Figure>),
    /// A table; an empty one is not shown.
    Table(Table),
    /// Tables side by side.
    Tables(Vec<Table>),
    /// Tables that are folded, and what is shown of them.
    Details(&'static str, Vec<Table>),
    /// Errors, as the template takes them.
    Errors(Value),
}

/// What a reader looks for first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    pub tiles: Vec<Tile>,
    pub figure: Option<Figure>,
    pub verdicts: Vec<String>,
    pub facts: Vec<Fact>,
}

/// A result.
#[derive(Clone, Debug, Serialize)]
pub struct Tile {
    pub name: String,
    pub value: String,
    pub note: String,
}

/// What was trained or evaluated.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    pub name: &'static str,
    pub values: Vec<String>,
    pub is_code: bool,
}

/// A table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    pub caption: String,
    pub class: &'static str,
    /// Names of groups of columns and the number of columns in each, if there are groups.
    pub groups: Vec<(String, usize)>,
    pub head: Vec<String>,
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub cells: Vec<Cell>,
    pub rank: Rank,
}

/// What the order of rows says of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// The highest score.
    Highest,
    /// Not told apart from the highest.
    Tied,
    #[default]
    Lower,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    pub text: String,
    pub class: &'static str,
    /// Shaded share of the cell, in percent.
    pub share: String,
    pub link: Option<Link>,
}

/// A link to the errors of a system.
#[derive(Clone, Debug, Serialize)]
pub struct Link {
    /// The id of what it leads to.
    pub id: String,
    /// The number of the system.
    pub system: usize,
    /// What the number in the cell counts, for those who do not see its row and column.
    pub label: String,
}

impl Table {
    /// Creates a table with the heads of its columns.
    pub fn new(caption: impl Into<String>, head: Vec<String>) -> Self {
        Self { caption: caption.into(), head, ..Self::default() }
    }

    /// Adds a row of texts; a dash stands for empty ones.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Row {
        let mut row = Row::default();
        for text in cells {
            let text = Some(text.into()).filter(|text| !text.is_empty()).unwrap_or("–".to_owned());
            row.cells.push(Cell { text, ..Cell::default() });
        }
        self.rows.push(row);
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }
}

/// Splits the heads of columns at commas.
pub fn heads(text: &str) -> Vec<String> {
    text.split(", ").map(str::to_owned).collect()
}

/// A plot with its title, what to know of it, and a description for those who do not see it.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    title: String,
    description: String,
    svg: String,
    /// Keys, letters and names of the series.
    legend: Vec<(String, String, String)>,
    note: String,
}

impl Figure {
    /// Draws a plot; `None` if there is nothing to draw. Without letters at the curves, several
    /// have a legend.
    pub fn draw(title: impl Into<String>, description: &str, plot: &Plot) -> Option<Self> {
        let (title, description, svg) = (title.into(), description.to_owned(), plot.svg()?);
        let lettered = plot.series.iter().any(|series| !series.letter.is_empty());
        let legend = if lettered { Vec::new() } else { legend(plot) };
        Some(Self { title, description, svg, legend, note: String::new() })
    }

    /// Adds a legend, where curves have letters.
    pub fn with_legend(mut self, plot: &Plot) -> Self {
        self.legend = legend(plot);
        self
    }

    /// Sets what is to know of the plot.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// Returns the keys, letters and names of several series.
fn legend(plot: &Plot) -> Vec<(String, String, String)> {
    let is_told = |series: &&Series| series.mark != Mark::Reference && !series.is_rest;
    let mut entries = Vec::new();
    for series in plot.series.iter().filter(is_told) {
        let key = swatch(Some(series.color), series.mark == Mark::LineAndPoints);
        let name = series.name.strip_prefix(&series.letter).unwrap_or(&series.name);
        entries.push((key, series.letter.clone(), name.trim_start().to_owned()));
    }
    let rest = plot.series.iter().filter(|series| series.is_rest).count();
    if rest > 0 {
        entries.push((swatch(None, false), String::new(), format!("{rest} others")));
    }
    if entries.len() > 1 { entries } else { Vec::new() }
}

/// Returns the series of one of several things, by its number: those beyond the first few are not
/// told apart.
pub fn series(number: usize, name: &str, points: Vec<Point>) -> Series {
    let is_rest = number >= TOLD;
    Series { is_rest, ..Series::new(number, Mark::LineAndPoints, points).name(name) }
}

/// Number of things that curves tell apart, if there are more of them.
pub const TOLD: usize = 5;

/// Returns the short name of a run: A, B, …, Z, A2, B2, …
pub fn letter(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{}", round + 1),
    }
}

/// Returns the first `max` different values, and how many more there are.
pub fn distinct(values: Vec<String>, max: usize) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for value in values {
        if !value.is_empty() && !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    let more = distinct.len().saturating_sub(max);
    if more > 0 {
        distinct.truncate(max);
        distinct.push(format!("… and {more} more"));
    }
    distinct
}

/// Returns a type as it is shown.
pub fn name_of(name: &str) -> String {
    if name.is_empty() { "(no type)" } else { name }.to_owned()
}

/// Formats a fraction in percent, with two digits.
pub fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}

/// Formats what may be absent.
pub fn or_empty<T>(value: Option<T>, format: impl Fn(T) -> String) -> String {
    value.map(format).unwrap_or_default()
}

/// Formats a number of things with a thin space between thousands.
pub fn count(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{}\u{202f}{:03}", count(number / 1000), number % 1000),
    }
}

/// Formats a number of things with the word for them, whose plural ends in s.
pub fn count_of(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_have_different_letters() {
        assert_eq!([0, 25, 26, 53].map(letter), ["A", "Z", "A2", "B3"]);
    }

    #[test]
    fn thousands_are_separated() {
        let texts = [0, 999, 1000, 1_234_567].map(|n| count_of(n, "error"));
        assert_eq!(
            texts,
            ["0 errors", "999 errors", "1\u{202f}000 errors", "1\u{202f}234\u{202f}567 errors"]
        );
        assert_eq!(count_of(1, "error"), "1 error");
    }

    #[test]
    fn values_are_shown_once_and_not_too_many() {
        let values = ["a", "b", "a", "", "c", "d", "e"].map(str::to_owned);
        assert_eq!(distinct(values.to_vec(), 3), ["a", "b", "c", "… and 2 more"]);
    }
}
