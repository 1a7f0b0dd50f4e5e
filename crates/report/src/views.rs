//! What the template of the page shows: sections of blocks.

use serde::Serialize;

use crate::plot::{COLORS, Mark, Plot, Series};
use crate::sentences::SentenceList;

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
    Legend(Vec<LegendEntry>),
    Figures(Vec<Figure>),
    Table(Table),
    Details { summary: String, tables: Vec<Table> },
    Errors(SentenceList),
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
        if !table.rows.is_empty() {
            self.blocks.push(Block::Table(table));
        }
    }

    /// Adds tables that are folded.
    pub fn details(&mut self, summary: &str, tables: Vec<Table>) {
        let summary = summary.to_owned();
        self.blocks.push(Block::Details { summary, tables });
    }

    /// Adds plots side by side.
    pub fn figures(&mut self, figures: impl IntoIterator<Item = Option<Figure>>) {
        let figures = figures.into_iter().flatten().collect();
        self.blocks.push(Block::Figures(figures));
    }

    pub fn errors(&mut self, errors: SentenceList) {
        self.blocks.push(Block::Errors(errors));
    }

    /// Names the things of a list by letters and colors, if there are several.
    pub fn legend(&mut self, names: &[&str]) {
        let names = names.iter().enumerate().map(|(i, name)| LegendEntry {
            letter: letter(i),
            color: i % COLORS,
            name: (*name).to_owned(),
        });
        if names.len() > 1 {
            self.blocks.push(Block::Legend(names.collect()));
        }
    }
}

/// What a letter and a color stand for.
#[derive(Clone, Debug, Serialize)]
struct LegendEntry {
    letter: String,
    color: usize,
    name: String,
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
    /// How much of it is shaded, in percent.
    pub share: String,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        let text = if text.is_empty() {
            "–".to_owned()
        } else {
            text
        };
        Self {
            text,
            ..Self::default()
        }
    }
}

impl Table {
    pub fn new<S: AsRef<str>>(caption: &str, head: &[S]) -> Self {
        Self {
            caption: caption.to_owned(),
            head: head.iter().map(|cell| cell.as_ref().to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Creates a table whose first two columns are a letter and what it names.
    pub fn named<S: AsRef<str>>(caption: &str, head: &[S]) -> Self {
        let mut table = Self::new(caption, head);
        table.head.insert(0, String::new());
        table.class = "named";
        table
    }

    /// Adds a row of texts; a dash stands for empty ones.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> &mut Row {
        let cells = cells.into_iter().map(|cell| Cell::from(cell.into()));
        let cells: Vec<Cell> = match self.class {
            "named" => [Cell::from(letter(self.rows.len()))]
                .into_iter()
                .chain(cells)
                .collect(),
            _ => cells.collect(),
        };
        let i = self.rows.len();
        self.rows.push(Row {
            cells,
            is_best: false,
        });
        &mut self.rows[i]
    }
}

/// A plot with its title and a description for those who do not see it.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    title: String,
    description: String,
    svg: String,
}

/// What describes plots beside a table.
pub const IN_TABLE: &str = "The table has the same numbers.";

impl Figure {
    /// Draws a plot; `None` if there is nothing to draw.
    pub fn draw(title: impl Into<String>, description: &str, plot: &Plot) -> Option<Self> {
        Some(Self {
            title: title.into(),
            description: description.to_owned(),
            svg: plot.svg()?,
        })
    }
}

/// Returns a letter for the number of a thing: A, B, …, Z, A2, B2, …
pub fn letter(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{}", round + 1),
    }
}

/// Returns the curve of one of `count` things, with its letter if there are several.
pub fn curve(number: usize, count: usize, points: Vec<(f64, f64)>) -> Series {
    Series {
        color: number,
        letter: match count {
            1 => String::new(),
            _ => letter(number),
        },
        mark: Mark::LineAndPoints,
        points,
        ..Series::default()
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
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
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
            [
                "0 errors",
                "999 errors",
                "1\u{202f}000 errors",
                "1\u{202f}234\u{202f}567 errors"
            ]
        );
        assert_eq!(count_of(1, "error"), "1 error");
    }
}
