//! The file of a run record.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Deserialize;

use super::Record;
use dropchain::atomic_file;
use dropchain::error::{Error, Result};

/// Writes a run record to a file, every line at once.
///
/// An older file is replaced with the first iteration after the starting point, or with the end:
/// a run that learns nothing keeps it. The lines before are written then.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Lines that wait for the first iteration.
    Waiting(Vec<u8>),
    Open(File),
    /// Writing has failed.
    Failed,
}

impl Log {
    /// Creates a log. Pipes and terminals are opened for writing; of other files it is checked that
    /// they can be written.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written; [`Error::Parameter`] if it is a
    /// directory.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let state = if atomic_file::is_special(&path) {
            // Appends, in case it is a redirected standard output with other lines.
            let file = OpenOptions::new().append(true).open(&path);
            State::Open(file.map_err(|e| Error::io(&path, e))?)
        } else {
            atomic_file::check_writable(&path)?;
            State::Waiting(Vec::new())
        };
        Ok(Self { path, state })
    }

    /// Writes a line.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written.
    pub fn write(&mut self, record: &Record<'_>) -> Result<()> {
        let mut line = serde_json::to_vec(record).map_err(|e| Error::io(&self.path, e.into()))?;
        line.push(b'\n');
        let waits = match record {
            Record::Pass(_) | Record::Start(_) | Record::Match(_) | Record::Knowledge(_) => true,
            Record::Iteration(iteration) => iteration.number == 0,
            Record::End(_) => false,
        };
        self.state = match std::mem::replace(&mut self.state, State::Failed) {
            State::Waiting(mut lines) => {
                lines.extend(line);
                if waits {
                    State::Waiting(lines)
                } else {
                    let write = |file: &mut File| file.write_all(&lines);
                    State::Open(atomic_file::replace(&self.path, write)?)
                }
            }
            State::Open(mut file) => {
                (file.write_all(&line)).map_err(|e| Error::io(&self.path, e))?;
                State::Open(file)
            }
            State::Failed => State::Failed,
        };
        Ok(())
    }
}

impl Log {
    /// Resumes the record of a run that made `iterations` iterations: keeps the lines up to that
    /// of the last one, and drops those after it. Call it between the start and the first
    /// iteration. Returns false if the file has no such line; it is then replaced by a record that
    /// begins with the next iteration.
    ///
    /// If training has two passes, the iterations are those of the pass whose line was written
    /// last. With 0 of them, called right after that line, it keeps the lines of the passes before.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read.
    pub fn resume(&mut self, iterations: usize) -> Result<bool> {
        let State::Waiting(lines) = &mut self.state else {
            return Ok(true);
        };
        let old = match fs::read(&self.path) {
            Ok(old) => old,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(Error::io(&self.path, e)),
        };
        let pass = last_pass(lines);
        if iterations == 0 {
            let Some(end) = end_of_earlier_passes(&old, &pass.unwrap_or_default()) else {
                return Ok(false);
            };
            lines.splice(..0, old[..end].iter().copied());
            return Ok(true);
        }
        let Some(end) = end_of_iteration(&old, pass.as_deref(), iterations) else {
            return Ok(false);
        };
        *lines = old[..end].to_vec();
        Ok(true)
    }

    /// Makes the lines so far durable.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if they cannot be written.
    pub fn sync(&mut self) -> Result<()> {
        match &self.state {
            State::Open(file) if file.metadata().is_ok_and(|m| m.is_file()) => {
                file.sync_data().map_err(|e| Error::io(&self.path, e))
            }
            _ => Ok(()),
        }
    }
}

/// What tells lines apart.
#[derive(Deserialize)]
struct Line {
    event: String,
    iteration: Option<usize>,
}

/// Parses the lines of a log, as far as they are complete: each with its text and its end.
fn parse_lines(log: &[u8]) -> impl Iterator<Item = (Line, &[u8], usize)> {
    let mut end = 0;
    log.split_inclusive(|&byte| byte == b'\n')
        .map_while(move |text| {
            end += text.len();
            let line = serde_json::from_slice(text.strip_suffix(b"\n")?).ok()?;
            Some((line, text, end))
        })
}

/// Returns the last line that begins a pass.
fn last_pass(log: &[u8]) -> Option<Vec<u8>> {
    let passes = parse_lines(log).filter(|(line, ..)| line.event == "pass");
    passes.last().map(|(_, text, _)| text.to_vec())
}

/// Returns the end of the line of an iteration, after the line `pass` if there is one.
fn end_of_iteration(log: &[u8], pass: Option<&[u8]>, iteration: usize) -> Option<usize> {
    let mut is_in_pass = pass.is_none();
    for (line, text, end) in parse_lines(log) {
        match line.event.as_str() {
            "pass" => is_in_pass = Some(text) == pass,
            "iteration" if is_in_pass && line.iteration == Some(iteration) => return Some(end),
            _ => {}
        }
    }
    None
}

/// Returns the end of the passes before the line `pass`, or of all if they have ended and it does
/// not have that line yet.
fn end_of_earlier_passes(log: &[u8], pass: &[u8]) -> Option<usize> {
    let mut last = None;
    for (line, text, end) in parse_lines(log) {
        if text == pass {
            return Some(end - text.len());
        }
        last = Some((line, end));
    }
    last.filter(|(line, _)| line.event == "end")
        .map(|(_, end)| end)
}
