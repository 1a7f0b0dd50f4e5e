//! Input files: their names, and the checksums of what is read of them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// The size of a file and its XXH3 of 64 bits, which `xxhsum -H3` prints, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksum {
    /// Number of bytes.
    pub bytes: u64,
    /// XXH3-64 of the bytes.
    pub xxh3: u64,
}

impl Checksum {
    /// Reads a regular file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a regular file: others may have no end.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        if !path.metadata()?.is_file() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let file = SourceFile::from("");
        io::copy(&mut file.reader(File::open(path)?), &mut io::sink())?;
        Ok(file.checksum().unwrap_or_default())
    }
}

/// Formats XXH3 as 16 hexadecimal digits.
impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.xxh3)
    }
}

/// The file that sentences come from: its name as given by the user (`-` is standard input), and
/// the checksum of what has been read of it, before decompression. Clones share the checksum.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct SourceFile(Arc<Shared>);

/// The stored form of a [`SourceFile`].
#[derive(Serialize, Deserialize)]
struct Stored {
    name: String,
    checksum: Option<Checksum>,
}

struct Shared {
    name: Box<str>,
    read: Mutex<Option<Digest>>,
}

/// The checksum of bytes, of which there may be more.
#[derive(Default)]
struct Digest {
    hasher: Option<Box<Xxh3>>,
    checksum: Checksum, // without a hasher, of all bytes
}

impl SourceFile {
    /// Returns a reader of bytes of the file, which adds to the checksum.
    pub fn reader<R: Read>(&self, input: R) -> ChecksumReader<R> {
        ChecksumReader { input, file: self.clone() }
    }

    /// Returns the checksum of the bytes that have been read; `None` if nothing was read: the
    /// sentences were made in memory.
    pub fn checksum(&self) -> Option<Checksum> {
        let read = self.read();
        let Digest { hasher, checksum } = read.as_ref()?;
        let xxh3 = hasher.as_ref().map_or(checksum.xxh3, |hasher| hasher.digest());
        Some(Checksum { xxh3, ..*checksum })
    }

    fn add(&self, bytes: &[u8]) {
        let mut read = self.read();
        let digest = read.get_or_insert_default();
        digest.hasher.get_or_insert_default().update(bytes);
        digest.checksum.bytes += bytes.len() as u64;
    }

    fn read(&self) -> MutexGuard<'_, Option<Digest>> {
        self.0.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for SourceFile {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.name
    }
}

impl<T: AsRef<str>> From<T> for SourceFile {
    fn from(name: T) -> Self {
        Self(Arc::new(Shared { name: name.as_ref().into(), read: Mutex::default() }))
    }
}

impl From<Stored> for SourceFile {
    fn from(stored: Stored) -> Self {
        let digest = stored.checksum.map(|checksum| Digest { hasher: None, checksum });
        Self(Arc::new(Shared { name: stored.name.into(), read: Mutex::new(digest) }))
    }
}

impl From<SourceFile> for Stored {
    fn from(file: SourceFile) -> Self {
        Self { name: file.to_string(), checksum: file.checksum() }
    }
}

/// Files are the same if they have the same name.
impl PartialEq for SourceFile {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// Reads bytes of a file, and adds them to its checksum.
pub struct ChecksumReader<R> {
    input: R,
    file: SourceFile,
}

impl<R: Read> Read for ChecksumReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.file.add(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    #[test]
    fn the_checksum_is_that_of_all_bytes_whatever_the_reads() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|i| (i * 7) as u8).collect();
        let expected = Checksum { bytes: 100_000, xxh3: xxh3_64(&bytes) };
        let file = SourceFile::from("x");
        assert_eq!(file.checksum(), None);
        let mut reader = file.reader(&bytes[..70_000]);
        while reader.read(&mut [0; 999]).unwrap() > 0 {}
        io::copy(&mut file.clone().reader(&bytes[70_000..]), &mut io::sink()).unwrap();
        assert_eq!(file.checksum(), Some(expected));
        assert_eq!(SourceFile::from(Stored::from(file)).checksum(), Some(expected));
        assert_eq!(Checksum { bytes: 0, xxh3: xxh3_64(b"") }.to_string(), "2d06800538d394c2");
    }

    #[test]
    fn only_regular_files_have_a_checksum() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        std::fs::write(&path, "ab").unwrap();
        let found = Checksum::of_file(&path).unwrap();
        assert_eq!(found, Checksum { bytes: 2, xxh3: xxh3_64(b"ab") });
        assert!(Checksum::of_file(directory.path()).is_err());
        assert!(Checksum::of_file(&directory.path().join("y")).is_err());
    }
}
