//! The section on a search: its table, and what it says of the best configuration.

use dropchain::{Error, Place, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::log::read_lines;
use crate::training::{command, values};
use crate::views::{Block, Rank, Section, Table, Tile};

/// A search, as its log tells it.
#[derive(Debug)]
pub struct Search {
    /// The command that repeats it.
    pub command: Option<String>,
    /// The training files.
    pub files: Vec<String>,
    table: Table,
    notes: Vec<String>,
}

/// A line of the log of a search.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    Start {
        /// The options as given.
        config: Option<Value>,
    },
    End {
        /// A row of headings, then the configurations, the best first.
        table: Vec<Vec<String>>,
        notes: Vec<String>,
    },
    #[serde(other)]
    Other,
}

/// Returns whether a log, given its text, is that of a search.
pub fn is_search(text: &str) -> bool {
    let first = text.lines().next().map(serde_json::from_str::<Value>);
    first.is_some_and(|first| first.is_ok_and(|first| first["plan"].is_object()))
}

impl Search {
    /// Reads a log, given its text and the name of its file.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the line if it is no such log, or has no end.
    pub fn read(text: &str, file: &str) -> Result<Self> {
        let (mut config, mut search) = (None, None);
        for (_, line) in read_lines(text, file)? {
            match line {
                Line::Start { config: given } => config = given,
                Line::End { table, notes } => search = Some((table_of(table, file), notes)),
                Line::Other => {}
            }
        }
        let Some((table, notes)) = search else {
            let message = "the search has not ended; expected its log once `tune` is done";
            return Err(Error::input(Place::file(file), message));
        };
        let files = config.iter().flat_map(|config| values(&config["options"]["input"]));
        let files = files.filter_map(|file| file.as_str().map(str::to_owned)).collect();
        Ok(Self { command: config.as_ref().and_then(command), files, table, notes })
    }

    /// Returns the highest score.
    pub fn tile(&self) -> Option<Tile> {
        let is_score = |name: &String| name.starts_with("dev ") || name.starts_with("mean ");
        let column = self.table.head.iter().position(is_score)?;
        let best = self.table.rows.first()?.cells.get(column)?;
        let ties = self.table.rows.iter().filter(|row| row.rank == Rank::Tied).count();
        let all = self.table.rows.len();
        Some(Tile {
            name: format!("Highest {}", self.table.head[column]),
            value: best.text.clone(),
            note: match ties {
                0 => format!("of {all} configurations"),
                _ => format!("not told apart from {ties} of {all} configurations"),
            },
        })
    }

    /// Returns the section on searches.
    pub fn section(searches: Vec<Self>) -> Option<Section> {
        let blocks = searches.into_iter();
        let blocks = blocks.flat_map(|one| [Block::Table(one.table), Block::List(one.notes)]);
        let blocks: Vec<Block> = blocks.collect();
        (!blocks.is_empty()).then_some(Section { id: "search", title: "Search", blocks })
    }
}

/// Returns the table of a log. Its column of marks becomes the ranks of rows.
fn table_of(rows: Vec<Vec<String>>, file: &str) -> Table {
    let mut rows = rows.into_iter();
    let mut head = rows.next().unwrap_or_default();
    let marks = head.iter().position(String::is_empty);
    marks.map(|column| head.remove(column));
    let mut table = Table::new(format!("{file}: configurations, the best first"), head);
    for mut row in rows {
        let mark = marks.filter(|&column| column < row.len()).map(|column| row.remove(column));
        table.row(row).rank = match mark.as_deref() {
            Some("★") => Rank::Highest,
            Some("≈") => Rank::Tied,
            _ => Rank::Lower,
        };
    }
    table
}
