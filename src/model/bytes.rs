//! The bytes of a model file, each block verified on first access.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::Mmap;
use xxhash_rust::xxh3::xxh3_64;

use super::format::BLOCK;
use crate::error::{Error, Result};

/// Cache-line size in bytes. Some processors fetch two lines at a time.
const CACHE_LINE: usize = 64;

/// Computes the checksums of the blocks of `data`.
pub(super) fn block_sums(data: &[u8]) -> Vec<u8> {
    data.chunks(BLOCK).flat_map(|block| xxh3_64(block).to_le_bytes()).collect()
}

/// Returns the number of bytes of the checksums of so many bytes.
pub(super) fn sums_length(length: usize) -> usize {
    8 * length.div_ceil(BLOCK)
}

/// Prefetches every cache line of `data[start..start + size]`, for `size` > 0, by loading a byte
/// from each. Bytes outside of `data` are skipped.
///
/// Returns the loaded bytes ORed together, so that the caller can keep the loads from being
/// optimized away.
#[inline(always)]
pub(super) fn prefetch_range(data: &[u8], start: usize, size: usize) -> u8 {
    let load = |at: usize| data.get(at).copied().unwrap_or(0);
    let last = start + size - 1;
    let (mut byte, mut line) = (load(last), start);
    while line < last {
        byte |= load(line);
        line += CACHE_LINE;
    }
    byte
}

/// The contents of a file, in memory that nothing else can write to.
#[derive(Debug)]
pub(super) enum Contents {
    /// An anonymous mapping, of huge pages where the system has them: it is filled in a third of
    /// the time of ordinary pages.
    Anonymous(Mmap),
    Vector(Vec<u8>),
    /// A part of the contents of a file.
    Part(Arc<Contents>, Range<usize>),
}

impl std::ops::Deref for Contents {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Anonymous(memory) => memory,
            Self::Vector(bytes) => bytes,
            Self::Part(whole, range) => &whole[range.clone()],
        }
    }
}

/// The bytes of a model file.
#[derive(Debug)]
pub(super) struct Bytes {
    contents: Contents,
    path: PathBuf,
    sums: Range<usize>,        // the block checksums
    data: usize,               // offset of the first block
    verified: Vec<AtomicBool>, // [blocks]
}

impl Bytes {
    /// Wraps the contents of a file; `path` is used in error messages.
    pub fn new(contents: Vec<u8>, path: &Path) -> Self {
        Self::from_contents(Contents::Vector(contents), path)
    }

    /// Like [`Bytes::new`].
    pub fn from_contents(contents: Contents, path: &Path) -> Self {
        Self { contents, path: path.to_owned(), sums: 0..0, data: 0, verified: Vec::new() }
    }

    /// Sets the range of the checksums, which the blocks follow.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] unless there is one checksum for each block.
    pub fn set_blocks(&mut self, sums: Range<usize>) -> Result<()> {
        let length = self.contents.len() - sums.end;
        if sums.len() != sums_length(length) {
            return Err(self.damaged("the number of checksums does not match the file"));
        }
        self.data = sums.end;
        self.sums = sums;
        self.verified = (0..length.div_ceil(BLOCK)).map(|_| AtomicBool::new(false)).collect();
        Ok(())
    }

    /// Returns a part of the bytes as a file of its own. Both share the memory.
    pub fn part(&mut self, range: Range<usize>) -> Self {
        let whole = Arc::new(std::mem::replace(&mut self.contents, Contents::Vector(Vec::new())));
        self.contents = Contents::Part(Arc::clone(&whole), 0..whole.len());
        Self::from_contents(Contents::Part(whole, range), &self.path)
    }

    pub fn set_path(&mut self, path: &Path) {
        self.path = path.to_owned();
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn len(&self) -> usize {
        self.contents.len()
    }

    /// Returns all bytes, without verification.
    #[inline(always)]
    pub fn all(&self) -> &[u8] {
        &self.contents
    }

    /// Prefetches the cache line of a byte; see [`prefetch_range`].
    #[inline(always)]
    pub fn prefetch(&self, at: usize) -> u8 {
        self.contents.get(at).copied().unwrap_or(0)
    }

    /// Returns a range of bytes in verified blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the range lies outside of the blocks, or if one of its blocks does not
    /// match its checksum.
    #[inline(always)]
    pub fn get(&self, range: Range<usize>) -> Result<&[u8]> {
        let bytes = match self.contents.get(range.clone()) {
            Some(bytes) if range.start >= self.data => bytes,
            _ => return Err(self.outside()),
        };
        if bytes.is_empty() {
            return Ok(bytes);
        }
        let first = (range.start - self.data) / BLOCK;
        let last = (range.end - 1 - self.data) / BLOCK;
        for block in first..=last {
            // Relaxed suffices: the bytes never change, and verifying a block twice is harmless.
            if !self.verified[block].load(Ordering::Relaxed) {
                self.verify(block)?;
            }
        }
        Ok(bytes)
    }

    #[cold]
    fn verify(&self, block: usize) -> Result<()> {
        let start = self.data + block * BLOCK;
        let end = (start + BLOCK).min(self.contents.len());
        let sum = self.sums.start + 8 * block;
        let expected = &self.contents[sum..sum + 8];
        if xxh3_64(&self.contents[start..end]).to_le_bytes() != *expected {
            return Err(self.damaged(&format!("bytes {start}–{end} do not match their checksum")));
        }
        self.verified[block].store(true, Ordering::Relaxed);
        Ok(())
    }

    #[cold]
    fn outside(&self) -> Error {
        self.damaged("a section, slot or weight lies outside of the file")
    }

    /// Returns the error for a location that is out of bounds, or a row without a last entry.
    #[cold]
    pub fn missing_weights(&self) -> Error {
        self.damaged("the weights of an attribute are out of bounds")
    }

    /// Returns the error for a weight whose label does not exist.
    #[cold]
    pub fn weight_without_label(&self) -> Error {
        self.damaged("a weight is for a label that does not exist")
    }

    /// Returns the error for a damaged file.
    #[cold]
    pub fn damaged(&self, what: &str) -> Error {
        damaged(&self.path, what)
    }
}

/// Returns the error for a damaged file.
#[cold]
pub(super) fn damaged(path: &Path, what: &str) -> Error {
    Error::model(path, format!("the model is damaged: {what}; retrain it or restore a copy"))
}

/// Returns the error for a file of another length than its preamble says.
#[cold]
pub(super) fn wrong_length(path: &Path, found: u64, declared: u64) -> Error {
    damaged(path, &format!("it has {found} bytes; according to its preamble, {declared}"))
}
