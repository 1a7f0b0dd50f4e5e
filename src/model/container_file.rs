//! The bytes of a container: reading a file into memory, its preamble and sections, and assembling
//! it from these.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

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
        return Err(Error::model(
            path,
            "the file changed while it was read; try again, and replace models by renaming (mv)",
        ));
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
        return Err(Error::model(
            path,
            format!(
                "the model has format version {version}; this dropchain reads version \
                 {FORMAT_VERSION}, so another dropchain is needed, or the model is damaged"
            ),
        ));
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

/// Returns the sections of a whole file, after verifying its preamble, its header and the block
/// checksums.
///
/// # Errors
///
/// [`Error::Model`] if the file is of another kind, has another version or is damaged.
pub(super) fn checked_sections(path: &Path, bytes: &[u8]) -> Result<Sections> {
    let sections = sections(path, bytes)?;
    let declared = sections[SECTIONS - 1].end;
    if declared != bytes.len() {
        return Err(wrong_length(path, bytes.len() as u64, declared as u64));
    }
    let [header, sums] = [0, 1].map(|i| &bytes[sections[i].clone()]);
    if preamble_sum(&bytes[..SUM_AT], header, sums).to_le_bytes() != bytes[SUM_AT..PREAMBLE] {
        return Err(damaged(path, "its beginning does not match its checksum"));
    }
    if sums.len() != sums_length(declared - sections[1].end) {
        return Err(damaged(path, "the number of checksums does not match the file"));
    }
    Ok(sections)
}

/// Returns the number of bytes of the checksums of so many bytes.
fn sums_length(length: usize) -> usize {
    8 * length.div_ceil(BLOCK)
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
    let length = lengths.iter().sum::<usize>();
    let sums_at = PREAMBLE + header.len();
    let data_at = sums_at + sums_length(length);
    let mut file = Vec::with_capacity(data_at + length);
    file.extend_from_slice(MAGIC);
    let numbers = [FORMAT_VERSION as usize, header.len(), sums_length(length)];
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
