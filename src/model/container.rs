//! The container of a model: a preamble, a header and sections, with checksums.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::{Mmap, MmapMut};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::format::{
    BLOCK, FORMAT_VERSION, LENGTHS_AT, MAGIC, PREAMBLE, SECTIONS, SUM_AT, VERSION_AT,
};
use crate::error::{Error, Result};
use crate::input_file::InputFile;
use crate::memory::MemoryLimit;

/// What is expected of a model file.
pub(super) const EXPECTED: &str = "a dropchain model";

/// Size in bytes up to which memory is allocated without looking at what is available.
const SMALL: u64 = 64 << 20;

/// Cache-line size in bytes. Some processors fetch two lines at a time.
const CACHE_LINE: usize = 64;

/// The byte ranges of the header, of the checksums and of the sections. They are contiguous.
pub(super) type Sections = [Range<usize>; SECTIONS];

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

/// A model file in memory.
///
/// The header is verified when the file is opened, a section block by block when it is first
/// accessed.
#[derive(Debug)]
pub(super) struct Container {
    /// The whole file; sections are not verified.
    pub contents: Contents,
    /// Where the file was opened.
    pub path: PathBuf,
    pub sections: Sections,
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
        let contents = read(&mut file)?;
        Self::new(contents, file.path())
    }

    /// Takes the contents of a file, after verifying its preamble, its header and the block
    /// checksums.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is of another kind, has another version or is damaged.
    pub fn new(contents: Contents, path: &Path) -> Result<Self> {
        let sections = sections(path, &contents)?;
        let declared = sections[SECTIONS - 1].end;
        if declared != contents.len() {
            return Err(wrong_length(path, contents.len() as u64, declared as u64));
        }
        let [header, sums] = [0, 1].map(|i| &contents[sections[i].clone()]);
        let sum = preamble_sum(&contents[..SUM_AT], header, sums);
        if sum.to_le_bytes() != contents[SUM_AT..PREAMBLE] {
            return Err(damaged(path, "its beginning does not match its checksum"));
        }
        let blocks = (declared - sections[1].end).div_ceil(BLOCK);
        if sums.len() != 8 * blocks {
            return Err(damaged(path, "the number of checksums does not match the file"));
        }
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

    /// Returns the header.
    pub fn header(&self) -> &[u8] {
        &self.contents[self.sections[0].clone()]
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
            _ => {
                let what = "a section, slot or weight lies outside of the file";
                return Err(self.damaged(what));
            }
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

    /// Returns the error for a damaged file.
    #[cold]
    pub fn damaged(&self, what: &str) -> Error {
        damaged(&self.path, what)
    }
}

/// Prefetches every cache line of `data[start..start + size]`, for `size` > 0; bytes outside of
/// `data` are skipped. Returns the loaded bytes ORed together, so that the caller can keep the
/// loads from being optimized away.
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

/// Reads a whole file into memory.
///
/// If the file changes during the call, it may read parts of two files. Their blocks do not
/// match the checksums.
pub(super) fn read(file: &mut InputFile) -> Result<Contents> {
    let path = &file.path().to_owned();
    let preamble = file.peek(PREAMBLE)?;
    if preamble.is_empty() {
        let what = match file.length() {
            Some(_) => "the file is empty",
            None => "the file is empty, or a pipe that no program writes to",
        };
        return Err(Error::model(path, format!("{what}; expected {EXPECTED}")));
    }
    let declared = sections(path, preamble)?[SECTIONS - 1].end;
    let length = file.length();
    if let Some(length) = length.filter(|&length| length != declared as u64) {
        return Err(wrong_length(path, length, declared as u64));
    }
    check_memory(path, declared as u64, || "reading the model".to_owned())?;
    match length {
        Some(_) => read_file(path, file, declared),
        None => read_pipe(path, file, declared as u64),
    }
}

/// Reads a regular file of `length` bytes.
fn read_file(path: &Path, file: &mut InputFile, length: usize) -> Result<Contents> {
    let failed = |e| Error::io(path, e);
    let mut memory = MmapMut::map_anon(length).map_err(failed)?;
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage); // where it is not supported, do without
    if !file.read_whole(&mut memory)? || file.has_changed()? {
        let what =
            "the file changed while it was read; try again, and replace models by renaming (mv)";
        return Err(Error::model(path, what));
    }
    Ok(Contents::Anonymous(memory.make_read_only().map_err(failed)?))
}

/// Reads a pipe or device. Memory grows with what is read, whatever the declared length.
fn read_pipe(path: &Path, file: &mut InputFile, declared: u64) -> Result<Contents> {
    let mut bytes = Vec::new();
    file.read_up_to(declared, &mut bytes)?;
    if (bytes.len() as u64) < declared {
        return Err(wrong_length(path, bytes.len() as u64, declared));
    }
    let length = bytes.len();
    file.read_up_to(1, &mut bytes)?;
    if bytes.len() > length {
        return Err(damaged(path, "there are bytes after its last section"));
    }
    Ok(Contents::Vector(bytes))
}

