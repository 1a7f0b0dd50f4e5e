//! The file that receives the result of a command, with a second place for it.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dropchain::atomic_file::Reservation;
#[cfg(unix)]
use dropchain::atomic_file::resolve_target;
use dropchain::{Error, Result};

use crate::interrupt;

/// Maximum number of names to try in a directory.
const NAMES: usize = 1000;

/// The file that receives the result of a command; reserved from before the work until the end.
pub struct ResultFile(Reservation);

impl ResultFile {
    /// Reserves the file.
    pub fn reserve(path: &Path) -> Result<Self> {
        Reservation::new(path).map(Self)
    }

    /// Returns the number of free bytes of the file system, if it is known.
    pub fn free_space(path: &Path) -> Option<u64> {
        #[cfg(unix)]
        {
            let target = resolve_target(path);
            let directory = match target.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            let status = rustix::fs::statvfs(directory).ok()?;
            // Some file systems do not count blocks.
            (status.f_blocks > 0).then(|| status.f_bavail.saturating_mul(status.f_frsize))
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            None
        }
    }

    /// Replaces the file. If that fails, writes the contents to a new file in the current
    /// directory or in that for temporary files.
    ///
    /// # Errors
    ///
    /// The file cannot be written. The message names the second place and how to move the file.
    pub fn save(self, contents: &[u8]) -> Result<()> {
        interrupt::set_has_result();
        let path = self.0.path().to_owned();
        let Err(error) = self.0.commit(contents) else {
            return Ok(());
        };
        let reason = match &error {
            Error::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let message = match save_elsewhere(&path, contents) {
            Ok(place) => format!(
                "{reason}; the result was saved to {place} instead. To move it there: mv '{place}' \
                 '{path}'",
                place = place.display(),
                path = path.display()
            ),
            Err(second) => format!(
                "{reason}; nor could the result be saved to the current directory or to that for \
                 temporary files: {second}"
            ),
        };
        Err(Error::io(&path, io::Error::other(message)))
    }
}

/// Writes a new file in the current directory or else in that for temporary files.
fn save_elsewhere(path: &Path, contents: &[u8]) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    write_new(Path::new("."), &name, contents)
        .or_else(|_| write_new(&std::env::temp_dir(), &name, contents))
}

/// Writes a new file named `NAME.saved`, or `NAME.saved-2` and so on.
fn write_new(directory: &Path, name: &str, contents: &[u8]) -> io::Result<PathBuf> {
    let mut result = Err(io::ErrorKind::AlreadyExists.into());
    for number in 1..=NAMES {
        let suffix = match number {
            1 => "saved".to_owned(),
            n => format!("saved-{n}"),
        };
        let path = directory.join(format!("{name}.{suffix}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                let written = file.write_all(contents).and_then(|()| file.sync_all());
                if let Err(error) = written {
                    let _ = std::fs::remove_file(&path);
                    return Err(error);
                }
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => result = Err(error),
        }
    }
    result
}
