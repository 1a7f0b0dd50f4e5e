//! View model of the page's template: sections of blocks.

use serde::Serialize;
use serde_json::Value;

use crate::plot::{Plot, swatch};

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
    /// Text shown in print only.
    OnPaper(String),
    Tiles(Vec<Tile>),
    List(Vec<String>),
    /// Keys, letters and names.
    Legend(Vec<(String, String, String)>),
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

    /// Adds a note that is seen on paper alone.
    pub fn on_paper(&mut self, text: String) {
        self.blocks.push(Block::OnPaper(text));
    }

    /// Adds the warning that the weights of a run or system have not seen the noise that was asked
    /// for, and what that means for `another` beside it, if there is one.
    pub fn warning_of_noise(&mut self, name: &str, warning: &str, another: Option<&str>) {
        self.note(format!("{name}: {warning}."));
        if let Some(another) = another {
            self.note(format!(
                "What differs between {name} and {another} is not the effect of its noise."
            ));
        }
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
    pub fn tiles(&mut self, tiles: Vec<Tile>) {
        self.blocks.push(Block::Tiles(tiles));
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

    /// Adds sentences with errors, as the template takes them.
    pub fn errors(&mut self, errors: Value) {
        self.blocks.push(Block::Errors(errors));
    }

    /// Names the things of a list by their short names and styles, if there are several: the first,
    /// which are told apart, as lines with marks or without.
    pub fn legend(&mut self, names: &[&str], short: fn(usize) -> String, are_marked: bool) {
        let told = told(names.len());
        let entries = names[..told].iter().enumerate();
        let entries = entries.map(|(i, name)| {
            let key = swatch(Some(i), are_marked);
            (key, short(i), (*name).to_owned())
        });
        let mut entries: Vec<(String, String, String)> = entries.collect();
        if told < names.len() {
            let others = format!("{} others", names.len() - told);
            entries.push((swatch(None, false), String::new(), others));
        }
        if names.len() > 1 {
            self.blocks.push(Block::Legend(entries));
        }
    }
}

/// A result that a reader looks for first.
#[derive(Clone, Debug, Serialize)]
pub struct Tile {
    pub name: String,
    pub value: String,
    pub note: String,
}

/// A table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    pub caption: String,
    pub class: &'static str,
    pub head: Vec<String>,
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    pub cells: Vec<Cell>,
    /// Whether to emphasize it.
    pub is_best: bool,
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

/// A link to the errors of a system, as its filter takes them.
#[derive(Clone, Debug, Serialize)]
pub struct Link {
    system: String,
    gold: String,
    predicted: String,
}

impl Link {
    /// Links to the errors with these gold and predicted types; `none` stands for no span.
    pub fn to_errors(system: &str, [gold, predicted]: [&str; 2], none: &str) -> Self {
        let value = |name: &str| match name == none {
            true => NO_TYPE.to_owned(),
            false => format!("={name}"),
        };
        Self { system: system.to_owned(), gold: value(gold), predicted: value(predicted) }
    }
}

/// Value of the error filter for "no type"; values of types begin with `=`.
const NO_TYPE: &str = "-";

impl Cell {
    pub fn new(text: impl Into<String>, class: &'static str, share: impl Into<String>) -> Self {
        let (text, share) = (text.into(), share.into());
        Self { text, class, share, link: None }
    }
}

impl Table {
    /// Creates a table with the heads of its columns.
    pub fn new(caption: impl Into<String>, head: Vec<String>) -> Self {
        let (caption, class, rows) = (caption.into(), "", Vec::new());
        Self { caption, class, head, rows }
    }

    /// Creates a table whose first two columns are a short name and what it stands for.
    pub fn named(caption: &str, mut head: Vec<String>) -> Self {
        head.insert(0, String::new());
        let class = "named";
        Self { class, ..Self::new(caption, head) }
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

/// A plot with its title and a description for those who do not see it.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    title: String,
    description: String,
    svg: String,
}

/// Caption of plots beside a table.
pub const IN_TABLE: &str = "The table has the same numbers.";

impl Figure {
    /// Draws a plot; `None` if there is nothing to draw.
    pub fn draw(title: impl Into<String>, description: &str, plot: &Plot) -> Option<Self> {
        let (title, description, svg) = (title.into(), description.to_owned(), plot.svg()?);
        Some(Self { title, description, svg })
    }
}

/// Number of things that curves tell apart, if there are more of them.
pub const TOLD: usize = 5;

/// Returns how many of so many things have a style and a letter of their own in plots.
pub fn told(count: usize) -> usize {
    count.min(TOLD)
}

/// Returns the short name of a system, which no run has.
pub fn system(number: usize) -> String {
    format!("M{}", number + 1)
}

/// Returns the short name of a run: A, B, …, Z, A2, B2, …
pub fn letter(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{}", round + 1),
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
}
