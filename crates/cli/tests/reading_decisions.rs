//! What is not said about an input is recognized and said, or an error that says what reads it.

use crate::support::TestDir;

/// Two sentences in two columns.
const CORPUS: &str = "\
Mira B-PER
Holm I-PER
ran O
. O

Kai B-PER
sat O
in O
Oslo B-LOC
. O

";

/// What training on a file prints to standard error.
fn said(file: &str, text: &str, options: &str) -> String {
    let dir = TestDir::new(&[(file, text)]);
    let run = dir.run(&format!("train {file} --template minimal --l2 0.01 --model m {options}"));
    let said = run.stderr.clone();
    run.success();
    said
}

#[test]
fn warnings_are_printed_once_and_not_if_quiet() {
    let text = format!("# names\n{CORPUS}");
    let warning = "warning: train.tsv:1: 1 line that begins with '#' is read as a token: \
                   --comments skips it";
    assert_eq!(said("train.tsv", &text, "").matches(warning).count(), 1);
    assert_eq!(said("train.tsv", &text, "--quiet"), "");
    let dir = TestDir::new(&[("train.tsv", &text)]);
    let check = dir.run("check train.tsv").success();
    assert!(check.contains("begins with '#'"), "{check}");
}

#[test]
fn a_search_says_how_labels_were_read() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    let corpus = format!("{}x \"\n\n", CORPUS.repeat(30));
    dir.write("stray.conll", corpus);
    let options = "--template minimal --folds 2 --l2 1 --dropout 0 --max-iterations 2 --model new";
    let run = dir.run(&format!("tune stray.conll {options}"));
    assert!(run.stderr.contains("\nread as IOB2, "), "{}", run.stderr);
    let warning = "the label '\\\"' belongs to no scheme, unlike the others (IOB2)";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    run.success();
}
