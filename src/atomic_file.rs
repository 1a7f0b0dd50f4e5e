//! Atomic file replacement.
//!
//! Contents are written to a temporary file in the target's directory, synced, and renamed over the
//! target, so that a crash leaves either the old file or the complete new one. Symbolic links are
//! followed (the link stays and its target is replaced), and an existing file keeps its
//! permissions.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes a file atomically.
///
/// # Errors
///
/// [`Error::Io`] if the file cannot be written; [`Error::Parameter`] if `path` is a directory, or
/// a device or other special file, which renaming would destroy.
pub fn write(path: impl AsRef<Path>, contents: &[u8]) -> Result<()> {
    let path = path.as_ref();
    let (mut file, target) = create_temporary(path)?;
    let failed = |e| Error::io(path, e);
    file.write_all(contents).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|e| failed(e.error))?;
    // The rename is durable only once the directory is synced, which not every system supports.
    if let Ok(directory) = fs::File::open(parent_directory(&target)) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// Checks that a file can be written, before time is spent on computing its contents.
///
/// It creates a temporary file next to `path` and removes it.
///
/// # Errors
///
/// Same as [`write()`].
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    create_temporary(path.as_ref()).map(|_| ())
}

/// Returns whether two paths refer to the same file after resolving symbolic links. The file need
/// not exist.
#[must_use]
pub fn is_same_file(a: impl AsRef<Path>, b: impl AsRef<Path>) -> bool {
    let resolved = |path: &Path| {
        let target = resolve_links(path);
        let directory = fs::canonicalize(parent_directory(&target)).ok();
        (directory, target.file_name().map(ToOwned::to_owned))
    };
    resolved(a.as_ref()) == resolved(b.as_ref())
}

fn parent_directory(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Maximum length of a chain of symbolic links, as on Linux.
const MAX_LINKS: usize = 40;

/// Resolves the symbolic links that `path` may be. Unlike [`fs::canonicalize`], the final target
/// need not exist.
fn resolve_links(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&target) else {
            break;
        };
        target = parent_directory(&target).join(link);
    }
    target
}

/// Creates a temporary file in the directory of the target of `path`, with the permissions of the
/// target or, if it does not exist, of any new file. Returns it with the target's path.
fn create_temporary(path: &Path) -> Result<(NamedTempFile, PathBuf)> {
    let target = resolve_links(path);
    let old = fs::metadata(&target);
    let last = path.as_os_str().as_encoded_bytes().last();
    let is_directory_name = path.file_name().is_none()
        || last.is_some_and(|&byte| std::path::is_separator(char::from(byte)));
    if is_directory_name || old.as_ref().is_ok_and(|m| !m.is_file()) {
        return Err(Error::parameter(format!(
            "{}: is not a regular file; expected the name of a file to write",
            path.display()
        )));
    }
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666)); // before umask
    }
    // `tempfile` adds the temporary name to its errors; report the operating system's error alone.
    let failed = |e: io::Error| {
        Error::io(
            path,
            e.raw_os_error().map_or(e, io::Error::from_raw_os_error),
        )
    };
    let file = builder
        .prefix(".dropchain-")
        .tempfile_in(parent_directory(&target))
        .map_err(failed)?;
    if let Ok(old) = old {
        file.as_file()
            .set_permissions(old.permissions())
            .map_err(failed)?;
    }
    Ok((file, target))
}
