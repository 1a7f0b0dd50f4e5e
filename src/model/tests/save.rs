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
