//! The container of a model: a header and sections, with checksums.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::container_file::{self, Contents, Sections};
use super::format::BLOCK;
use crate::error::{Error, Result};
use crate::input_file::InputFile;

/// Cache-line size in bytes. Some processors fetch two lines at a time.
const CACHE_LINE: usize = 64;

/// A model file in memory: a magic number, a header and sections.
///
/// The header is verified when the file is opened, a section block by block when it is first
/// accessed.
#[derive(Debug)]
pub(super) struct Container {
    contents: Contents,
    path: PathBuf,
    sections: Sections,
    verified: Vec<AtomicBool>, // [blocks]
}

impl Container {
    /// Reads a file into memory, where later changes to it have no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read; [`Error::Model`] if it is of another kind or version, is
    /// damaged or changes while it is read, or if memory does not suffice.
    pub fn read(mut file: InputFile) -> Result<Self> {
        let contents = container_file::read(&mut file)?;
        Self::new(contents, file.path())
    }

    /// Takes the contents of a file, of which the header is verified.
    pub fn new(contents: Contents, path: &Path) -> Result<Self> {
        let sections = container_file::checked_sections(path, &contents)?;
        let blocks = (contents.len() - sections[1].end).div_ceil(BLOCK);
        let verified = (0..blocks).map(|_| AtomicBool::new(false)).collect();
        Ok(Self { contents, path: path.to_owned(), sections, verified })
    }

    /// Returns a section as a file of its own. Both share the memory.
    pub fn nested(&mut self, section: usize) -> Result<Self> {
        let range = self.sections[section].clone();
        let whole = Arc::new(std::mem::replace(&mut self.contents, Contents::Vector(Vec::new())));
        self.contents = Contents::Part(Arc::clone(&whole), 0..whole.len());
        Self::new(Contents::Part(whole, range), &self.path)
    }

    pub fn set_path(&mut self, path: &Path) {
        self.path = path.to_owned();
    }

    /// Returns the path that the file was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the contents of the file; sections are not verified.
    #[inline(always)]
    pub fn as_bytes(&self) -> &[u8] {
        &self.contents
    }

    /// Returns the header.
    pub fn header(&self) -> &[u8] {
        &self.contents[self.sections[0].clone()]
    }

    /// Returns the byte ranges of header, checksums and sections.
    pub fn sections(&self) -> &Sections {
        &self.sections
    }

    /// Verifies the checksums of the whole file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if a block does not match its checksum.
    pub fn verify(&self) -> Result<()> {
        self.get(self.sections[1].end..self.contents.len()).map(drop)
    }

    /// Returns a range of bytes in verified blocks.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the range lies outside of the sections, or if one of its blocks does not
    /// match its checksum.
    #[inline(always)]
    pub fn get(&self, range: Range<usize>) -> Result<&[u8]> {
        let data = self.sections[1].end;
        let bytes = match self.contents.get(range.clone()) {
            Some(bytes) if range.start >= data => bytes,
            _ => return Err(self.outside()),
        };
        if bytes.is_empty() {
            return Ok(bytes);
        }
        for block in (range.start - data) / BLOCK..=(range.end - 1 - data) / BLOCK {
            // Relaxed suffices: the bytes never change, and verifying a block twice is harmless.
            if !self.verified[block].load(Ordering::Relaxed) {
                self.verify_block(block)?;
            }
        }
        Ok(bytes)
    }

    #[cold]
    fn verify_block(&self, block: usize) -> Result<()> {
        let start = self.sections[1].end + block * BLOCK;
        let end = (start + BLOCK).min(self.contents.len());
        let sum = self.sections[1].start + 8 * block;
        if xxh3_64(&self.contents[start..end]).to_le_bytes() != self.contents[sum..sum + 8] {
            return Err(self.damaged(&format!("bytes {start}–{end} do not match their checksum")));
        }
        self.verified[block].store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Prefetches the cache line of a byte by loading it. Returns the byte, so that the caller can
    /// keep the load from being optimized away.
    #[inline(always)]
    pub fn prefetch(&self, at: usize) -> u8 {
        self.contents.get(at).copied().unwrap_or(0)
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
        container_file::damaged(&self.path, what)
    }

    /// Wraps bytes that are no file.
    #[cfg(test)]
    pub fn of_test(bytes: Vec<u8>) -> Self {
        Self {
            contents: Contents::Vector(bytes),
            path: PathBuf::from("x"),
            sections: Sections::default(),
            verified: Vec::new(),
        }
    }
}

/// Prefetches every cache line of `data[start..start + size]`, for `size` > 0; bytes outside of
/// `data` are skipped. Returns the loaded bytes ORed together, as [`Container::prefetch`] does.
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
