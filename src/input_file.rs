//! Opening input files that may turn out to be something else: pipes, directories, devices.
//!
//! Opening never waits, and reading is bounded: a pipe that no program writes to has no bytes, and
//! an endless device is an error as soon as it exceeds the limit.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::source_file::SourceFile;

/// The first two bytes of a gzip file.
pub const GZIP: [u8; 2] = [0x1f, 0x8b];

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
        Ok(Self { file, path: path.to_owned(), metadata, peeked: Vec::new() })
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
        let peeked = self.peeked.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        bytes.extend(self.peeked.drain(..peeked));
        let read = (&mut self.file).take(limit - peeked as u64).read_to_end(bytes);
        read.map(|_| ()).map_err(|e| Error::io(&self.path, e))
    }

    /// Fills `bytes` with a regular file, whatever was read before. Returns whether the file has
    /// exactly so many bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if reading fails.
    pub fn read_whole(&mut self, bytes: &mut [u8]) -> Result<bool> {
        match self.read_exact(bytes) {
            Ok(rest) => Ok(rest == 0),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(Error::io(&self.path, e)),
        }
    }

    /// Fills `bytes` with the beginning of the file and returns the number of bytes, 0 or 1, that
    /// it has beyond. Several threads do if there are many: one copies more slowly than memory
    /// could.
    #[cfg(unix)]
    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        use std::os::unix::fs::FileExt;
        use std::sync::{Mutex, PoisonError};
        use std::{panic, thread};

        use crate::memory::available_address_space;

        /// What a thread reads before it takes the next part.
        const BYTES_PER_PART: usize = 4 << 20;
        /// Bytes that are worth the start of a thread.
        const BYTES_PER_THREAD: usize = 8 << 20;

        let length = bytes.len() as u64;
        let threads = match bytes.len() / BYTES_PER_THREAD {
            // A thread takes address space, which others may need more.
            many @ 2.. if available_address_space().is_none() => {
                many.min(thread::available_parallelism().map_or(1, usize::from))
            }
            _ => 1,
        };
        let parts = Mutex::new(bytes.chunks_mut(BYTES_PER_PART).enumerate());
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            std::iter::from_fn(next).try_for_each(|(number, part)| {
                let start = number * BYTES_PER_PART;
                self.file.read_exact_at(part, start as u64)
            })
        };
        thread::scope(|scope| {
            // Without a thread the others do its work.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let helpers: Vec<_> = (1..threads).filter_map(spawn).collect();
            helpers.into_iter().fold(work(), |result, helper| {
                let helped = helper.join().unwrap_or_else(|e| panic::resume_unwind(e));
                result.and(helped)
            })
        })?;
        self.file.read_at(&mut [0], length)
    }

    /// Fills `bytes` with the beginning of the file and returns the number of bytes, 0 or 1, that
    /// it has beyond.
    #[cfg(not(unix))]
    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let peeked = self.peeked.len().min(bytes.len());
        bytes[..peeked].copy_from_slice(&self.peeked[..peeked]);
        self.file.read_exact(&mut bytes[peeked..])?;
        self.file.read(&mut [0])
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

/// The text of a file, and its name and checksum.
#[derive(Debug)]
pub struct TextFile {
    /// The text: decompressed, and as much of it as was asked for.
    pub text: String,
    /// The file.
    pub source: SourceFile,
}

/// Reads a text file of at most `limit` bytes.
///
/// `what` describes the expected contents in error messages.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be read, is a directory or a pipe that no program writes to, is not
/// UTF-8 or is larger than `limit`.
pub fn read_text(path: &Path, limit: usize, what: &str) -> Result<TextFile> {
    let file = read_text_prefix(path, limit + 1, what)?;
    if file.text.len() > limit {
        let message = format!("has more than {limit} bytes; expected {what}");
        return Err(unexpected(path, message));
    }
    Ok(file)
}

