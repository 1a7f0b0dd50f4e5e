//! Models in files.

use std::fs;
use std::path::Path;

use super::*;
use crate::error::Error;

fn fault<T: std::fmt::Debug>(result: crate::Result<T>) -> String {
    result.unwrap_err().to_string()
}

/// Names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names = Vec::from_iter(names);
    names.sort();
    names
}

#[test]
fn a_saved_model_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.model");
    let model = small_model();
    Model::check_target(&path).unwrap();
    model.save(&path).unwrap();
    assert_eq!(files(folder.path()), ["x.model"]);
    let opened = Model::open(&path).unwrap();
    opened.verify().unwrap();
    assert_eq!(opened.as_bytes(), model.as_bytes());
    assert_eq!(opened.path(), path);
    assert_holds(&opened, AttributeKind::Node, &dense_nodes());
}

#[test]
fn an_open_model_outlives_its_replacement() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.model");
    small_model().save(&path).unwrap();
    let old = Model::open(&path).unwrap();
    let other = model(
        header(&LABELS, "word", Precision::F64),
        &sparse_nodes(),
        &dense_edges(),
    );
    other.save(&path).unwrap();
    assert_holds(&old, AttributeKind::Node, &dense_nodes());
    assert_holds(
        &Model::open(&path).unwrap(),
        AttributeKind::Node,
        &sparse_nodes(),
    );
}

#[test]
fn a_file_that_is_no_model_names_itself() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str| {
        let path = folder.path().join(name);
        let message = fault(Model::open(&path));
        message.replace(&path.display().to_string(), "x")
    };
    fs::write(folder.path().join("empty"), "").unwrap();
    assert_eq!(
        open("empty"),
        "x: the file is empty; expected a dropchain model"
    );
    fs::write(folder.path().join("text"), "Ada B-PER\n").unwrap();
    assert_eq!(
        open("text"),
        "x: this is not a dropchain model (it does not begin with DROPCHN)"
    );
    fs::create_dir(folder.path().join("folder")).unwrap();
    assert_eq!(
        open("folder"),
        "x: is not a file; expected a dropchain model"
    );
    assert!(matches!(
        Model::open(folder.path().join("none")),
        Err(Error::Io { .. })
    ));
}

#[test]
fn what_is_no_name_of_a_file_is_refused_before_and_after_training() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("new/");
    for target in [Path::new(""), Path::new(".."), folder.path(), &inside] {
        let expected = format!(
            "{}: is not a regular file; expected the name of a file to write",
            target.display()
        );
        assert_eq!(fault(Model::check_target(target)), expected);
        assert_eq!(fault(small_model().save(target)), expected);
    }
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_folder_that_does_not_exist_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none/x.model");
    for result in [Model::check_target(&path), small_model().save(&path)] {
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
        let folder = tempfile::tempdir().unwrap();
        let [plain, model] = ["plain", "model"].map(|name| folder.path().join(name));
        fs::write(&plain, "").unwrap();
        small_model().save(&model).unwrap();
        assert_eq!(mode(&model), mode(&plain));
    }

    #[test]
    fn a_replaced_model_keeps_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.model");
        for permissions in [0o600, 0o664, 0o666] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(permissions)).unwrap();
            small_model().save(&path).unwrap();
            assert_eq!(mode(&path), permissions);
        }
    }

    #[test]
    fn saving_through_a_link_writes_what_it_points_to() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        fs::create_dir(inside("models")).unwrap();
        symlink("latest", inside("current")).unwrap();
        symlink("models/1", inside("latest")).unwrap();
        for _ in 0..2 {
            // The first time there is nothing behind the links yet.
            small_model().save(inside("current")).unwrap();
            assert!(
                fs::symlink_metadata(inside("current"))
                    .unwrap()
                    .is_symlink()
            );
            assert!(fs::symlink_metadata(inside("latest")).unwrap().is_symlink());
            assert_eq!(files(&inside("models")), ["1"]);
        }
        assert_eq!(files(folder.path()), ["current", "latest", "models"]);
    }

    #[test]
    fn devices_are_not_replaced() {
        let expected = "/dev/null: is not a regular file; expected the name of a file to write";
        assert_eq!(fault(Model::check_target("/dev/null")), expected);
        assert_eq!(fault(small_model().save("/dev/null")), expected);
        assert!(Path::new("/dev/null").exists());
    }

    #[test]
    fn the_old_model_stays_when_writing_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.model");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let result = small_model().save(&path);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        if result.is_ok() {
            return; // the superuser may write anywhere
        }
        assert!(matches!(result, Err(Error::Io { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files(folder.path()), ["x.model"]);
    }
}
