//! Files that are replaced whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes a file under another name, syncs it and renames it, so that a crash leaves the old contents
/// or the new ones.
///
/// # Errors
///
/// [`Error::Io`] when a file cannot be written; [`Error::Parameter`] when `path` is something other
/// than a regular file, which renaming would destroy.
pub fn write(path: impl AsRef<Path>, contents: &[u8]) -> Result<()> {
    let path = path.as_ref();
    let (mut file, target) = temporary_beside(path)?;
    let failed = |e| Error::io(path, e);
    file.write_all(contents).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|e| failed(e.error))?;
    // The rename itself is safe only once the folder is on disk; not every system can sync one.
    if let Ok(folder) = fs::File::open(folder_of(&target)) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Checks that a file could be written, before work is put into what it is to hold.
///
/// # Errors
///
/// As [`write()`].
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    temporary_beside(path.as_ref()).map(|_| ())
}

/// Whether two paths lead to the same file, which need not exist.
#[must_use]
pub fn is_same_file(a: impl AsRef<Path>, b: impl AsRef<Path>) -> bool {
    let whole = |path: &Path| {
        let target = behind_links(path);
        let folder = fs::canonicalize(folder_of(&target)).ok();
        (folder, target.file_name().map(ToOwned::to_owned))
    };
    whole(a.as_ref()) == whole(b.as_ref())
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Symbolic links that may lead to one another.
const MAX_LINKS: usize = 40;

/// What stands behind the symbolic links that begin at `path`, whether it exists or not.
fn behind_links(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&target) else {
            break;
        };
        target = folder_of(&target).join(link);
    }
    target
}

/// A temporary file beside the file that it is to replace, and that file's own name. It has that
/// file's permissions, or those of any new file.
fn temporary_beside(path: &Path) -> Result<(NamedTempFile, PathBuf)> {
    // Writing through a symbolic link means writing what it points to.
    let target = behind_links(path);
    let old = fs::metadata(&target);
    let last = path.as_os_str().as_encoded_bytes().last();
    let names_a_folder = path.file_name().is_none()
        || last.is_some_and(|&byte| std::path::is_separator(char::from(byte)));
    if names_a_folder || old.as_ref().is_ok_and(|m| !m.is_file()) {
        return Err(Error::parameter(format!(
            "{}: is not a regular file; expected the name of a file to write",
            path.display()
        )));
    }
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666)); // less what umask forbids
    }
    // The system's own words, without the name of the temporary file.
    let failed = |e: io::Error| {
        Error::io(
            path,
            e.raw_os_error().map_or(e, io::Error::from_raw_os_error),
        )
    };
    let file = builder
        .prefix(".dropchain-")
        .tempfile_in(folder_of(&target))
        .map_err(failed)?;
    if let Ok(old) = old {
        file.as_file()
            .set_permissions(old.permissions())
            .map_err(failed)?;
    }
    Ok((file, target))
}
