//! Reserving and replacing files.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::*;

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_reserved_file_cannot_be_reserved_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    fs::write(&path, "old").unwrap();
    let reservation = Reservation::new(&path).unwrap();
    let error = Reservation::new(&path).unwrap_err().to_string();
    assert!(
        error.contains("another run is writing this file"),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
    reservation.commit(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["x"]);
    drop(Reservation::new(&path).unwrap());
    assert_eq!(names(directory.path()), ["x"]);
}

#[test]
fn a_file_that_is_continued_stays_reserved() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    let file = Reservation::new(&path).unwrap();
    let file = file.commit_and_continue(b"line\n").unwrap();
    assert!(cfg!(windows) || Reservation::new(&path).is_err());
    drop(file);
    Reservation::new(&path).unwrap();
}

#[test]
fn a_file_can_be_replaced_many_times_under_one_reservation() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    let mut reservation = Reservation::new(&path).unwrap();
    for contents in ["longer", "long", "the longest"] {
        let replaced = reservation.replace(&mut |file| file.write_all(contents.as_bytes()));
        replaced.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), contents);
        assert!(Reservation::new(&path).is_err());
    }
    drop(reservation);
    assert_eq!(names(directory.path()), ["x"]);
}

#[test]
fn the_temporary_file_of_a_killed_process_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    let left = directory.path().join(".x.dropchain-tmp");
    fs::write(&left, "half a model").unwrap();
    write(&path, b"new").unwrap();
    assert_eq!(names(directory.path()), ["x"]);
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_directory_in_place_of_the_temporary_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join(".x.dropchain-tmp")).unwrap();
    let error = write(directory.path().join("x"), b"new").unwrap_err();
    assert!(error.to_string().contains(".x.dropchain-tmp has the name"));
}

#[test]
fn a_removed_temporary_file_is_created_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    let reservation = Reservation::new(&path).unwrap();
    fs::remove_file(directory.path().join(".x.dropchain-tmp")).unwrap();
    reservation.commit(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
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

#[cfg(unix)]
#[test]
fn a_symbolic_link_in_place_of_the_temporary_file_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let inside = |name: &str| directory.path().join(name);
    fs::write(inside("victim"), "precious").unwrap();
    std::os::unix::fs::symlink("victim", inside(".x.dropchain-tmp")).unwrap();
    write(inside("x"), b"new").unwrap();
    fs::hard_link(inside("victim"), inside(".x.dropchain-tmp")).unwrap();
    write(inside("x"), b"newer").unwrap();
    assert_eq!(fs::read(inside("victim")).unwrap(), b"precious");
    assert_eq!(fs::read(inside("x")).unwrap(), b"newer");
    assert_eq!(names(directory.path()), ["victim", "x"]);
}

#[test]
fn many_threads_that_write_one_file_leave_one_complete_version() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    let written = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8_u8)
            .map(|i| {
                let path = &path;
                scope.spawn(move || {
                    let contents = vec![i; 100_000];
                    (0..20).filter(|_| write(path, &contents).is_ok()).count()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap())
            .sum::<usize>()
    });
    assert!(written > 0);
    let contents = fs::read(&path).unwrap();
    assert_eq!(contents.len(), 100_000);
    assert!(contents.iter().all(|byte| *byte == contents[0]));
    assert_eq!(names(directory.path()), ["x"]);
}

#[cfg(unix)]
#[test]
fn a_file_is_removed_behind_a_symbolic_link_that_stays() {
    let directory = tempfile::tempdir().unwrap();
    let [file, link] = ["x", "link"].map(|name| directory.path().join(name));
    std::os::unix::fs::symlink("x", &link).unwrap();
    fs::write(&file, "old").unwrap();
    remove(&link).unwrap();
    assert_eq!(names(directory.path()), ["link"]);
    remove(&link).unwrap(); // there is none
    assert_eq!(names(directory.path()), ["link"]);
    fs::write(&file, "old").unwrap();
    remove(&file).unwrap();
    assert_eq!(names(directory.path()), ["link"]);
}

#[test]
fn what_cannot_be_removed_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x");
    fs::create_dir(&path).unwrap();
    let error = remove(&path).unwrap_err().to_string();
    assert!(error.starts_with(path.to_str().unwrap()), "{error}");
}
