//! Training with feature noise.

use std::fs;

use crate::support::{Folder, NAMES};

/// The last iteration of a training run with `options`, from its log.
fn last_iteration(folder: &Folder, options: &str) -> serde_json::Value {
    let train = "train train.conll --template minimal --model m --quiet --log log --l2 0.1";
    folder.run(&format!("{train} {options}")).succeeded();
    let log = fs::read_to_string(folder.path("log")).unwrap();
    let mut lines = log
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
    lines.rfind(|line| line["event"] == "iteration").unwrap()
}

fn number(value: &serde_json::Value, field: &str) -> f64 {
    value[field].as_f64().unwrap()
}

#[test]
fn exact_engines_find_the_same_minimum() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    let adjoint = last_iteration(&folder, "--dropout 0.3");
    assert!(number(&adjoint, "dropout") > 0.0);
    let message = last_iteration(&folder, "--dropout 0.3 --gradient message");
    let window = last_iteration(&folder, "--dropout 0.3 --gradient window=1000");
    for other in [message, window] {
        let (found, expected) = (number(&other, "objective"), number(&adjoint, "objective"));
        assert!(
            (found - expected).abs() < 1e-4 * expected,
            "{found} {expected}"
        );
    }
}

#[test]
fn approximate_engines_end_and_say_why() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    for engine in ["local", "window=0", "window=1"] {
        let last = last_iteration(&folder, &format!("--dropout 0.3 --gradient {engine}"));
        assert!(number(&last, "objective").is_finite());
        let log = fs::read_to_string(folder.path("log")).unwrap();
        let end: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        assert_eq!(end["event"], "end");
        assert!(!end["stop_reason"].as_str().unwrap().is_empty());
    }
}

#[test]
fn multiplicative_gaussian_noise_is_dropout_of_the_same_variance() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    let dropout = last_iteration(&folder, "--dropout 0.5");
    let gaussian = last_iteration(&folder, "--noise gaussian --dropout 1");
    assert_eq!(dropout["objective"], gaussian["objective"]);
    let additive = last_iteration(&folder, "--noise additive --dropout 1");
    assert_ne!(dropout["objective"], additive["objective"]);
}

#[test]
fn edges_have_a_rate_of_their_own() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    let same = last_iteration(&folder, "--dropout 0.3 --edge-dropout 0.3");
    assert_eq!(
        same["objective"],
        last_iteration(&folder, "--dropout 0.3")["objective"]
    );
    let none = last_iteration(&folder, "--dropout 0.3 --edge-dropout 0");
    assert!(number(&none, "objective") < number(&same, "objective"));
}

#[test]
fn unlabeled_text_of_any_format_changes_the_model() {
    let folder = Folder::new(&[
        ("train.conll", NAMES),
        ("raw.txt", "Ada met Bob in London.\nBob met Ada.\n"),
        ("more.jsonl", "{\"tokens\": [\"Ada\", \"met\", \"Bob\"]}\n"),
    ]);
    let without = last_iteration(&folder, "--dropout 0.3");
    for options in [
        "--unlabeled raw.txt",
        "--unlabeled more.jsonl",
        "--unlabeled raw.txt more.jsonl",
        "--unlabeled train.conll",
        "--unlabeled raw.txt --discover",
    ] {
        let with = last_iteration(&folder, &format!("--dropout 0.3 {options}"));
        assert_ne!(with["objective"], without["objective"], "{options}");
    }
    let weightless = last_iteration(
        &folder,
        "--dropout 0.3 --unlabeled raw.txt --unlabeled-weight 0",
    );
    let (found, expected) = (
        number(&weightless, "objective"),
        number(&without, "objective"),
    );
    assert!(
        (found - expected).abs() < 1e-4 * expected,
        "{found} {expected}"
    );
}

#[test]
fn noise_on_edges_alone_learns_from_unlabeled_text() {
    let folder = Folder::new(&[("train.conll", NAMES), ("raw.txt", "Ada met Bob.\n")]);
    let without = last_iteration(&folder, "--edge-dropout 0.3");
    let with = last_iteration(&folder, "--edge-dropout 0.3 --unlabeled raw.txt");
    assert!(number(&with, "dropout") > 0.0);
    assert_ne!(with["objective"], without["objective"]);
}

#[test]
fn noise_gives_the_same_bytes_for_any_number_of_threads() {
    let folder = Folder::new(&[("train.conll", NAMES), ("raw.txt", "Ada met Bob.\n")]);
    let models = ["1", "2", "5"].map(|threads| {
        let options = "--dropout 0.3 --unlabeled raw.txt --gradient message --threads";
        last_iteration(&folder, &format!("{options} {threads}"));
        fs::read(folder.path("m")).unwrap()
    });
    assert!(models[0] == models[1] && models[0] == models[2]);
}
