//! What the template of the page shows in several places.

use serde::Serialize;

use super::plot::{self, Mark, Plot, Series};
use dropchain::Result;

/// A table of text.
#[derive(Debug, Default, Serialize)]
pub struct Table {
    pub caption: String,
    pub head: Vec<String>,
    pub rows: Vec<TableRow>,
    pub note: String,
}

/// A row of a table.
#[derive(Debug, Serialize)]
pub struct TableRow {
    pub cells: Vec<String>,
    /// Whether to emphasize it.
    pub is_best: bool,
}

impl Table {
    pub fn new(caption: &str, head: &[&str]) -> Self {
        Self {
            caption: caption.to_owned(),
            head: head.iter().map(|&cell| cell.to_owned()).collect(),
            ..Self::default()
        }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        let is_best = false;
        self.rows.push(TableRow { cells, is_best });
    }
}

/// A plot with its title and a description for those who do not see it.
#[derive(Debug, Serialize)]
pub struct Figure {
    pub title: String,
    pub description: String,
    pub svg: String,
}

impl Figure {
    /// Draws a plot; `None` if there is nothing to draw.
    pub fn draw(title: &str, description: String, plot: &Plot) -> Result<Option<Self>> {
        Ok(plot.svg()?.map(|svg| Self {
            title: title.to_owned(),
            description,
            svg,
        }))
    }
}

/// What a letter and a color stand for.
#[derive(Debug, Serialize)]
pub struct LegendEntry {
    pub letter: String,
    pub color: usize,
    pub name: String,
}

/// Names the things of a list by letters and colors.
pub fn legend<'a>(names: impl Iterator<Item = &'a str>) -> Vec<LegendEntry> {
    let names = names.enumerate();
    names
        .map(|(i, name)| LegendEntry {
            letter: letter(i),
            color: i % plot::colors(),
            name: name.to_owned(),
        })
        .collect()
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
        best: None,
    }
}

/// Formats a fraction in percent, with two digits.
pub fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
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
        let texts = [0, 999, 1000, 1_234_567].map(count);
        assert_eq!(
            texts,
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!(
            [1, 2].map(|n| count_of(n, "error")),
            ["1 error", "2 errors"]
        );
    }
}
