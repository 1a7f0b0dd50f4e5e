//! Atomic file replacement.
//!
//! Contents are written to a temporary file in the target's directory, synced, and renamed over the
//! target, so that a crash leaves either the old file or the complete new one. Symbolic links are
//! followed (the link stays and its target is replaced), and an existing file keeps its
//! permissions, its group if possible, and for the superuser its owner.
//!
//! The temporary file of a target always has the same name and is locked while it is in use:
//! a second process that wants to replace the same file gets an error, and a file that a killed
//! process left behind is removed by the next one. Locks are advisory, and file systems without
//! them do without this protection.

mod reservation;
mod target;
mod temporary;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::Path;

pub use reservation::Reservation;
pub use target::resolve_target;
pub use temporary::{Abandoned, abandon};

use crate::error::{Error, Result};

/// Writes a file atomically.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be written;
/// [`Error::Parameter`] if another process is replacing it, or if `path`
/// is a directory, or a device or other special file, which renaming would destroy.
pub fn write(path: impl AsRef<Path>, contents: &[u8]) -> Result<()> {
    Reservation::new(path)?.commit(contents)
}

/// Checks that a file can be written, before time is spent on computing its contents.
///
/// # Errors
///
/// Same as [`write()`].
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    Reservation::new(path).map(drop)
}

/// Removes a file, if there is one. Symbolic links are followed, as in [`write()`]: the link stays.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be removed.
pub fn remove(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    match fs::remove_file(resolve_target(path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::io(path, e)),
        _ => Ok(()),
    }
}
