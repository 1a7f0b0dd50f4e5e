//! Arrays in a temporary file instead of memory.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bytemuck::Pod;

use crate::error::{Error, Result};
use crate::memory::megabytes;

/// A temporary file that only this process can reach: it has no name where the system allows that,
/// and is gone when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct SpillFile {
    directory: PathBuf,
    file: Mutex<Contents>,
}

#[derive(Debug)]
struct Contents {
    file: File,
    length: u64,
}

/// An array in the file.
#[derive(Debug)]
pub(crate) struct Spilled<T> {
    offset: u64,
    length: usize,
    kind: PhantomData<T>,
}

impl SpillFile {
    /// Creates an empty file in a directory.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] with the directory.
    pub fn create(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(|e| Error::io(directory, e))?;
        Ok(Self {
            directory: directory.to_owned(),
            file: Mutex::new(Contents { file, length: 0 }),
        })
    }

    /// Appends an array.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] with the directory; if no space is left, with the space that the file needs so
    /// far.
    pub fn write<T: Pod>(&self, values: &[T]) -> Result<Spilled<T>> {
        let mut contents = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = contents.length;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let mut write = || {
            contents.file.seek(SeekFrom::Start(offset))?;
            contents.file.write_all(bytes)
        };
        let needed = offset + bytes.len() as u64;
        write().map_err(|error| Error::io(&self.directory, with_size(error, needed)))?;
        contents.length += bytes.len() as u64;
        Ok(Spilled {
            offset,
            length: values.len(),
            kind: PhantomData,
        })
    }

    /// Reads an array, and overwrites `values` by it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] with the directory.
    pub fn read<T: Pod>(&self, array: &Spilled<T>, values: &mut Vec<T>) -> Result<()> {
        values.resize(array.length, T::zeroed());
        let mut contents = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = || {
            contents.file.seek(SeekFrom::Start(array.offset))?;
            contents.file.read_exact(bytemuck::cast_slice_mut(values))
        };
        read().map_err(|error| Error::io(&self.directory, error))
    }

    /// Returns the number of bytes written.
    pub fn length(&self) -> u64 {
        let contents = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        contents.length
    }
}

/// Adds the size that a file should have had to the error of writing it, if it is too large.
fn with_size(error: io::Error, needed: u64) -> io::Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            let size = megabytes(needed);
            let message = format!("{error}; a temporary file needs at least {size}");
            io::Error::new(error.kind(), message)
        }
        _ => error,
    }
}

/// What is stored as arrays.
pub(crate) trait Spill: Sized {
    /// Where its arrays are.
    type Arrays;

    /// Writes the arrays.
    ///
    /// # Errors
    ///
    /// Those of [`SpillFile::write`].
    fn spill(&self, file: &SpillFile) -> Result<Self::Arrays>;

    /// Reads the arrays into this value, whose memory is used again.
    ///
    /// # Errors
    ///
    /// Those of [`SpillFile::read`].
    fn load(&mut self, arrays: &Self::Arrays, file: &SpillFile) -> Result<()>;
}

impl<T: Pod> Spill for Vec<T> {
    type Arrays = Spilled<T>;

    fn spill(&self, file: &SpillFile) -> Result<Spilled<T>> {
        file.write(self)
    }

    fn load(&mut self, arrays: &Spilled<T>, file: &SpillFile) -> Result<()> {
        file.read(arrays, self)
    }
}

impl<T: Pod> Spill for Option<Vec<T>> {
    type Arrays = Option<Spilled<T>>;

    fn spill(&self, file: &SpillFile) -> Result<Option<Spilled<T>>> {
        self.as_ref().map(|values| values.spill(file)).transpose()
    }

    fn load(&mut self, arrays: &Option<Spilled<T>>, file: &SpillFile) -> Result<()> {
        match arrays {
            None => *self = None,
            Some(arrays) => self.get_or_insert_default().load(arrays, file)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_as_they_were_written_in_any_order() {
        let directory = tempfile::tempdir().unwrap();
        let file = SpillFile::create(directory.path()).unwrap();
        let numbers = vec![3u32, 1, 2];
        let [a, b, c] = [
            numbers.spill(&file).unwrap(),
            Vec::new().spill(&file).unwrap(),
            vec![7u32].spill(&file).unwrap(),
        ];
        let values = Some(vec![0.5f64, -1.0]).spill(&file).unwrap();
        let none = None::<Vec<f64>>.spill(&file).unwrap();
        assert_eq!(file.length(), 4 * 4 + 2 * 8);
        let mut read = vec![9; 10];
        for (array, expected) in [(&c, &[7][..]), (&a, &numbers), (&b, &[])] {
            read.load(array, &file).unwrap();
            assert_eq!(read, expected);
        }
        let mut option = None;
        option.load(&values, &file).unwrap();
        assert_eq!(option, Some(vec![0.5, -1.0]));
        option.load(&none, &file).unwrap();
        assert_eq!(option, None);
    }

    #[test]
    fn errors_of_files_that_are_too_large_say_what_they_need() {
        let full = io::Error::from(ErrorKind::StorageFull);
        let expected = format!("{full}; a temporary file needs at least 3 MB");
        assert_eq!(with_size(full, 2_500_000).to_string(), expected);
        let denied = io::Error::from(ErrorKind::PermissionDenied);
        let expected = denied.to_string();
        assert_eq!(with_size(denied, 2_500_000).to_string(), expected);
    }

    #[test]
    fn a_directory_that_does_not_exist_is_named() {
        let error = SpillFile::create(Path::new("/no/such/directory")).unwrap_err();
        assert!(
            error.to_string().starts_with("/no/such/directory"),
            "{error}"
        );
    }
}
