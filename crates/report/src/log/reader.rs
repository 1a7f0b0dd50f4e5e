//! Reading logs.

use dropchain::train::{End, Iteration, Pass, Start};
use dropchain::{Error, Place, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Header, Record};

/// Number of characters of a line to quote.
const QUOTE: usize = 60;

/// A training run, as far as it was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The part of a training in two passes.
    pub pass: Option<Pass>,
    /// Properties of the run that the program recorded.
    pub header: Header,
    /// The state before the first iteration.
    pub start: Start,
    /// The iterations; a run that was resumed has each of them once.
    pub iterations: Vec<Iteration>,
    /// The result; `None` if the run was killed or is still running.
    pub end: Option<End>,
}

/// Reads the runs in a log, given its text and the name of its file.
///
/// # Errors
///
/// [`Error::Input`] with the line if it is no log of training.
pub fn read_runs(text: &str, file: &str) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut pass, mut resumed) = (None, None);
    for (place, record) in read_lines::<Record<'static>>(text, file)? {
        let last = || {
            let message = "expected the line \"start\" before this event";
            runs.last_mut().ok_or_else(|| Error::input(place, message))
        };
        match record {
            Record::Pass(next) => pass = Some(next),
            Record::Resumed { iterations } => resumed = Some(iterations),
            Record::Start { header, start } => {
                let iterations = match resumed.take() {
                    Some(number) => rewind(&mut runs, pass, number),
                    None => Vec::new(),
                };
                runs.push(Run {
                    pass: pass.take(),
                    header: header.into_owned(),
                    start: start.into_owned(),
                    iterations,
                    end: None,
                });
            }
            Record::Iteration(iteration) => last()?.iterations.push(iteration.into_owned()),
            Record::End(end) => last()?.end = Some(end.into_owned()),
            Record::Match(_) | Record::Other => {}
        }
    }
    Ok(runs)
}

/// Removes the last run of a pass and those after it; returns its first iterations.
fn rewind(runs: &mut Vec<Run>, pass: Option<Pass>, number: usize) -> Vec<Iteration> {
    let Some(i) = runs.iter().rposition(|run| run.pass == pass) else {
        return Vec::new();
    };
    let run = runs.drain(i..).next();
    let mut iterations = run.map(|run| run.iterations).unwrap_or_default();
    iterations.retain(|iteration| number > 0 && iteration.number <= number);
    iterations
}

/// Parses the lines of a log, given its text and the name of its file. A line that a killed run
/// left incomplete is skipped.
///
/// # Errors
///
/// [`Error::Input`] with the line that is no such record.
pub fn read_lines<T: DeserializeOwned>(text: &str, file: &str) -> Result<Vec<(Place, T)>> {
    let mut records = Vec::new();
    let mut lines = (1..).zip(text.split_inclusive('\n')).peekable();
    while let Some((number, line)) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let place = Place::line(file, number);
        match serde_json::from_str(line) {
            Ok(record) => records.push((place, record)),
            Err(e) if e.is_data() => {
                // Its place is that in the line.
                let message = e.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                return Err(Error::input(place, format!("{message} in {}", quote(line))));
            }
            Err(_) => {
                let is_cut = match lines.peek() {
                    None => !line.ends_with('\n'),
                    Some((_, next)) => next.starts_with("{\"event\":\"resumed\""),
                };
                if records.is_empty() || !is_cut {
                    let message = format!("found {}; expected a log in JSON lines", quote(line));
                    return Err(Error::input(place, message));
                }
            }
        }
    }
    Ok(records)
}

fn quote(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(QUOTE) {
        Some((end, _)) => format!("{:?}…", &line[..end]),
        None => format!("{line:?}"),
    }
}
