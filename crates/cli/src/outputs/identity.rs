//! Whether two names stand for the same file.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dropchain::atomic_file::resolve_target;
use same_file::Handle;

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Input,
    Output,
    Error,
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "standard input",
            Self::Output => "standard output",
            Self::Error => "standard error",
        })
    }
}

/// What identifies a regular file.
#[derive(Debug, PartialEq, Eq)]
pub enum Identity {
    /// An existing file: device and inode number, or what corresponds to them.
    File(Handle),
    /// A file that does not exist yet: its directory and its name.
    New(Handle, OsString),
}

impl Identity {
    /// Identifies an existing regular file. Others cannot be lost, and opening a pipe would
    /// disturb it.
    pub fn of_file(path: &Path) -> Option<Self> {
        let is_file = fs::metadata(path).ok()?.is_file();
        is_file.then(|| Handle::from_path(path).ok().map(Self::File))?
    }

    /// Identifies the file that a name stands for, which need not exist.
    pub fn of_output(path: &Path) -> Option<Self> {
        if fs::metadata(path).is_ok() {
            return Self::of_file(path);
        }
        let target: PathBuf = resolve_target(path);
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let name = target.file_name()?.to_owned();
        Some(Self::New(Handle::from_path(directory).ok()?, name))
    }

    /// Identifies the regular file that a standard stream comes from or goes to.
    pub fn of_stream(stream: Stream) -> Option<Self> {
        let handle: io::Result<Handle> = match stream {
            Stream::Input => Handle::stdin(),
            Stream::Output => Handle::stdout(),
            Stream::Error => Handle::stderr(),
        };
        let handle = handle.ok()?;
        let is_file = handle.as_file().metadata().ok()?.is_file();
        is_file.then_some(Self::File(handle))
    }
}
