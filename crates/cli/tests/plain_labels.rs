//! Labels without prefixes, as in the files of Stanford NER: spans, unless they are tags.

use crate::support::{NER_CORPUS, TestDir};

const NOTICE: &str = "they have no B- or I-, but look like types";

/// The corpus of named entities without prefixes.
fn plain() -> String {
    NER_CORPUS.replace(" B-", " ").replace(" I-", " ")
}

/// A directory with the files `train.conll` and `dev.conll`, and the model `m`.
fn trained(options: &str) -> TestDir {
    let dir = TestDir::new(&[("train.conll", &plain()), ("dev.conll", &plain())]);
    dir.run(&format!(
        "train train.conll --dev dev.conll --template minimal --model m --log log --l2 0.01 \
         {options}"
    ))
    .success();
    dir
}

#[test]
fn types_without_prefixes_are_spans_from_training_to_evaluation() {
    let dir = trained("");
    let scheme = &dir.inspect("")["scheme"];
    assert_eq!((scheme, &dir.inspect("")["corpus_scheme"]), (&"plain".into(), scheme));
    let log = dir.json_lines("log");
    let reading = log[0]["reading"][0].as_str().unwrap();
    assert!(reading.contains(NOTICE), "{reading}");
    assert_eq!(log[2]["dev_f1"], 1.0);

    let inline = dir.run_with_stdin("tag m --output inline", "Ann Lee left Rome.\n");
    assert_eq!(inline.success(), "[PER Ann Lee] left [LOC Rome].\n");
    let run = dir.run("tag m dev.conll --output jsonl");
    let sentence = &run.json_lines()[0];
    assert_eq!(sentence["labels"][1], "PER");
    assert_eq!(sentence["spans"][0]["token_end"], 2);
    let iob2 = dir.run("tag m dev.conll --scheme iob2").success();
    assert!(iob2.contains("Ann NNP PER B-PER\nLee NNP PER I-PER\n"), "{iob2}");

    let report = dir.run("eval m dev.conll").success();
    assert!(report.starts_with("processed 19 tokens with 6 phrases; found: 6"), "{report}");
    let tagged = dir.run("tag m dev.conll").success();
    dir.write("tagged", tagged);
    let run = dir.run("eval --predictions tagged dev.conll");
    assert!(run.stderr.contains(NOTICE), "{}", run.stderr);
    assert_eq!(run.success(), report);
    let compared = dir.run("compare dev.conll tagged tagged --json").json_lines();
    assert_eq!(compared[0]["f1"]["scores"][0], 1.0);
}

#[test]
fn labels_that_are_said_to_be_tags_are_scored_by_accuracy() {
    let dir = trained("--plain-labels tags");
    let report = dir.run("eval m dev.conll").success();
    assert!(report.starts_with("accuracy: 100.00%"), "{report}");
    let spans = dir.run("eval m dev.conll --plain-labels spans").success();
    assert!(spans.contains("with 6 phrases"), "{spans}");
    let predictions = "eval --predictions train.conll dev.conll --plain-labels tags";
    assert_eq!(dir.run(predictions).success(), report);
}

#[test]
fn a_model_of_prefixes_gives_types_back_to_a_corpus_without() {
    let dir = trained("--scheme bioes");
    assert_eq!(dir.inspect("")["scheme"], "bioes");
    let tagged = dir.run("tag m dev.conll").success();
    assert!(tagged.contains("Ann NNP PER PER\nLee NNP PER PER\n"), "{tagged}");
    let report = dir.run("eval m dev.conll").success();
    assert!(report.contains("with 6 phrases; found: 6 phrases; correct: 6"), "{report}");
}
