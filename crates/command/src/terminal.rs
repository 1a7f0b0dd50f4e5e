//! The size of the terminal, and plots of scores by rates of damage.

use std::io;
use std::str::FromStr;

use dropchain_layout::format_table;
use terminal_size::{Height, Width, terminal_size_of};

/// The width of output that does not go to a terminal.
const DEFAULT: usize = 80;

/// The narrowest terminal that output is made for.
const MINIMUM: usize = 40;

/// Returns the number of columns of the output: those of the terminal, or 80.
pub fn columns() -> usize {
    of_output().unwrap_or(DEFAULT)
}

/// Returns the number of columns of the terminal that notices go to, if they do.
pub fn of_notices() -> Option<usize> {
    terminal_size_of(io::stderr()).map(of_terminal)
}

/// Returns the number of columns of the terminal that the output goes to, if it does.
pub fn of_output() -> Option<usize> {
    terminal_size_of(io::stdout()).map(of_terminal)
}

fn of_terminal((width, _): (Width, Height)) -> usize {
    usize::from(width.0).max(MINIMUM)
}

/// Length of the bar of a score of 1.
const BAR: f64 = 40.0;

/// Rates of damage, from 0 to 1.
#[derive(Clone, Debug)]
pub struct Rates(pub Vec<f64>);

impl FromStr for Rates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("'{text}' is no list of rates; expected 0..0.9, or 0,0.25,0.5");
        let number = |text: &str| {
            let rate = text.trim().parse().ok();
            rate.filter(|rate: &f64| (0.0..=1.0).contains(rate)).ok_or_else(fault)
        };
        if let Some((first, last)) = text.split_once("..") {
            let (first, last) = (number(first)?, number(last)?);
            let steps = ((last - first) * 10.0).round();
            if steps < 0.0 {
                return Err(fault());
            }
            let rates = (0..=steps as u32).map(|i| first + f64::from(i) / 10.0);
            return Ok(Self(rates.filter(|rate| *rate < last + 1e-9).collect()));
        }
        let rates = text.split(',').map(number);
        rates.collect::<Result<_, _>>().map(Self)
    }
}

/// Returns a table of scores by rate, with a bar for the first score, a fraction; the others are
/// formatted.
pub fn damage_table(heading: &[&str], rows: &[(f64, f64, Vec<String>)]) -> String {
    let heading = heading.iter().map(|name| (*name).to_owned());
    let heading: Vec<String> = heading.chain([String::new()]).collect();
    let rows = rows.iter().map(|(rate, score, others)| {
        let bar = "█".repeat((BAR * score).round() as usize);
        let mut row = vec![format!("{rate:.2}"), format!("{:.2}", 100.0 * score)];
        row.extend(others.iter().cloned());
        row.push(format!("{bar:<40}"));
        row
    });
    format_table([heading].into_iter().chain(rows))
}