/// Checks that so many bytes of a model may be allocated; `what` needs them.
pub(super) fn check_memory(path: &Path, bytes: u64, what: impl Fn() -> String) -> Result<()> {
    if bytes <= SMALL {
        return Ok(());
    }
    let limit = MemoryLimit::default().check(bytes, 0);
    limit.map_err(|over| Error::model(path, format!("{}: {over}", what())))
}

/// Returns the sections of a file, given at least its preamble.
///
/// # Errors
///
/// [`Error::Model`] if the file is of another kind, has another version or is damaged.
pub(super) fn sections(path: &Path, bytes: &[u8]) -> Result<Sections> {
    if !bytes.starts_with(MAGIC) {
        return Err(Error::model(path, another_kind(bytes)));
    }
    let Some(preamble) = bytes.get(..PREAMBLE) else {
        let what = format!("it ends within its first {PREAMBLE} bytes");
        return Err(damaged(path, &what));
    };
    let numbers = preamble.as_chunks().0;
    let version = u64::from_le_bytes(numbers[VERSION_AT / 8]);
    if version != FORMAT_VERSION {
        let what = format!(
            "the model has format version {version}; this dropchain reads version \
             {FORMAT_VERSION}, so another dropchain is needed, or the model is damaged"
        );
        return Err(Error::model(path, what));
    }
    let mut sections = Sections::default();
    let mut start = PREAMBLE;
    for (section, length) in sections.iter_mut().zip(&numbers[LENGTHS_AT / 8..]) {
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        *section = start..start.saturating_add(length);
        start = section.end;
    }
    Ok(sections)
}

/// Says that a file does not begin with the magic of taggers.
fn another_kind(bytes: &[u8]) -> String {
    let name = |magic: &[u8]| String::from_utf8_lossy(magic).trim_end().to_owned();
    let expected = name(MAGIC);
    let found = bytes.get(..MAGIC.len());
    match found.filter(|found| found[..4] == MAGIC[..4] && found[7] == b'\n') {
        Some(found) => {
            let found = name(found);
            format!("this is a file of another kind (it begins with {found}, not {expected})")
        }
        None => format!("this is not a dropchain model (it does not begin with {expected})"),
    }
}

/// Computes the checksum of the preamble: of its bytes before the checksum, the header and the
/// block checksums.
pub(super) fn preamble_sum(preamble: &[u8], header: &[u8], sums: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(preamble);
    hasher.update(header);
    hasher.update(sums);
    hasher.digest()
}

/// Assembles a file from an encoded header and the sections after the checksums, each of which is
/// freed once it is in the file.
pub(super) fn assemble<S: AsRef<[u8]>>(header: &[u8], sections: Vec<S>) -> Vec<u8> {
    let lengths: Vec<usize> = sections.iter().map(|s| s.as_ref().len()).collect();
    let length: usize = lengths.iter().sum();
    let sums_length = 8 * length.div_ceil(BLOCK);
    let sums_at = PREAMBLE + header.len();
    let data_at = sums_at + sums_length;
    let mut file = Vec::with_capacity(data_at + length);
    file.extend_from_slice(MAGIC);
    let numbers = [FORMAT_VERSION as usize, header.len(), sums_length];
    for number in numbers.into_iter().chain(lengths) {
        file.extend_from_slice(&(number as u64).to_le_bytes());
    }
    file.resize(PREAMBLE, 0);
    file.extend_from_slice(header);
    file.resize(data_at, 0);
    for section in sections {
        file.extend_from_slice(section.as_ref());
    }
    let blocks = file[data_at..].chunks(BLOCK);
    let sums: Vec<u8> = blocks.flat_map(|block| xxh3_64(block).to_le_bytes()).collect();
    file[sums_at..data_at].copy_from_slice(&sums);
    let sum = preamble_sum(&file[..SUM_AT], header, &sums);
    file[SUM_AT..PREAMBLE].copy_from_slice(&sum.to_le_bytes());
    file
}

/// Returns the error for a damaged file.
#[cold]
pub(super) fn damaged(path: &Path, what: &str) -> Error {
    Error::model(path, format!("the model is damaged: {what}; retrain it or restore a copy"))
}

/// Returns the error for a file of another length than its preamble says.
#[cold]
fn wrong_length(path: &Path, found: u64, declared: u64) -> Error {
    damaged(path, &format!("it has {found} bytes; according to its preamble, {declared}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Container {
        /// Wraps bytes that are no file.
        pub(in crate::model) fn of_test(bytes: Vec<u8>) -> Self {
            Self {
                contents: Contents::Vector(bytes),
                path: PathBuf::from("x"),
                sections: Sections::default(),
                verified: Vec::new(),
            }
        }
    }
}
