//! Saving and opening files.

use std::fs;
use std::path::Path;

use super::*;
use crate::atomic_file::check_writable;
use crate::error::Error;

fn message<T: std::fmt::Debug>(result: crate::Result<T>) -> String {
    result.unwrap_err().to_string()
}

/// Names of the files in a directory, sorted.
fn files_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names = Vec::from_iter(names);
    names.sort();
    names
}

#[test]
fn a_saved_model_can_be_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.model");
    let model = small_model();
    check_writable(&path).unwrap();
    model.save(&path).unwrap();
    assert_eq!(files_in(directory.path()), ["x.model"]);
    let opened = Model::open(&path).unwrap();
    opened.verify().unwrap();
    assert_eq!(opened.as_bytes(), model.as_bytes());
    assert_eq!(opened.path(), path);
    assert_holds(&opened, AttributeKind::Node, &dense_nodes());
}

#[test]
fn an_open_model_outlives_its_replacement() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.model");
    small_model().save(&path).unwrap();
    let old = Model::open(&path).unwrap();
    let other = model(header(&LABELS, "word", Precision::F64), &sparse_nodes(), &dense_edges());
    other.save(&path).unwrap();
    assert_holds(&old, AttributeKind::Node, &dense_nodes());
    assert_holds(&Model::open(&path).unwrap(), AttributeKind::Node, &sparse_nodes());
}

#[test]
fn an_open_model_is_independent_of_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.model");
    let model = small_model();
    model.save(&path).unwrap();
    let opened = Model::open(&path).unwrap();
    fs::write(&path, vec![0; model.as_bytes().len()]).unwrap();
    fs::write(&path, "").unwrap();
    opened.verify().unwrap();
    assert_eq!(opened.as_bytes(), model.as_bytes());
}

#[test]
fn errors_for_files_that_are_not_models_give_the_path() {
    let directory = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        let path = directory.path().join(name);
        let message = message(Model::open(&path));
        message.replace(&path.display().to_string(), "x")
    };
    fs::write(directory.path().join("empty"), "").unwrap();
    assert_eq!(open("empty"), "x: the file is empty; expected a dropchain model");
    fs::write(directory.path().join("text"), "Ada B-PER\n").unwrap();
    assert_eq!(open("text"), "x: this is not a dropchain model (it does not begin with DROPCRF)");
    fs::create_dir(directory.path().join("directory")).unwrap();
    assert_eq!(open("directory"), "x: is a directory; expected a dropchain model");
    assert!(matches!(Model::open(directory.path().join("none")), Err(Error::Io { .. })));
}

#[test]
fn paths_that_are_not_regular_files_are_rejected_before_and_after_training() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("new/");
    for target in [Path::new(""), Path::new(".."), directory.path(), &inside] {
        let expected = format!(
            "{}: is not a regular file; expected the name of a file to write",
            target.display()
        );
        assert_eq!(message(check_writable(target)), expected);
        assert_eq!(message(small_model().save(target)), expected);
    }
    assert!(files_in(directory.path()).is_empty());
}

#[test]
fn a_missing_directory_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none/x.model");
    for result in [check_writable(&path), small_model().save(&path)] {
        assert!(matches!(result, Err(Error::Io { path: named, .. }) if named == path));
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_new_model_has_the_permissions_of_any_new_file() {
        let directory = tempfile::tempdir().unwrap();
        let [plain, model] = ["plain", "model"].map(|name| directory.path().join(name));
        fs::write(&plain, "").unwrap();
        small_model().save(&model).unwrap();
        assert_eq!(mode(&model), mode(&plain));
    }

    #[test]
    fn a_replaced_model_keeps_its_permissions() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.model");
        for permissions in [0o600, 0o664, 0o666] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(permissions)).unwrap();
            small_model().save(&path).unwrap();
            assert_eq!(mode(&path), permissions);
        }
    }

    #[test]
    fn saving_through_a_symbolic_link_replaces_its_target() {
        let directory = tempfile::tempdir().unwrap();
        let inside = |name: &str| directory.path().join(name);
        fs::create_dir(inside("models")).unwrap();
        symlink("latest", inside("current")).unwrap();
        symlink("models/1", inside("latest")).unwrap();
        for _ in 0..2 {
            // The first time, the links are dangling.
            small_model().save(inside("current")).unwrap();
            assert!(fs::symlink_metadata(inside("current")).unwrap().is_symlink());
            assert!(fs::symlink_metadata(inside("latest")).unwrap().is_symlink());
            assert_eq!(files_in(&inside("models")), ["1"]);
        }
        assert_eq!(files_in(directory.path()), ["current", "latest", "models"]);
    }

    #[test]
    fn devices_are_written_through_and_not_replaced() {
        check_writable("/dev/null").unwrap();
        small_model().save("/dev/null").unwrap();
        let is_file = fs::metadata("/dev/null").unwrap().is_file();
        assert!(!is_file);
    }

    #[test]
    fn the_old_model_stays_when_writing_fails() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.model");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let result = small_model().save(&path);
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
        if result.is_ok() {
            return; // the superuser may write anywhere
        }
        assert!(matches!(result, Err(Error::Io { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files_in(directory.path()), ["x.model"]);
    }
}
