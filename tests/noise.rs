//! Training with feature noise.

use std::fs;

use crate::support::{Folder, NAMES, sample};

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
    let dropout = last_iteration(&folder, "--dropout 0.5 --edge-dropout 0.5");
    let gaussian = last_iteration(&folder, "--noise gaussian --dropout 1");
    assert_eq!(dropout["objective"], gaussian["objective"]);
    let additive = last_iteration(&folder, "--noise additive --dropout 1");
    assert_ne!(dropout["objective"], additive["objective"]);
}

#[test]
fn edges_have_a_rate_of_their_own() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    let same = last_iteration(&folder, "--dropout 0.3 --edge-dropout 0.6");
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

const MONTE_CARLO: &str = "--noise monte-carlo --dropout 0.3 --max-iterations 15";

#[test]
fn monte_carlo_noise_gives_the_same_bytes_for_any_number_of_threads() {
    let folder = Folder::new(&[
        ("train.conll", &sample("train")),
        ("raw.txt", "Ada met Bob.\n"),
    ]);
    let model = |options: &str| {
        let train = "train train.conll --template minimal --model m --quiet --samples 2";
        let options = format!("{train} {MONTE_CARLO} --unlabeled raw.txt {options}");
        folder.run(&options).succeeded();
        folder.bytes("m")
    };
    // The options in the model name the seed, not the threads.
    let one = model("--seed 7 --threads 1");
    assert!(one == model("--seed 7 --threads 2"));
    assert!(one == model("--seed 7 --threads 5"));
}

#[test]
fn another_seed_is_another_run() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    let [one, again, other] = ["1", "1", "2"]
        .map(|seed| last_iteration(&folder, &format!("{MONTE_CARLO} --seed {seed}")));
    assert_eq!(one["objective"], again["objective"]);
    assert_ne!(one["objective"], other["objective"]);
}

#[test]
fn monte_carlo_noise_ends_and_says_why_and_with_what() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    for options in ["", "--l1 0.02", "--order 0", "--samples 1 --collapse off"] {
        let options = format!("--noise monte-carlo --dropout 0.3 --seed 5 {options}");
        let last = last_iteration(&folder, &options);
        assert!(number(&last, "dropout") > 0.0);
        let log = folder.json_lines("log");
        let parameters = &log[0]["parameters"];
        assert_eq!(parameters["noise"], "monte-carlo");
        assert_eq!(parameters["seed"], 5);
        let samples = if options.contains("--samples") { 1 } else { 4 };
        assert_eq!(parameters["samples"], samples);
        let end = log.last().unwrap();
        assert_eq!(end["stop_reason"], "improvement", "{options}");
    }
}
