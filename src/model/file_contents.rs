//! Reads a model file into memory.

use std::path::Path;

use memmap2::MmapMut;

use super::bytes::{Bytes, Contents, damaged, wrong_length};
use super::format::{Magic, PREAMBLE, SECTIONS};
use super::preamble::sections;
use crate::error::{Error, Result};
use crate::input_file::InputFile;
use crate::memory::MemoryLimit;

/// What is expected of a model file.
pub(super) const EXPECTED: &str = "a dropchain model";

/// Size in bytes up to which memory is allocated without looking at what is available.
pub(super) const SMALL: u64 = 64 << 20;

/// Reads a whole file with this magic into memory, where later changes to it have no effect.
///
/// If the file changes during the call, it may read parts of two files. Their blocks do not
/// match the checksums.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be read; [`Error::Model`] if it is of another kind, has another
/// length than its preamble says, is larger than the available memory, or changed meanwhile.
pub(super) fn read(mut file: InputFile, magic: &Magic) -> Result<Bytes> {
    let path = &file.path().to_owned();
    let preamble = file.peek(PREAMBLE)?;
    let declared = match preamble.is_empty() {
        false => sections(path, preamble, magic)?[SECTIONS - 1].end,
        true => {
            let what = match file.length() {
                Some(_) => "the file is empty",
                None => "the file is empty, or a pipe that no program writes to",
            };
            return Err(Error::model(path, format!("{what}; expected {EXPECTED}")));
        }
    };
    let length = file.length();
    if let Some(length) = length.filter(|&length| length != declared as u64) {
        return Err(wrong_length(path, length, declared as u64));
    }
    if declared as u64 > SMALL {
        let limit = MemoryLimit::default().check(declared as u64, 0);
        limit.map_err(|over| Error::model(path, format!("reading the model: {over}")))?;
    }
    let contents = match length {
        Some(_) => read_file(path, &mut file, declared)?,
        None => read_pipe(path, &mut file, declared as u64)?,
    };
    Ok(Bytes::from_contents(contents, path))
}

/// Reads a regular file of `length` bytes.
fn read_file(path: &Path, file: &mut InputFile, length: usize) -> Result<Contents> {
    let failed = |e| Error::io(path, e);
    let mut memory = MmapMut::map_anon(length).map_err(failed)?;
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage); // where it is not supported, do without
    if file.read_into(&mut memory)? < length
        || file.read_into(&mut [0])? > 0
        || file.has_changed()?
    {
        return Err(Error::model(
            path,
            "the file changed while it was read; try again, and replace models by renaming (mv)",
        ));
    }
    Ok(Contents::Anonymous(
        memory.make_read_only().map_err(failed)?,
    ))
}

/// Reads a pipe or device. Memory grows with what is read, whatever the declared length.
fn read_pipe(path: &Path, file: &mut InputFile, declared: u64) -> Result<Contents> {
    let mut bytes = Vec::new();
    file.read_up_to(declared, &mut bytes)?;
    if (bytes.len() as u64) < declared {
        return Err(wrong_length(path, bytes.len() as u64, declared));
    }
    if file.read_into(&mut [0])? > 0 {
        return Err(damaged(path, "there are bytes after its last section"));
    }
    Ok(Contents::Vector(bytes))
}
