//! `dropchain compare`

use serde_json::json;

use crate::support::{NER_CORPUS, TestDir};

const GOLD: &str = "Ann B-PER\nleft O\n\nRome B-LOC\n\nYork B-LOC\nclosed O\n";
const A: &str = "Ann B-PER O\nleft O O\n\nRome B-LOC B-LOC\n\nYork B-LOC O\nclosed O O\n";
const B: &str = "Ann B-PER B-PER\nleft O O\n\nRome B-LOC B-LOC\n\nYork B-LOC B-PER\nclosed O O\n";

fn test_dir() -> TestDir {
    TestDir::new(&[("gold", GOLD), ("a", A), ("b", B)])
}

#[test]
fn the_json_output_has_the_documented_fields() {
    let report = test_dir().run("compare gold a b --samples 99 --seed 4 --json").json();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&report), ["tokens", "sentences", "samples", "seed", "f1", "accuracy"]);
    for metric in ["f1", "accuracy"] {
        assert_eq!(keys(&report[metric]), ["a", "b", "difference", "interval", "p_value"]);
    }
    assert_eq!(report["seed"], 4);
    assert_eq!(report["samples"], 99);
    assert_eq!((&report["sentences"], &report["tokens"]), (&json!(3), &json!(5)));
    assert_eq!(report["f1"]["a"], 0.5);
    assert_eq!(report["f1"]["b"], json!(2.0 / 3.0));
}

#[test]
fn scores_match_those_of_eval() {
    let dir = test_dir();
    let report = dir.run("compare gold a b --json").json();
    for side in ["a", "b"] {
        let evaluated = dir.run(&format!("eval --predictions {side} gold --json")).json();
        for metric in ["f1", "accuracy"] {
            let [x, y] = [&report[metric][side], &evaluated[metric]].map(|v| v.as_f64().unwrap());
            assert!((x - y).abs() < 1e-15, "{metric} of {side}: {x} {y}");
        }
    }
}

#[test]
fn the_column_of_probabilities_is_not_the_one_of_labels() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal --max-iterations 3");
    let tag = "tag m train.conll --columns word,pos,label";
    dir.write("a", dir.run(tag).success());
    dir.write("b", dir.run(&format!("{tag} --marginals")).success());
    let eval = |side: &str| dir.run(&format!("eval --predictions {side} train.conll")).success();
    assert_eq!(eval("b"), eval("a"));
    assert!(eval("a").contains("found: 6 phrases"), "{}", eval("a"));
    let report = dir.run("compare train.conll a b --json").json();
    assert_eq!(report["accuracy"]["difference"], 0.0);
    let other = dir.text("b").replacen("Ann", "Eve", 1);
    dir.write("b", other);
    assert!(
        dir.run("eval --predictions b train.conll")
            .failure()
            .starts_with("b:1: found the token 'Eve'; ")
    );
}

#[test]
fn the_output_does_not_depend_on_the_number_of_threads() {
    let dir = test_dir();
    let one = dir.run("compare gold a b --threads 1").success();
    let three = dir.run("compare gold a b --threads 3").success();
    assert_eq!(one, three);
    assert!(one.starts_with("3 sentences, 5 tokens; 20000 samples, seed 1\n"), "{one}");
}

#[test]
fn predictions_for_other_words_are_reported() {
    let dir = test_dir();
    dir.write("other", B.replace("Rome", "Roma"));
    assert_eq!(
        dir.run("compare gold a other").failure(),
        "other:4: found the token 'Roma'; expected 'Rome', as at gold:4"
    );
}

#[test]
fn predictions_for_other_sentences_are_reported() {
    let dir = test_dir();
    dir.write("short", "Ann B-PER O\nleft O O\n");
    assert_eq!(
        dir.run("compare gold short b").failure(),
        "short: found 1 sentences; expected 3, as in gold"
    );
}

#[test]
fn a_missing_file_is_reported() {
    let message = test_dir().run("compare gold a none").failure();
    assert!(message.starts_with("none: "), "{message}");
}

#[test]
fn invalid_arguments_are_rejected() {
    for line in ["compare gold - -", "compare gold a", "compare gold a b --samples 0"] {
        assert_eq!(test_dir().run(line).status.code(), Some(2), "{line}");
    }
}

#[test]
fn predictions_can_come_from_standard_input() {
    let dir = test_dir();
    let piped = dir.run_with_stdin("compare gold a -", B).success();
    assert_eq!(piped, dir.run("compare gold a b").success());
}