/// Reads the beginning of a text file, which gzip may have compressed: at most `limit` bytes, and
/// all but the last three of them if the text is longer.
///
/// # Errors
///
/// The errors of [`read_text`], except for the size.
pub fn read_text_prefix(path: &Path, limit: usize, what: &str) -> Result<TextFile> {
    let source = SourceFile::from(path.to_string_lossy());
    let mut file = InputFile::open(path, what)?;
    let start = file.peek(GZIP.len())?.to_vec();
    let stream = BufReader::new(source.reader(start.chain(&file.file)));
    let stream: &mut dyn Read = match start == GZIP {
        true => &mut MultiGzDecoder::new(stream),
        false => &mut { stream },
    };
    let mut bytes = Vec::new();
    let read = stream.take(limit as u64).read_to_end(&mut bytes);
    read.map_err(|e| Error::io(path, e))?;
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
    Ok(TextFile { text: String::from_utf8(bytes).unwrap_or_default(), source })
}

/// Returns the error for a file that is not what was expected.
fn unexpected(path: &Path, message: String) -> Error {
    Error::io(path, io::Error::new(io::ErrorKind::InvalidData, message))
}

/// Opens a file for reading. Opening a pipe would block until a program opens it for writing.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::os::unix::net::UnixStream;

    let mut options = File::options();
    let options = options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    // Reading waits for the programs that do write to the pipe. `std` clears the flag, which every
    // open file has, of sockets alone.
    let file = UnixStream::from(OwnedFd::from(options.open(path)?));
    file.set_nonblocking(false)?;
    Ok(OwnedFd::from(file).into())
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::source_file::Checksum;

    #[test]
    fn text_is_read_up_to_the_limit_and_characters_are_not_split() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        fs::write(&path, "aé€").unwrap();
        assert_eq!(read_text(&path, 6, "text").unwrap().text, "aé€");
        let error = read_text(&path, 5, "text").unwrap_err().to_string();
        assert!(error.ends_with("text: has more than 5 bytes; expected text"), "{error}");
        for (limit, expected) in [(6, "aé€"), (5, "aé"), (3, "aé"), (2, "a"), (0, "")] {
            assert_eq!(read_text_prefix(&path, limit, "text").unwrap().text, expected);
        }
    }

    #[test]
    fn compressed_text_is_read_up_to_the_limit_of_what_it_is() {
        use flate2::{Compression, write::GzEncoder};
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text.gz");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        io::Write::write_all(&mut encoder, &[b'a'; 1 << 20]).unwrap();
        let compressed = encoder.finish().unwrap();
        fs::write(&path, [&compressed[..], &compressed].concat()).unwrap();
        assert_eq!(read_text_prefix(&path, 100, "text").unwrap().text, "a".repeat(100));
        let file = read_text(&path, 2 << 20, "text").unwrap();
        assert_eq!(file.text.len(), 2 << 20);
        assert_eq!(file.source.checksum(), Some(Checksum::of_file(&path).unwrap()));
        let error = read_text(&path, 1 << 20, "text").unwrap_err().to_string();
        assert!(error.contains("has more than 1048576 bytes"), "{error}");
        fs::write(&path, &compressed[..500]).unwrap();
        let error = read_text(&path, 2 << 20, "text").unwrap_err().to_string();
        assert!(error.contains("text.gz"), "{error}");
    }

    #[test]
    fn other_encodings_and_directories_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        for bytes in [&b"a\xff"[..], b"a\xe2\x82"] {
            fs::write(&path, bytes).unwrap();
            let error = read_text(&path, 100, "a list").unwrap_err().to_string();
            assert!(error.ends_with("is not UTF-8 text; expected a list"), "{error}");
        }
        let error = read_text(directory.path(), 100, "a list").unwrap_err();
        let error = error.to_string();
        assert!(error.ends_with("is a directory; expected a list"), "{error}");
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
        file.read_up_to(9, &mut bytes).unwrap();
        assert_eq!(bytes, b"123456");
    }

    #[test]
    fn a_long_file_is_read_by_several_threads() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let numbers = 0..(5 << 20) + 1_u64;
        let written: Vec<u8> = numbers.flat_map(|i| i.wrapping_mul(7).to_le_bytes()).collect();
        fs::write(&path, &written).unwrap();
        let mut file = InputFile::open(&path, "a file").unwrap();
        file.peek(5).unwrap();
        let mut bytes = vec![0; written.len()];
        assert!(file.read_whole(&mut bytes).unwrap());
        assert!(bytes == written);
        bytes.pop();
        assert!(!file.read_whole(&mut bytes).unwrap());
        assert!(bytes == written[..bytes.len()]);
        bytes.resize(written.len() + 1, 0);
        assert!(!file.read_whole(&mut bytes).unwrap());
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
