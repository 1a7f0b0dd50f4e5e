//! The file that is going to be replaced.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

/// Maximum length of a chain of symbolic links, as on Linux.
const MAX_LINKS: usize = 40;

/// Names that are longer, in bytes, are hashed in the name of the temporary file, which would
/// otherwise exceed what file systems allow.
const MAX_NAME: usize = 100;

/// A file to be replaced.
#[derive(Debug)]
pub(super) struct Target {
    /// The path as given by the user, for messages.
    pub path: PathBuf,
    /// The path after resolving symbolic links.
    pub file: PathBuf,
}

impl Target {
    /// Resolves a path.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is a directory, or a device or other special file.
    pub fn resolve(path: &Path) -> Result<Self> {
        let last = path.as_os_str().as_encoded_bytes().last();
        let is_directory_name = path.file_name().is_none()
            || last.is_some_and(|&byte| std::path::is_separator(char::from(byte)));
        if is_directory_name || fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            return Err(Error::parameter(format!(
                "{}: is not a regular file; expected the name of a file to write",
                path.display()
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            file: resolve_target(path),
        })
    }

    pub fn directory(&self) -> &Path {
        parent_directory(&self.file)
    }

    /// Returns the name of the temporary file.
    pub fn temporary(&self) -> PathBuf {
        let name = self.file.file_name().unwrap_or(OsStr::new("file"));
        let mut temporary = OsString::from(".");
        if name.len() <= MAX_NAME {
            temporary.push(name);
        } else {
            temporary.push(format!("{:016x}", xxh3_64(name.as_encoded_bytes())));
        }
        temporary.push(".dropchain-tmp");
        self.directory().join(temporary)
    }

    /// Returns the error for another process that is replacing the file.
    pub fn is_busy(&self) -> Error {
        Error::parameter(format!(
            "{}: another run is writing this file; wait for it to end, or choose another name",
            self.path.display()
        ))
    }

    /// Converts an I/O error. Its only path is that of the target as given by the user.
    pub fn error(&self, error: io::Error) -> Error {
        let source = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error,
        };
        Error::io(&self.path, source)
    }

    /// Fails if an existing file is immutable, which renaming another over it would show only at
    /// the end.
    pub fn check_mutable(&self) -> Result<()> {
        const NOT_PERMITTED: i32 = 1; // EPERM; lack of write permission is EACCES, and no obstacle
        match OpenOptions::new().append(true).open(&self.file) {
            Err(error) if cfg!(unix) && error.raw_os_error() == Some(NOT_PERMITTED) => {
                Err(self.error(error))
            }
            _ => Ok(()),
        }
    }

    /// Converts the error of creating the temporary file.
    pub fn creation_error(&self, error: io::Error) -> Error {
        let needs_directory = matches!(
            error.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
        ) && OpenOptions::new().append(true).open(&self.file).is_ok();
        if !needs_directory {
            return self.error(error);
        }
        let message = format!(
            "the file is writable, but its directory {} is not, and a file is replaced by a new \
             one in the same directory; make the directory writable, or write to another one",
            self.directory().display()
        );
        Error::io(&self.path, io::Error::new(error.kind(), message))
    }

    /// Gives `new` the permissions, the group and for the superuser the owner of the existing file.
    pub fn copy_permissions(&self, new: &File) -> io::Result<()> {
        match fs::metadata(&self.file) {
            Ok(old) => {
                copy_owner(&old, new)?;
                new.set_permissions(old.permissions())
            }
            Err(_) => Ok(()),
        }
    }
}

/// Copies the owner as the superuser, who could otherwise take a file away from its user unasked;
/// and the group if the process may.
#[cfg(unix)]
fn copy_owner(old: &Metadata, new: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let own = new.metadata()?;
    if own.uid() == 0 && old.uid() != 0 {
        fchown(new, Some(old.uid()), Some(old.gid()))?;
    } else if own.gid() != old.gid() {
        let _ = fchown(new, None, Some(old.gid()));
    }
    Ok(())
}

#[cfg(not(unix))]
fn copy_owner(_old: &Metadata, _new: &File) -> io::Result<()> {
    Ok(())
}

fn parent_directory(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Resolves the symbolic links that `path` may be. Unlike [`fs::canonicalize`], the final target
/// need not exist.
#[must_use]
pub fn resolve_target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&target) else {
            break;
        };
        target = parent_directory(&target).join(link);
    }
    target
}
