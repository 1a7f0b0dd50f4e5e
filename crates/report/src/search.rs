//! The section on a search: its table, and what it says of the best configuration.

use dropchain::{Error, Place, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::log::read_lines;
use crate::training::command;
use crate::views::{Section, Table};

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

/// Shows the search of a log.
///
/// # Errors
///
/// [`Error::Input`] with the line if it is no such log, or has no end.
pub fn search(text: &str, file: &str) -> Result<Section> {
    let mut section = Section::new("search", "Search");
    let mut has_ended = false;
    for (_, line) in read_lines(text, file)? {
        match line {
            Line::Start { config } => {
                config.as_ref().and_then(command).into_iter().for_each(|text| section.text(text));
            }
            Line::End { table, notes } => {
                let mut rows = table.into_iter();
                let caption = format!("{file}: configurations, the best first");
                let mut table = Table::new(caption, rows.next().unwrap_or_default());
                for (i, row) in rows.enumerate() {
                    table.row(row).is_best = i == 0;
                }
                section.table(table);
                section.list(notes);
                has_ended = true;
            }
            Line::Other => {}
        }
    }
    let message = "the search has not ended; expected its log once `tune` is done";
    if has_ended { Ok(section) } else { Err(Error::input(Place::file(file), message)) }
}
