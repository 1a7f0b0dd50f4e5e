//! Logs of training: JSON lines, written by [`Log`] and read by [`read_runs`].
//!
//! Each line is a [`Record`], an object whose `event` field names its kind: one `start`, a `match`
//! for each model that training continues from, an `iteration` for each iteration of the optimizer
//! (number 0 is the starting point), one `end`. Training in two passes over the documents has such
//! a sequence for each model, after a line `pass`. Training that resumes appends to its log: a line
//! `resumed`, `start`, and the iterations from there on.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dropchain::kernel::{atomic_file, corpus::json_fault};
use dropchain::train::{End, Iteration, ModelMatch, Observer, ObserverError, Pass, Start};
use dropchain::{Error, Place, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Number of characters of a line to quote.
const QUOTE: usize = 60;

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Record<'a> {
    /// The part of training in two passes that follows.
    Pass(Pass),
    /// The state before the first iteration.
    Start {
        /// Properties of the run that the program records.
        #[serde(flatten)]
        header: Cow<'a, Header>,
        /// The training event.
        #[serde(flatten)]
        start: Cow<'a, Start>,
    },
    /// Overlap of the model that training continues from with the data.
    Match(Cow<'a, ModelMatch>),
    /// Training continues after a number of iterations; lines of later ones are void.
    Resumed {
        /// The number of iterations, in the pass that follows.
        iterations: usize,
    },
    /// An iteration.
    Iteration(Cow<'a, Iteration>),
    /// The result of training.
    End(Cow<'a, End>),
    /// Any other line, which readers skip.
    #[serde(other)]
    Other,
}

/// Properties of a run that the program records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of dropchain.
    pub version: String,
    /// Training files.
    pub files: Vec<String>,
    /// Number of threads.
    pub threads: usize,
    /// The command as the user typed it, if the program records it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// Resources that training reads besides corpora.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

impl Header {
    /// Creates the header of a run on `files`, by this version of dropchain in the current thread
    /// pool.
    pub fn new(files: Vec<String>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let threads = rayon::current_num_threads();
        Self { version, files, threads, config: None, sources: Vec::new() }
    }
}

/// Something that training reads beside the corpora.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Purpose of the file.
    pub role: String,
    /// Name in the template.
    pub name: String,
    /// The files as the user named them.
    pub files: Vec<String>,
    /// Size in bytes.
    pub bytes: usize,
    /// Further properties of the file.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

/// Writes the events of training to a file, every line at once. The default writes nothing.
///
/// An older log is replaced with the first iteration after the starting point, or with the end: a
/// run that learns nothing keeps it. The lines before are written then. A run that resumes appends
/// to it.
///
/// Training matters more than its log: after an error it continues, and [`finish`](Self::finish)
/// fails.
#[derive(Debug, Default)]
pub struct Log {
    path: PathBuf,
    file: Option<File>,
    header: Option<Header>,
    /// Lines that wait for the first result.
    waiting: Option<Vec<u8>>,
    is_new: bool,
    error: Option<Error>,
}

impl Log {
    /// Opens a log for writing, and locks it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be written; [`Error::Parameter`] if another process writes
    /// to it.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        // That it cannot be written shows only with the first line, after minutes.
        if fs::canonicalize(&path).is_ok_and(|path| path == Path::new("/dev/full")) {
            return Err(Error::io(&path, io::ErrorKind::StorageFull.into()));
        }
        let is_stream = atomic_file::is_special(&path);
        let is_new = !path.exists();
        // Appends, in case it is a redirected standard output with other lines.
        let mut options = OpenOptions::new();
        let file = options.append(true).create(!is_stream).open(&path);
        let file = file.map_err(|e| Error::io(&path, e))?;
        // Locks are mandatory on Windows: other programs could not read the log.
        if !is_stream && cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            let advice = "wait for it to end, or choose another name";
            let message = format!("{}: another run is writing this file; {advice}", path.display());
            return Err(Error::parameter(message));
        }
        let waiting = (!is_stream).then(Vec::new);
        Ok(Self { path, file: Some(file), waiting, is_new, header: None, error: None })
    }

    /// Sets what the line `start` says of the run; by default no files.
    pub fn set_header(&mut self, header: Header) {
        self.header = Some(header);
    }

    /// Writes a line of any kind; before the first result, it waits.
    pub fn write(&mut self, record: &impl Serialize, is_result: bool) {
        let result = self.try_write(record, is_result);
        self.end_if_failed(result);
    }

    /// Returns the first error.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a line could not be written.
    pub fn finish(mut self) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn try_write(&mut self, record: &impl Serialize, is_result: bool) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        match &mut self.waiting {
            None => return file.write_all(&line),
            Some(lines) => lines.extend(line),
        }
        if is_result {
            file.set_len(0)?;
            self.write_waiting()?;
        }
        Ok(())
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        match (&mut self.file, self.waiting.take()) {
            (Some(file), Some(lines)) => file.write_all(&lines),
            _ => Ok(()),
        }
    }

    /// Appends to the log of the run that resumes, after what may be half a line.
    fn resume(&mut self, iterations: usize) -> io::Result<()> {
        if let Some(lines) = &mut self.waiting {
            let old = fs::read(&self.path)?;
            let mut first = Vec::new();
            if old.last().is_some_and(|&byte| byte != b'\n') {
                first.push(b'\n');
            }
            first.extend(serde_json::to_vec(&Record::Resumed { iterations })?);
            first.push(b'\n');
            lines.splice(..0, first);
        }
        self.write_waiting()
    }

    /// Ends the log if something failed.
    fn end_if_failed(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.file = None;
            self.error = Some(Error::io(&self.path, error));
        }
    }
}

impl Observer for Log {
    fn pass(&mut self, pass: Pass) {
        self.write(&Record::Pass(pass), false);
    }

    fn start(&mut self, start: &Start) {
        let header = self.header.take().unwrap_or_else(|| Header::new(Vec::new()));
        let record = Record::Start { header: Cow::Borrowed(&header), start: Cow::Borrowed(start) };
        self.write(&record, false);
        self.header = Some(header); // of the passes to come
    }

    fn matched(&mut self, found: &ModelMatch) {
        self.write(&Record::Match(Cow::Borrowed(found)), false);
    }

    fn resumed(&mut self, iterations: usize) {
        let result = self.resume(iterations);
        self.end_if_failed(result);
    }

    fn checkpoint(&mut self) {
        let file = self.file.as_ref();
        let file = file.filter(|file| file.metadata().is_ok_and(|m| m.is_file()));
        let result = file.map_or(Ok(()), File::sync_data);
        self.end_if_failed(result);
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        let record = Record::Iteration(Cow::Borrowed(iteration));
        self.write(&record, iteration.number > 0);
        Ok(ControlFlow::Continue(()))
    }

    fn end(&mut self, end: &End) {
        self.write(&Record::End(Cow::Borrowed(end)), true);
    }
}

/// A run without any result leaves no empty log behind.
impl Drop for Log {
    fn drop(&mut self) {
        if self.is_new && self.waiting.is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

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
                let number = resumed.take();
                let iterations = number.map_or(Vec::new(), |n| rewind(&mut runs, pass, n));
                let (header, start) = (header.into_owned(), start.into_owned());
                runs.push(Run { pass: pass.take(), header, start, iterations, end: None });
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
    let Some(i) = runs.iter().rposition(|run| run.pass == pass) else { return Vec::new() };
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
                let message = format!("{} in {}", json_fault(&e), quote(line));
                return Err(Error::input(place, message));
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
