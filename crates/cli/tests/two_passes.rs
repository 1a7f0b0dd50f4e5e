//! Two passes over a document: the second reads what the first predicts.

use std::fmt::Write;

use dropchain::model::Model;

use crate::support::TestDir;

/// The first pass knows what a word is after `Mr.` or `the`, and only the second what it is at the
/// beginning of a sentence.
pub const TEMPLATE: &str = "word[-1]\npredicted_word\npredicted_word & predicted_phrase\n";

/// Documents that speak of a person or of a company, first in a sentence and then after a word that
/// tells which.
pub fn corpus(names: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for name in names {
        let (before, label) = [("Mr.", "B-PER"), ("the", "B-ORG")][name % 2];
        let _ = write!(
            text,
            "-DOCSTART- O\n\nName{name} {label}\nspoke O\n\n\
             then O\n{before} O\nName{name} {label}\nleft O\n\n"
        );
    }
    text
}

/// A directory with two templates and the models `m`, of both passes, and `one`, of the first.
fn trained() -> TestDir {
    let (train, test) = (corpus(0..40), corpus(40..50));
    let files = [
        ("train.conll", train.as_str()),
        ("test.conll", &test),
        ("two.tpl", TEMPLATE),
        ("one.tpl", "word[-1]\n"),
    ];
    let train = "train train.conll --quiet --dropout 0 --l2 0.01";
    let both = format!("{train} --template two.tpl --model m --log log");
    TestDir::trained(&files, &format!("{both};{train} --template one.tpl --model one"))
}

#[test]
fn the_second_pass_knows_what_the_first_says_elsewhere_in_the_document() {
    let dir = trained();
    let report = dir.run("eval m test.conll").success();
    assert!(report.contains("FB1: 100.00"), "{report}");
    let report = dir.run("eval one test.conll").success();
    assert!(!report.contains("FB1: 100.00"), "{report}");
    // Alone, a sentence has no other predictions.
    let tagged = dir.run("tag m test.conll --document sentence").success();
    assert_ne!(tagged, dir.run("tag m test.conll").success());

    let log = dir.text("log");
    let passes = log.lines().filter(|line| line.contains(r#""event":"pass""#));
    let passes: Vec<&str> = passes.collect();
    assert_eq!(passes.len(), 7);
    assert_eq!(passes[0], r#"{"event":"pass","pass":"first"}"#);
    assert_eq!(passes[2], r#"{"event":"pass","pass":"fold","number":2,"of":5}"#);
    assert_eq!(passes[6], r#"{"event":"pass","pass":"second"}"#);
    let shown = dir.run("inspect m").success();
    assert!(shown.contains("\nfirst pass "), "{shown}");
}

#[test]
fn threads_and_pipes_change_nothing() {
    let dir = trained();
    let one = dir.bytes("m");
    dir.run(
        "train train.conll --template two.tpl --model m --quiet --dropout 0 --l2 0.01 --threads 3",
    )
    .success();
    assert!(dir.bytes("m") == one);
    let tagged = dir.run("tag m test.conll --threads 1").success();
    assert_eq!(dir.run("tag m test.conll --threads 3").success(), tagged);
    let piped = dir.run_with_stdin("tag m - --format conll", dir.text("test.conll"));
    assert_eq!(piped.success(), tagged);
}

#[test]
fn a_column_of_the_corpus_with_the_name_is_a_column() {
    let files = [("train.conll", "Ann PER B-PER\nleft O O\n\nBob O O\n"), ("a.tpl", "predicted\n")];
    let train = "train train.conll --columns word,predicted,ner --template a.tpl --model m --quiet";
    let dir = TestDir::trained(&files, train);
    let model = Model::open(dir.path("m")).unwrap();
    assert!(model.first_pass().is_none());
}

#[test]
fn training_continues_both_passes_and_not_from_one() {
    let dir = trained();
    let before = (dir.bytes("m"), dir.bytes("log"));
    let train = "train train.conll --template two.tpl --model m --quiet";
    dir.run(&format!("{train} --init one")).fails_with("has no first pass");
    assert!((dir.bytes("m"), dir.bytes("log")) == before);
    dir.run("train test.conll --init m --model more --quiet --dropout 0 --l2 0.01").success();
    assert!(Model::open(dir.path("more")).unwrap().first_pass().is_some());
}

#[test]
fn a_search_trains_both_passes() {
    let dir = trained();
    let folds = "tune train.conll --template two.tpl --folds 2 --dropout 0 --l2 0.1 --quiet";
    dir.run(&format!("{folds} --max-iterations 3 --model best")).success();
    assert!(Model::open(dir.path("best")).unwrap().first_pass().is_some());
}
