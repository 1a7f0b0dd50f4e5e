//! Files that are replaced whole or not at all.
//!
//! Contents are written to a temporary file in the target's directory, synced, and renamed over the
//! target, so that a crash leaves either the old file or the complete new one. Symbolic links are
//! followed, and an existing file keeps its permissions and, if possible, its owner. Devices, pipes
//! and names of open files, such as `/dev/stdout`, are written through.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use crate::error::{Error, Result};

/// Maximum number of symbolic links that follow one another, as in the kernel of Linux.
const MAX_LINKS: usize = 40;

/// Locked for reading while a temporary file exists.
static REPLACING: RwLock<()> = RwLock::new(());

/// Writes a file.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be written; [`Error::Parameter`] if `path` is a directory.
pub fn write(path: impl AsRef<Path>, contents: &[u8]) -> Result<()> {
    replace(path, |file| file.write_all(contents)).map(drop)
}

/// Replaces a file by what `write` writes. Returns it open at its end, to be continued.
///
/// # Errors
///
/// Same as [`write()`]; those of `write`, and the file is not replaced then.
pub fn replace(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<File> {
    let path = path.as_ref();
    let replaced = if is_special(path) {
        // Appends, in case it is a redirected standard output with other lines.
        OpenOptions::new()
            .append(true)
            .open(path)
            .and_then(|mut file| write(&mut file).map(|()| file))
    } else {
        let target = target(path)?;
        let _replacing = REPLACING.read().unwrap_or_else(PoisonError::into_inner);
        Temporary::beside(&target).and_then(|mut temporary| {
            write(&mut temporary.file)?;
            temporary.persist(&target)
        })
    };
    replaced.map_err(|error| Error::io(path, error))
}

/// Checks that a file can be written, before time is spent on computing its contents.
///
/// # Errors
///
/// Same as [`write()`].
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    if is_special(path) {
        return Ok(()); // opening a pipe would wait for its reader, and disturb it
    }
    let target = target(path)?;
    // A read-only file can be replaced, an immutable one cannot: EPERM.
    if let Err(error) = OpenOptions::new().append(true).open(&target)
        && cfg!(unix)
        && error.raw_os_error() == Some(1)
    {
        return Err(Error::io(path, error));
    }
    let _replacing = REPLACING.read().unwrap_or_else(PoisonError::into_inner);
    Temporary::beside(&target).map(drop).map_err(|error| Error::io(path, error))
}

/// Removes a file, if there is one. A symbolic link to it stays.
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

/// Completes the replacements in progress, and allows no others while the result exists: a process
/// that exits then leaves no temporary files.
pub fn suspend() -> RwLockWriteGuard<'static, ()> {
    REPLACING.write().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a path is a pipe, a terminal, another device, or an open file by its number.
pub fn is_special(path: &Path) -> bool {
    let is_open_file = ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"]
        .iter()
        .any(|name| path.starts_with(name));
    fs::metadata(path).is_ok_and(|m| !m.is_dir() && (is_open_file || !m.is_file()))
}

/// Resolves the symbolic links of a path, whose target need not exist.
pub fn resolve_target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(resolved) = fs::canonicalize(&target) {
            return resolved;
        }
        match fs::read_link(&target) {
            Ok(link) => target = parent_directory(&target).join(link),
            Err(_) => break,
        }
    }
    target
}

/// Returns the directory of a file.
pub fn parent_directory(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the file to replace.
fn target(path: &Path) -> Result<PathBuf> {
    let target = resolve_target(path);
    let is_folder = |path: &Path| path.to_string_lossy().ends_with(MAIN_SEPARATOR);
    match target.file_name() {
        Some(_) if !target.is_dir() && !is_folder(path) => Ok(target),
        _ => Err(Error::parameter(format!(
            "{}: is not a regular file; expected the name of a file to write",
            path.display()
        ))),
    }
}

/// A file beside a target, which is removed unless it is moved there.
struct Temporary {
    file: File,
    path: Option<PathBuf>,
}

impl Temporary {
    /// Creates a file of a new name.
    fn beside(target: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!(".dropchain-{}-{number}", std::process::id());
            let path = parent_directory(target).join(name);
            match options.open(&path) {
                // Of a process that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => return Ok(Self { file: file?, path: Some(path) }),
            }
        }
    }

    /// Moves the file to its target.
    fn persist(mut self, target: &Path) -> io::Result<File> {
        if let Ok(old) = fs::metadata(target) {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};
                // Only some users may; the file is theirs otherwise.
                let _ = fchown(&self.file, Some(old.uid()), Some(old.gid()));
            }
            self.file.set_permissions(old.permissions())?;
        }
        self.file.sync_all()?;
        if let Some(path) = &self.path {
            fs::rename(path, target)?;
        }
        self.path = None;
        // The rename is durable only once the directory is synced, which not every system supports.
        if let Ok(directory) = File::open(parent_directory(target)) {
            let _ = directory.sync_all();
        }
        self.file.try_clone()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        check_writable(&path).unwrap();
        assert!(names(directory.path()).is_empty());
        write(&path, b"old").unwrap();
        let failed = replace(&path, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut file = replace(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        file.write_all(b"er").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"newer");
        assert_eq!(names(directory.path()), ["x"]);
    }

    #[test]
    fn names_of_the_maximum_length_can_be_written() {
        let directory = tempfile::tempdir().unwrap();
        let name = "n".repeat(255);
        let path = directory.path().join(&name);
        if File::create(&path).is_err() {
            return; // the file system of temporary files has no names of 255 bytes
        }
        write(&path, b"new").unwrap();
        assert_eq!(names(directory.path()), [name]);
    }

    #[test]
    fn a_directory_is_no_file_to_write() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("new/");
        for path in [directory.path(), &inside, Path::new(""), Path::new("..")] {
            let error = check_writable(path).unwrap_err().to_string();
            assert!(error.contains("is not a regular file"), "{error}");
        }
        let error = remove(directory.path()).unwrap_err().to_string();
        assert!(error.starts_with(&*directory.path().to_string_lossy()));
        let error = check_writable(directory.path().join("none/x")).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
    }

    #[test]
    fn many_threads_that_write_one_file_leave_one_complete_version() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        std::thread::scope(|scope| {
            for i in 0..8_u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        write(path, &vec![i; 100_000]).unwrap();
                    }
                });
            }
        });
        let contents = fs::read(&path).unwrap();
        assert_eq!(contents.len(), 100_000);
        assert!(contents.iter().all(|byte| *byte == contents[0]));
        assert_eq!(names(directory.path()), ["x"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

        let directory = tempfile::tempdir().unwrap();
        let files = ["x", "latest", "link", "plain"].map(|name| directory.path().join(name));
        let [file, latest, link, plain] = files;
        symlink("x", latest).unwrap();
        symlink("latest", &link).unwrap();
        write(&link, b"first").unwrap(); // the target does not exist yet
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::write(&plain, "").unwrap();
        assert_eq!(mode(&file), mode(&plain));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let is_given = chown(&file, Some(4711), None).is_ok(); // as root
        write(&link, b"second").unwrap();
        assert!(!is_given || fs::metadata(&file).unwrap().uid() == 4711);
        assert_eq!(fs::read(&file).unwrap(), b"second");
        assert_eq!(mode(&file), 0o640);
        remove(&link).unwrap();
        remove(&link).unwrap(); // there is none
        assert_eq!(names(directory.path()), ["latest", "link", "plain"]);
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_through() {
        check_writable("/dev/null").unwrap();
        write("/dev/null", b"contents").unwrap();
        assert!(is_special(Path::new("/dev/null")));
    }
}
