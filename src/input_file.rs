//! Opening input files that may turn out to be something else: pipes, directories, devices.
//!
//! Opening never waits, and reading is bounded: a pipe that no program writes to has no bytes, and
//! an endless device is an error as soon as it exceeds the limit.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// An open input file.
#[derive(Debug)]
pub struct InputFile {
    file: File,
    path: PathBuf,
    metadata: Metadata,
    peeked: Vec<u8>, // what was read and is still to be returned
}

impl InputFile {
    /// Opens a file without waiting for a program to write to it, if it is a pipe.
    ///
    /// `what` describes the expected contents in the error message.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be opened or is a directory.
    pub fn open(path: &Path, what: &str) -> Result<Self> {
        let failed = |e| Error::io(path, e);
        let file = open_without_waiting(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(unexpected(path, format!("is a directory; expected {what}")));
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            metadata,
            peeked: Vec::new(),
        })
    }

    /// Returns the path that the file was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next bytes, at least `length` unless the file ends before, without moving on.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if reading fails.
    pub fn peek(&mut self, length: usize) -> Result<&[u8]> {
        let mut bytes = Vec::new();
        self.read_up_to(length.max(self.peeked.len()) as u64, &mut bytes)?;
        self.peeked = bytes;
        Ok(&self.peeked)
    }

    /// Returns the length in bytes when the file was opened; `None` for pipes and devices.
    pub fn length(&self) -> Option<u64> {
        let length = self.metadata.len();
        self.metadata.is_file().then_some(length)
    }

    /// Appends at most `limit` bytes to `bytes`, fewer at the end of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if reading fails or memory is exhausted.
    pub fn read_up_to(&mut self, limit: u64, bytes: &mut Vec<u8>) -> Result<()> {
        let peeked = self
            .peeked
            .len()
            .min(usize::try_from(limit).unwrap_or(usize::MAX));
        bytes.extend(self.peeked.drain(..peeked));
        let read = (&mut self.file)
            .take(limit - peeked as u64)
            .read_to_end(bytes);
        read.map(|_| ()).map_err(|e| Error::io(&self.path, e))
    }

    /// Fills `bytes`, or a prefix of it at the end of the file. Returns the number of bytes read.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if reading fails.
    pub fn read_into(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut done = self.peeked.len().min(bytes.len());
        bytes[..done].copy_from_slice(&self.peeked[..done]);
        self.peeked.drain(..done);
        while done < bytes.len() {
            match self.file.read(&mut bytes[done..]) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::io(&self.path, e)),
            }
        }
        Ok(done)
    }

    /// Returns whether the file was modified since it was opened, as far as its length and times
    /// show.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file system cannot say.
    pub fn has_changed(&self) -> Result<bool> {
        let now = self.file.metadata().map_err(|e| Error::io(&self.path, e))?;
        let state = |metadata: &Metadata| (metadata.len(), metadata.modified().ok());
        Ok(self.metadata.is_file() && state(&now) != state(&self.metadata))
    }
}

/// Reads a text file of at most `limit` bytes.
///
/// `what` describes the expected contents in error messages.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be read, is a directory or a pipe that no program writes to, is not
/// UTF-8 or is larger than `limit`.
pub fn read_text(path: &Path, limit: usize, what: &str) -> Result<String> {
    let text = read_text_prefix(path, limit + 1, what)?;
    if text.len() > limit {
        let message = format!("has more than {limit} bytes; expected {what}");
        return Err(unexpected(path, message));
    }
    Ok(text)
}

/// Reads the beginning of a text file: at most `limit` bytes, and all but the last three of them if
/// the file is longer.
///
/// # Errors
///
/// Those of [`read_text`], except for the size.
pub fn read_text_prefix(path: &Path, limit: usize, what: &str) -> Result<String> {
    let mut file = InputFile::open(path, what)?;
    let mut bytes = Vec::new();
    file.read_up_to(limit as u64, &mut bytes)?;
    if bytes.is_empty() && file.length().is_none() {
        let message = format!("is empty, or a pipe that no program writes to; expected {what}");
        return Err(unexpected(path, message));
    }
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => text.len(),
        // The limit may lie inside a character.
        Err(error) if error.error_len().is_none() && bytes.len() == limit => error.valid_up_to(),
        Err(_) => {
            let message = format!("is not UTF-8 text; expected {what}");
            return Err(unexpected(path, message));
        }
    };
    bytes.truncate(valid);
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// Returns the error for a file that is not what was expected.
fn unexpected(path: &Path, message: String) -> Error {
    Error::io(path, io::Error::new(io::ErrorKind::InvalidData, message))
}

/// Opens a file for reading. Opening a pipe would block until a program opens it for writing.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = open(path, flags, Mode::empty())?;
    // Reading waits for the programs that do write to the pipe.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file.into())
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn text_is_read_up_to_the_limit_and_characters_are_not_split() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        fs::write(&path, "aé€").unwrap();
        assert_eq!(read_text(&path, 6, "text").unwrap(), "aé€");
        let error = read_text(&path, 5, "text").unwrap_err().to_string();
        assert!(
            error.ends_with("text: has more than 5 bytes; expected text"),
            "{error}"
        );
        for (limit, expected) in [(6, "aé€"), (5, "aé"), (3, "aé"), (2, "a"), (0, "")] {
            assert_eq!(read_text_prefix(&path, limit, "text").unwrap(), expected);
        }
    }

    #[test]
    fn other_encodings_and_directories_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        for bytes in [&b"a\xff"[..], b"a\xe2\x82"] {
            fs::write(&path, bytes).unwrap();
            let error = read_text(&path, 100, "a list").unwrap_err().to_string();
            assert!(
                error.ends_with("is not UTF-8 text; expected a list"),
                "{error}"
            );
        }
        let error = read_text(directory.path(), 100, "a list").unwrap_err();
        let error = error.to_string();
        assert!(
            error.ends_with("is a directory; expected a list"),
            "{error}"
        );
    }

    #[test]
    fn peeked_bytes_are_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "123456").unwrap();
        let mut file = InputFile::open(&path, "a file").unwrap();
        assert_eq!(file.peek(2).unwrap(), b"12");
        assert_eq!(file.peek(4).unwrap(), b"1234");
        let mut bytes = Vec::new();
        file.read_up_to(3, &mut bytes).unwrap();
        assert_eq!(bytes, b"123");
        let mut rest = [0; 9];
        assert_eq!(file.read_into(&mut rest).unwrap(), 3);
        assert_eq!(&rest[..3], b"456");
    }

    #[test]
    fn a_modified_file_has_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "12345").unwrap();
        let mut file = InputFile::open(&path, "a file").unwrap();
        let mut bytes = Vec::new();
        file.read_up_to(3, &mut bytes).unwrap();
        assert!(!file.has_changed().unwrap());
        assert_eq!((file.length(), &bytes[..]), (Some(5), &b"123"[..]));
        fs::write(&path, "1234567").unwrap();
        assert!(file.has_changed().unwrap());
    }
}
