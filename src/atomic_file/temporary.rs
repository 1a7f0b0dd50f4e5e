//! Locked temporary files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::target::Target;
use crate::error::Result;

/// How often to try again when other processes create and remove the file at the same time.
const ATTEMPTS: usize = 100;

/// Bytes written to find out whether there is any space.
const PROBE: usize = 4096;

/// The temporary files of this process.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// No file is replaced while this exists.
#[derive(Debug)]
pub struct Abandoned {
    _guard: MutexGuard<'static, Vec<PathBuf>>,
}

/// Removes the temporary files of this process, which is about to exit. Replacements that are in
/// progress are completed first; none is made while the result exists.
#[must_use]
pub fn abandon() -> Abandoned {
    let all = all();
    for path in &*all {
        let _ = fs::remove_file(path);
    }
    Abandoned { _guard: all }
}

fn all() -> MutexGuard<'static, Vec<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the contents of a file.
pub type WriteContents<'a> = dyn FnMut(&mut File) -> io::Result<()> + 'a;

/// The locked temporary file of a target; removed when dropped.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    path: PathBuf,
    file: File,
}

impl TemporaryFile {
    /// Creates and locks the temporary file of a target, replacing one that a killed process left.
    ///
    /// # Errors
    ///
    /// Another process holds the lock; the file cannot be created; the disk is full.
    pub fn create(target: &Target) -> Result<Self> {
        let path = target.temporary();
        for _ in 0..ATTEMPTS {
            // Held until the file is recorded: a process that exits in between would leave it.
            let mut all = all();
            let mut options = OpenOptions::new();
            // `create_new` follows no symbolic link that somebody may have planted.
            match options.read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // Another process may take the new file for an abandoned one and remove it
                    // before it is locked.
                    if lock(&file) && is_at(&file, &path) {
                        all.push(path.clone());
                        drop(all);
                        let mut temporary = Self { path, file };
                        temporary.probe().map_err(|e| target.error(e))?;
                        return Ok(temporary);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    if !remove_abandoned(&path).map_err(|e| target.error(e))? {
                        return Err(target.is_busy());
                    }
                }
                Err(e) => return Err(target.creation_error(e)),
            }
        }
        Err(target.is_busy())
    }

    /// Returns whether the file is still where it was created.
    pub fn is_in_place(&self) -> bool {
        is_at(&self.file, &self.path)
    }

    /// Has the contents written by `write`, and syncs them.
    pub fn fill(&mut self, write: &mut WriteContents<'_>) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        write(&mut self.file)?;
        self.file.sync_all()
    }

    /// Fails if there is no space at all.
    fn probe(&mut self) -> io::Result<()> {
        self.file.write_all(&[0; PROBE])?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0)).map(drop)
    }

    /// Moves the file to its target. Returns the file, still locked and open at its end.
    pub fn rename(&self, target: &Target) -> io::Result<File> {
        target.copy_permissions(&self.file)?;
        let file = self.file.try_clone()?;
        let mut all = all();
        fs::rename(&self.path, &target.file)?;
        all.retain(|path| *path != self.path);
        drop(all);
        // The rename is durable only once the directory is synced, which not every system supports.
        if let Ok(directory) = File::open(target.directory()) {
            let _ = directory.sync_all();
        }
        Ok(file)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let mut all = all();
        if self.is_in_place() {
            all.retain(|path| *path != self.path);
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Locks a file; returns false if another process has locked it.
fn lock(file: &File) -> bool {
    // Other errors: the file system has no locks.
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Returns whether another process holds the lock of an existing file.
pub(super) fn is_locked(path: &Path) -> bool {
    if cfg!(windows) {
        return false; // locks are mandatory there, and no file stays locked after its replacement
    }
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file
        && File::open(path)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Removes a temporary file that nobody has locked. Returns false if somebody has.
fn remove_abandoned(path: &Path) -> io::Result<bool> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(e) => return Err(e),
    };
    if metadata.is_dir() {
        return Err(io::Error::other(format!(
            "the directory {} has the name of its temporary file; remove it",
            path.display()
        )));
    }
    if !metadata.is_file() {
        return removed(fs::remove_file(path)); // of a symbolic link, this removes the link
    }
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(e) => return Err(e),
    };
    if !lock(&file) {
        return Ok(false);
    }
    if !is_at(&file, path) {
        return Ok(true);
    }
    removed(fs::remove_file(path))
}

fn removed(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(true),
    }
}

/// Returns whether an open file is the one at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let (Ok(open), Ok(found)) = (file.metadata(), fs::symlink_metadata(path)) else {
        return false;
    };
    (open.dev(), open.ino()) == (found.dev(), found.ino())
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}
