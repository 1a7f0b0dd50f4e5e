//! What to say of a file that does not exist: the folder that is missing, or a name that is near.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use dropchain::Error;
use dropchain::kernel::atomic_file::parent_directory;
use dropchain::kernel::template::edit_distance;

/// Returns the message of an error; of a missing file with what may help.
pub fn message(error: &Error) -> String {
    match error {
        Error::Io { path, source } if source.kind() == ErrorKind::NotFound => {
            of_file(path).unwrap_or_else(|| error.to_string())
        }
        _ => error.to_string(),
    }
}

/// Returns what to say of a missing file; `None` if there is nothing that may help.
fn of_file(path: &Path) -> Option<String> {
    let file = path.display();
    if let Some(folder) = absent_folder(path) {
        return Some(format!("{file}: there is no folder {}", folder.display()));
    }
    let near = near(path)?;
    Some(format!("{file}: there is no such file; did you mean {}?", near.display()))
}

/// Returns the first folder above a file that does not exist, if there is one.
pub fn absent_folder(path: &Path) -> Option<&Path> {
    let folders = parent_directory(path).ancestors().take_while(|folder| !folder.exists());
    folders.filter(|folder| !folder.as_os_str().is_empty()).last()
}

/// Returns the file beside a missing one that was probably meant: it differs by an ending, or by a
/// third of the characters at most.
pub fn near(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let most = name.chars().count() / 3;
    let names = fs::read_dir(parent_directory(path)).ok()?.flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let distances = names.filter_map(|other| {
        let lower = other.to_lowercase();
        let has_ending = lower.strip_prefix(&name).is_some_and(|rest| rest.starts_with('.'));
        let distance = if has_ending { 0 } else { edit_distance(&name, &lower, most) };
        (distance <= most).then_some((distance, other))
    });
    distances.min().map(|(_, other)| path.with_file_name(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_or_folder_is_said_with_what_is_near() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["train.conll", "dev.conll", "test.conll", "a"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        for (name, expected) in [
            ("traim.conll", Some("there is no such file; did you mean /train.conll?")),
            ("Train.CONLL", Some("there is no such file; did you mean /train.conll?")),
            ("tets.conll", Some("there is no such file; did you mean /test.conll?")),
            ("train", Some("there is no such file; did you mean /train.conll?")),
            ("model", None),
            ("b", None),
            ("nodir/x", Some("there is no folder /nodir")),
            ("nodir/y/x", Some("there is no folder /nodir")),
        ] {
            let path = folder.path().join(name);
            let said = of_file(&path).map(|said| {
                let said = said.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned();
                said.replace(&folder.path().display().to_string(), "")
            });
            assert_eq!(said.as_deref(), expected, "{name}");
        }
        assert_eq!(absent_folder(Path::new("nodir/y/x")), Some(Path::new("nodir")));
        assert_eq!(absent_folder(Path::new("x")), None);
    }
}
