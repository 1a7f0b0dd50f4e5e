//! The bytes of a model file, checked block by block when they are first touched.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

/// Bytes of a block that is checked as a whole.
pub(super) const BLOCK: usize = 16 << 10;

/// The checksums of the blocks of `data`.
pub(super) fn block_sums(data: &[u8]) -> Vec<u8> {
    data.chunks(BLOCK)
        .flat_map(|block| xxh3_64(block).to_le_bytes())
        .collect()
}

#[derive(Debug)]
enum Storage {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl std::ops::Deref for Storage {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// The bytes of a model file.
#[derive(Debug)]
pub(super) struct Bytes {
    storage: Storage,
    path: PathBuf,
    sums: Range<usize>,
    data: usize, // where the blocks begin
    checked: Vec<AtomicBool>,
}

impl Bytes {
    /// Maps a file.
    pub fn map(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        let metadata = file.metadata().map_err(|e| Error::io(path, e))?;
        if !metadata.is_file() {
            return Err(Error::model(
                path,
                "is not a file; expected a dropchain model",
            ));
        }
        if metadata.len() == 0 {
            return Err(Error::model(
                path,
                "the file is empty; expected a dropchain model",
            ));
        }
        // SAFETY: the map is read-only and every access is checked against its length. Model files
        // are replaced by renaming, never changed in place, so the pages stay as they are while
        // they are mapped; another program that truncates the file breaks that promise.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io(path, e))?;
        Ok(Self::new(Storage::Mapped(map), path))
    }

    /// Takes bytes from memory; `name` stands for the file in messages.
    pub fn owned(bytes: Vec<u8>, name: &Path) -> Self {
        Self::new(Storage::Owned(bytes), name)
    }

    fn new(storage: Storage, path: &Path) -> Self {
        Self {
            storage,
            path: path.to_owned(),
            sums: 0..0,
            data: 0,
            checked: Vec::new(),
        }
    }

    /// Sets where the checksums stand and the blocks begin; the sums must be one for each block.
    pub fn set_blocks(&mut self, sums: Range<usize>, data: usize) -> Result<()> {
        let blocks = (self.storage.len() - data).div_ceil(BLOCK);
        if sums.len() != 8 * blocks {
            return Err(self.damaged("the checksums do not fit the file"));
        }
        self.sums = sums;
        self.data = data;
        self.checked = (0..blocks).map(|_| AtomicBool::new(false)).collect();
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn len(&self) -> usize {
        self.storage.len()
    }

    /// Bytes that no block covers (the beginning of the file), unchecked.
    pub fn raw(&self, range: Range<usize>) -> Option<&[u8]> {
        self.storage.get(range)
    }

    /// All bytes, unchecked.
    #[inline(always)]
    pub fn all(&self) -> &[u8] {
        &self.storage
    }

    /// The byte at `at`, unchecked, or 0: reading it brings what is around it from memory.
    #[inline(always)]
    pub fn touch(&self, at: usize) -> u8 {
        self.storage.get(at).copied().unwrap_or(0)
    }

    /// Bytes of the blocks, checked.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] when the range does not exist or a block that it touches is damaged.
    #[inline(always)]
    pub fn get(&self, range: Range<usize>) -> Result<&[u8]> {
        let bytes = match self.storage.get(range.clone()) {
            Some(bytes) if range.start >= self.data => bytes,
            _ => return Err(self.outside()),
        };
        if bytes.is_empty() {
            return Ok(bytes);
        }
        let first = (range.start - self.data) / BLOCK;
        let last = (range.end - 1 - self.data) / BLOCK;
        for block in first..=last {
            // Relaxed: the bytes themselves never change, two threads may check one block.
            if !self.checked[block].load(Ordering::Relaxed) {
                self.check(block)?;
            }
        }
        Ok(bytes)
    }

    #[cold]
    fn check(&self, block: usize) -> Result<()> {
        let start = self.data + block * BLOCK;
        let end = (start + BLOCK).min(self.storage.len());
        let sum = self.sums.start + 8 * block;
        let expected = &self.storage[sum..sum + 8];
        if xxh3_64(&self.storage[start..end]).to_le_bytes() != *expected {
            return Err(self.damaged(&format!("bytes {start}–{end} do not match their checksum")));
        }
        self.checked[block].store(true, Ordering::Relaxed);
        Ok(())
    }

    #[cold]
    fn outside(&self) -> Error {
        self.damaged("it points outside of itself")
    }

    /// The error for an attribute whose weights are not all there.
    #[cold]
    pub fn missing_weights(&self) -> Error {
        self.damaged("an attribute has weights that do not exist")
    }

    /// The error for a weight that there is no score for.
    #[cold]
    pub fn weight_without_label(&self) -> Error {
        self.damaged("a weight belongs to no label")
    }

    #[cold]
    pub fn damaged(&self, what: &str) -> Error {
        Error::model(
            &self.path,
            format!("the model is damaged: {what}; train it again or restore a copy"),
        )
    }
}
