//! The log of a search.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dropchain::{Error, Result, atomic_file};
use serde_json::Value;

/// Writes the log of a search to a file, every line at once.
///
/// An older file is replaced with the first line, when the search starts.
#[derive(Debug)]
pub struct SearchLog {
    path: PathBuf,
    state: Mutex<Option<State>>, // None while a line is being written
}

#[derive(Debug)]
enum State {
    Waiting,
    Open(File),
    Failed(Error),
}

impl SearchLog {
    /// Creates a log, and checks that its file can be written.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        atomic_file::check_writable(path)?;
        Ok(Self {
            path: path.to_owned(),
            state: Mutex::new(Some(State::Waiting)),
        })
    }

    /// Writes a line. The search matters more than its log: after an error it continues, and
    /// [`finish`](Self::finish) fails.
    pub fn write(&self, line: &Value) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = state.take() {
            *state = Some(self.append(before, line).unwrap_or_else(State::Failed));
        }
    }

    fn append(&self, state: State, line: &Value) -> Result<State> {
        let line = format!("{line}\n");
        Ok(match state {
            State::Waiting => {
                let write = |file: &mut File| file.write_all(line.as_bytes());
                State::Open(atomic_file::replace(&self.path, write)?)
            }
            State::Open(mut file) => {
                let written = file.write_all(line.as_bytes());
                written.map_err(|e| Error::io(&self.path, e))?;
                State::Open(file)
            }
            State::Failed(error) => State::Failed(error),
        })
    }

    /// Writes the last line.
    ///
    /// # Errors
    ///
    /// A line could not be written.
    pub fn finish(self, line: &Value) -> Result<()> {
        self.write(line);
        match self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
        {
            Some(State::Failed(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_returned_at_the_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let log = SearchLog::create(file.path()).unwrap();
        log.write(&Value::from(1));
        // Opened for reading only.
        *log.state.lock().unwrap() = Some(State::Open(File::open(file.path()).unwrap()));
        log.write(&Value::from(2));
        log.write(&Value::from(3));
        let error = log.finish(&Value::from(4)).unwrap_err().to_string();
        assert!(error.contains(&*file.path().to_string_lossy()), "{error}");
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "1\n");
    }

    #[test]
    fn an_old_log_is_kept_until_the_first_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "old").unwrap();
        let read = || std::fs::read_to_string(file.path()).unwrap();
        let log = SearchLog::create(file.path()).unwrap();
        assert_eq!(read(), "old");
        log.write(&Value::from(1));
        assert_eq!(read(), "1\n");
        log.finish(&Value::from(2)).unwrap();
        assert_eq!(read(), "1\n2\n");
    }
}
