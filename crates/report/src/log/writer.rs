//! Writing logs.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dropchain::train::{End, Iteration, ModelMatch, Observer, ObserverError, Pass, Start};
use dropchain::{Error, Result};
use serde::Serialize;

use super::{Header, Record};

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
        check_device(&path)?;
        let is_stream = is_stream(&path);
        let is_new = !path.exists();
        // Appends, in case it is a redirected standard output with other lines.
        let mut options = OpenOptions::new();
        let file = options.append(true).create(!is_stream).open(&path);
        let file = file.map_err(|e| Error::io(&path, e))?;
        // Locks are mandatory on Windows: other programs could not read the log.
        if !is_stream && cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Error::parameter(format!(
                "{}: another run is writing this file; wait for it to end, or choose another name",
                path.display()
            )));
        }
        Ok(Self {
            path,
            file: Some(file),
            waiting: (!is_stream).then(Vec::new),
            is_new,
            header: None,
            error: None,
        })
    }

    /// Sets what the line `start` says of the run; by default no files.
    pub fn set_header(&mut self, header: Header) {
        self.header = Some(header);
    }

    /// Writes a line of any kind; before the first result, it waits.
    pub fn write(&mut self, record: &impl Serialize, is_result: bool) {
        let result = self.try_write(record, is_result);
        if let Err(error) = result {
            self.fail(error);
        }
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
        let Some(file) = &mut self.file else {
            return Ok(());
        };
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

    fn fail(&mut self, error: io::Error) {
        self.file = None;
        self.error = Some(Error::io(&self.path, error));
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
        if let Err(error) = self.resume(iterations) {
            self.fail(error);
        }
    }

    fn checkpoint(&mut self) {
        let file = self.file.as_ref();
        let file = file.filter(|file| file.metadata().is_ok_and(|m| m.is_file()));
        if let Some(Err(error)) = file.map(File::sync_data) {
            self.fail(error);
        }
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

/// Returns whether a path is a pipe, a terminal, another device, or an open file by its number.
fn is_stream(path: &Path) -> bool {
    let is_special = |m: fs::Metadata| !m.is_file() && !m.is_dir();
    let is_open_file = ["/dev", "/proc"].iter().any(|root| path.starts_with(root));
    fs::metadata(path).is_ok_and(|m| is_open_file || is_special(m))
}

/// Rejects `/dev/full`: that it cannot be written shows only with the first line, after minutes.
fn check_device(path: &Path) -> Result<()> {
    if fs::canonicalize(path).is_ok_and(|path| path == Path::new("/dev/full")) {
        let error = io::Error::from(io::ErrorKind::StorageFull);
        return Err(Error::io(path, error));
    }
    Ok(())
}
