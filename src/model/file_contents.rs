//! Reads a model file into memory.

use std::path::Path;

use memmap2::MmapMut;

use super::bytes::{Bytes, Contents, damaged, wrong_length};
use super::format::{Magic, PREAMBLE};
use super::preamble::declared_length;
use crate::error::{Error, Result};
use crate::input_file::InputFile;
use crate::memory::MemoryLimit;

/// What is expected of a model file.
const EXPECTED: &str = "a dropchain model";

/// Size in bytes up to which memory is allocated without looking at what is available.
pub(super) const SMALL: u64 = 64 << 20;

/// Reads a whole file into memory, where later changes to it have no effect.
///
/// If the file changes during the call, it may read parts of two files. Their blocks do not
/// match the checksums.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is not a model, has another
/// length than its preamble says, is larger than the available memory, or changed meanwhile.
pub(super) fn read(path: &Path, magic: &Magic) -> Result<Bytes> {
    let mut file = InputFile::open(path, EXPECTED)?;
    let mut preamble = Vec::new();
    file.read_up_to(PREAMBLE as u64, &mut preamble)?;
    if preamble.is_empty() {
        let what = match file.length() {
            Some(_) => "the file is empty",
            None => "the file is empty, or a pipe that no program writes to",
        };
        return Err(Error::model(path, format!("{what}; expected {EXPECTED}")));
    }
    let declared = declared_length(path, &preamble, magic)?;
    let length = file.length();
    if let Some(length) = length.filter(|&length| length != declared) {
        return Err(wrong_length(path, length, declared));
    }
    if declared > SMALL {
        let limit = MemoryLimit::default().check(declared, 0);
        limit.map_err(|over| Error::model(path, format!("reading the model: {over}")))?;
    }
    let contents = match length {
        Some(_) => read_file(path, &mut file, &preamble, declared)?,
        None => read_pipe(path, &mut file, preamble, declared)?,
    };
    Ok(Bytes::from_contents(contents, path))
}

/// Reads the rest of a regular file of `length` bytes after its preamble.
fn read_file(path: &Path, file: &mut InputFile, preamble: &[u8], length: u64) -> Result<Contents> {
    let failed = |e| Error::io(path, e);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let mut memory = MmapMut::map_anon(length).map_err(failed)?;
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage); // where it is not supported, do without
    let (start, rest) = memory.split_at_mut(preamble.len());
    start.copy_from_slice(preamble);
    if file.read_into(rest)? < rest.len() || file.read_into(&mut [0])? > 0 || file.has_changed()? {
        return Err(Error::model(
            path,
            "the file changed while it was read; try again, and replace models by renaming (mv)",
        ));
    }
    Ok(Contents::Anonymous(
        memory.make_read_only().map_err(failed)?,
    ))
}

/// Reads the rest of a pipe or device after its preamble. Memory grows with what is read, whatever
/// the declared length.
fn read_pipe(
    path: &Path,
    file: &mut InputFile,
    preamble: Vec<u8>,
    declared: u64,
) -> Result<Contents> {
    let mut bytes = preamble;
    file.read_up_to(declared.saturating_sub(bytes.len() as u64), &mut bytes)?;
    if (bytes.len() as u64) < declared {
        return Err(wrong_length(path, bytes.len() as u64, declared));
    }
    if file.read_into(&mut [0])? > 0 {
        return Err(damaged(path, "there are bytes after its last section"));
    }
    Ok(Contents::Vector(bytes))
}
