//! View model of the page's template: sections of blocks.

use serde::Serialize;
use serde_json::Value;

use crate::plot::{Mark, Plot, Series, swatch};

/// A section of the page.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    pub id: &'static str,
    title: &'static str,
    blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
enum Block {
    Heading(String),
    Text(String),
    Note(String),
    List(Vec<String>),
    Summary(Box<Summary>),
    Figures(Vec<Figure>),
    Table(Table),
    /// Tables side by side.
    Tables(Vec<Table>),
    Details(String, Vec<Table>),
    Errors(Value),
}

impl Section {
    pub fn new(id: &'static str, title: &'static str) -> Self {
        let blocks = Vec::new();
        Self { id, title, blocks }
    }

    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    pub fn note(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Note(text.into()));
    }

    /// Adds a table, unless it is empty.
    pub fn table(&mut self, table: Table) {
        let table = Some(table).filter(|table| !table.rows.is_empty());
        self.blocks.extend(table.map(Block::Table));
    }

    /// Adds tables side by side.
    pub fn tables(&mut self, tables: Vec<Table>) {
        self.blocks.push(Block::Tables(tables));
    }

    /// Adds the results that a reader looks for first.
    pub fn summary(&mut self, summary: Summary) {
        self.blocks.push(Block::Summary(Box::new(summary)));
    }

    /// Adds a list of sentences.
    pub fn list(&mut self, sentences: Vec<String>) {
        self.blocks.push(Block::List(sentences));
    }

    /// Adds tables that are folded.
    pub fn details(&mut self, summary: &str, tables: Vec<Table>) {
        self.blocks.push(Block::Details(summary.to_owned(), tables));
    }

    /// Adds plots side by side.
    pub fn figures(&mut self, figures: impl IntoIterator<Item = Option<Figure>>) {
        let figures = figures.into_iter().flatten().collect();
        self.blocks.push(Block::Figures(figures));
    }

    /// Adds errors, as the template takes them.
    pub fn errors(&mut self, errors: Value) {
        self.blocks.push(Block::Errors(errors));
    }
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

impl Cell {
    pub fn new(text: impl Into<String>, class: &'static str, share: impl Into<String>) -> Self {
        let (text, share) = (text.into(), share.into());
        Self { text, class, share, link: None }
    }
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
            let text = Some(text.into()).filter(|text| !text.is_empty());
            row.cells.push(Cell::new(text.unwrap_or("–".to_owned()), "", ""));
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

/// Returns the series of one of `count` things, by its number: those beyond the first few are not
/// told apart.
pub fn series((number, count): (usize, usize), name: &str, points: Vec<(f64, f64)>) -> Series {
    let mut series = Series::new(number, Mark::LineAndPoints, points).name(name);
    series.is_rest = number >= told(count);
    series
}

/// Number of things that curves tell apart, if there are more of them.
pub const TOLD: usize = 5;

/// Returns how many of so many things have a style of their own in plots.
pub fn told(count: usize) -> usize {
    count.min(TOLD)
}

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
    match name {
        "" => "(no type)".to_owned(),
        name => name.to_owned(),
    }
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
