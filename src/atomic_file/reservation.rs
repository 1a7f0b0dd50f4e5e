//! The exclusive right to replace a file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::target::Target;
use super::temporary::{TemporaryFile, WriteContents, is_locked};
use crate::error::Result;

/// How often, and at what interval, to retry when another process looks at the file just now.
const RETRIES: usize = 50;
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The exclusive right to replace a file, held from before its contents are computed until they
/// are written. The old file stays untouched until then.
#[derive(Debug)]
pub struct Reservation {
    target: Target,
    temporary: TemporaryFile,
}

impl Reservation {
    /// Reserves a file.
    ///
    /// # Errors
    ///
    /// Same as [`write()`](super::write()).
    pub fn new(path: impl AsRef<Path>) -> Result<Self> {
        let target = Target::resolve(path.as_ref())?;
        target.check_mutable()?;
        // A process that was just killed holds its locks until its memory is released.
        for _ in 0..RETRIES {
            if !is_locked(&target.temporary()) && !is_locked(&target.file) {
                break;
            }
            thread::sleep(RETRY_INTERVAL);
        }
        let temporary = TemporaryFile::create(&target)?;
        // The process that has replaced the file last may still be writing to it.
        if is_locked(&target.file) {
            return Err(target.is_busy());
        }
        Ok(Self { target, temporary })
    }

    /// Returns the path as given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.target.path
    }

    /// Replaces the file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if the file cannot be written.
    pub fn commit(mut self, contents: &[u8]) -> Result<()> {
        self.write(&mut |file| file.write_all(contents)).map(drop)
    }

    /// Replaces the file by what `write` writes.
    ///
    /// # Errors
    ///
    /// Same as [`Reservation::commit`]; those of `write`, and the file is not replaced then.
    pub fn commit_with(mut self, write: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
        let mut write = Some(write);
        let mut failure = None;
        let replaced = self.write(&mut |file| {
            if let Some(Err(error)) = write.take().map(|write| write(file)) {
                failure = Some(error);
                return Err(io::ErrorKind::Other.into());
            }
            Ok(())
        });
        match failure {
            Some(error) => Err(error),
            None => replaced.map(drop),
        }
    }

    /// Replaces the file, and returns it to be continued. It stays locked until it is closed.
    ///
    /// # Errors
    ///
    /// Same as [`Reservation::commit`].
    pub fn commit_and_continue(mut self, contents: &[u8]) -> Result<File> {
        let file = self.write(&mut |file| file.write_all(contents))?;
        if cfg!(windows) {
            let _ = file.unlock(); // other programs could not read it
        }
        Ok(file)
    }

    /// Replaces the file by what `write` writes, and keeps it reserved to be replaced again.
    ///
    /// # Errors
    ///
    /// Same as [`Reservation::commit`]; those of `write`.
    pub fn replace(&mut self, write: &mut WriteContents<'_>) -> Result<()> {
        let _locked = self.write(write)?;
        let mut result = TemporaryFile::create(&self.target);
        // A process that has just created its own temporary file finds this one locked and leaves.
        for _ in 0..RETRIES {
            if result.is_ok() {
                break;
            }
            thread::sleep(RETRY_INTERVAL);
            result = TemporaryFile::create(&self.target);
        }
        self.temporary = result?;
        Ok(())
    }

    fn write(&mut self, write: &mut WriteContents<'_>) -> Result<File> {
        if !self.temporary.is_in_place() {
            self.temporary = TemporaryFile::create(&self.target)?;
        }
        let written = self.temporary.fill(write);
        written
            .and_then(|()| self.temporary.rename(&self.target))
            .map_err(|e| self.target.error(e))
    }
}
