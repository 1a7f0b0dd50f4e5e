//! The log of a search.

use std::fs::File;
use std::io::{self, Write};
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
    file: Mutex<io::Result<Option<File>>>, // None before the first line
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
            file: Mutex::new(Ok(None)),
        })
    }

    /// Writes a line. The search matters more than its log: after an error it continues, and
    /// [`finish`](Self::finish) fails.
    pub fn write(&self, line: &Value) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(open) = &mut *file {
            let append = |mut file: File| {
                file.write_all(format!("{line}\n").as_bytes())?;
                Ok(Some(file))
            };
            *file = (open.take().map_or_else(|| File::create(&self.path), Ok)).and_then(append);
        }
    }

    /// Writes the last line.
    ///
    /// # Errors
    ///
    /// A line could not be written.
    pub fn finish(self, line: &Value) -> Result<()> {
        self.write(line);
        let file = self
            .file
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        file.map(drop).map_err(|e| Error::io(&self.path, e))
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
        *log.file.lock().unwrap() = File::open(file.path()).map(Some);
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
