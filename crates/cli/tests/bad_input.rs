//! Invalid input: exit code 1 and a message with the location of the error and what was expected.

use std::fs;

use crate::support::{NER_CORPUS, TestDir};

/// Trains on a file `train.conll` with these contents and returns the error message.
fn corpus_error(contents: impl AsRef<[u8]>) -> String {
    let dir = TestDir::new(&[]);
    dir.write("train.conll", contents);
    dir.run("train train.conll --template minimal --model m --quiet").failure()
}

/// Trains on [`NER_CORPUS`] with `options` and returns the error message.
pub(crate) fn option_error(options: &str) -> String {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    dir.run(&format!("train train.conll --model m --quiet {options}")).failure()
}

/// Trains with a template of these contents and returns the error message.
fn template_error(contents: impl AsRef<[u8]>) -> String {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    dir.write("my.tpl", contents);
    dir.run("train train.conll --template my.tpl --model m --quiet").failure()
}

// Corpora

#[test]
fn a_file_of_zeros_does_not_crash_the_program() {
    corpus_error([0; 100_000]);
}

#[test]
fn a_missing_file_is_reported() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    for line in [
        "train none --template minimal --model m --quiet",
        "train train.conll none --template minimal --model m --quiet",
        "train train.conll --dev none --template minimal --model m --quiet",
        "eval --predictions none train.conll",
        "eval --predictions train.conll none",
        "eval none train.conll",
        "tag none",
        "inspect none",
    ] {
        let message = dir.run(line).failure();
        assert!(message.starts_with("none: "), "{line}: {message}");
    }
    assert_eq!(dir.names(), ["train.conll"]);
}

#[test]
fn a_directory_is_not_a_file() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    fs::create_dir(dir.path("dir")).unwrap();
    for line in [
        "train dir --template minimal --model n --quiet",
        "train train.conll --template dir --model n --quiet",
        "train train.conll --dev dir --template minimal --model n --quiet",
        "tag m dir --format conll",
        "tag dir",
        "inspect dir",
        "eval m dir",
        "eval dir train.conll",
    ] {
        let message = dir.run(line).failure();
        assert!(message.starts_with("dir: "), "{line}: {message}");
    }
}

#[test]
fn standard_input_can_be_read_only_once() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    for line in ["train - - --template minimal --model n --quiet", "tag m - -"] {
        let message = dir.run_with_stdin(line, NER_CORPUS).failure();
        assert_eq!(message, "standard input can be read only once", "{line}");
    }
    let train = "train - --dev - --template minimal --model n --quiet";
    let message = dir.run_with_stdin(train, NER_CORPUS).failure();
    assert!(message.starts_with("-: ") || message.contains("only once"), "{message}");
}

#[test]
fn development_data_must_have_the_columns_of_the_template() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("dev.conll", "Ann B-PER\n")]);
    dir.write("pos.tpl", "word\ncolumn(1)\n");
    let train = "train train.conll --dev dev.conll --template pos.tpl --model m --quiet";
    let message = dir.run(train).failure();
    assert!(message.contains("dev.conll") || message.contains("pos.tpl"), "{message}");
    assert!(!dir.path("m").exists());
}

// Templates

#[test]
fn a_missing_template_is_reported() {
    let message = option_error("--template none.tpl");
    assert!(
        message.starts_with("--template none.tpl: no such file or built-in template"),
        "{message}"
    );
}

#[test]
fn pre_extracted_attributes_take_no_template() {
    let dir = TestDir::new(&[("a.crfsuite", "O\ta\n")]);
    let train = "train a.crfsuite --template minimal --model m --quiet";
    let message = dir.run(train).failure();
    assert!(message.starts_with("--template: "), "{message}");
}

#[test]
fn an_invalid_template_is_reported_with_its_line() {
    for (contents, place) in [
        ("word\nwordd(\n", "my.tpl:2:"),
        ("word[\n", "my.tpl:1:"),
        ("word[0] & \n", "my.tpl:1:"),
        ("suffix(0)\n", "my.tpl:1:"),
        ("suffix(-3)\n", "my.tpl:1:"),
        ("regex(\"(\")\n", "my.tpl:1:"),
        ("edge: bias\n", "my.tpl:1:"),
        ("word[99999999999999999999]\n", "my.tpl:1:"),
        ("lexicon(\"none.txt\")\n", "my.tpl:1:"),
        ("U00:%x[0,\n", "my.tpl:1:"),
        ("U00:%x[0,9]\n", "my.tpl:1"),
        ("word\nnone & word\n", "my.tpl:2:"),
        ("column(7)\n", "my.tpl:1:"),
    ] {
        let message = template_error(contents);
        assert!(message.starts_with(place), "{contents:?}: {message}");
    }
}

// Model files

#[test]
fn a_model_needs_an_existing_directory() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let train = "train train.conll --template minimal --model no/m --quiet";
    let message = dir.run(train).failure();
    assert!(message.starts_with("no"), "{message}");
}

#[test]
fn a_model_cannot_be_a_directory() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    fs::create_dir(dir.path("dir")).unwrap();
    let train = "train train.conll --template minimal --model dir --quiet";
    let message = dir.run(train).failure();
    assert!(message.contains("dir"), "{message}");
    assert!(dir.path("dir").is_dir());
}

#[test]
fn a_failed_training_run_leaves_the_model_alone() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let model = dir.bytes("m");
    dir.write("ragged.conll", "Ann NNP B-PER\nleft O\n");
    dir.write("value.tpl", "value(column(1))\n");
    for line in [
        "train ragged.conll --template minimal --model m --quiet",
        "train none --template minimal --model m --quiet",
        "train train.conll --template none --model m --quiet",
        "train train.conll --template value.tpl --model m --quiet",
        "train train.conll --template minimal --model m --quiet --l2 -1",
        "train train.conll --template minimal --model m --quiet --dev ragged.conll",
    ] {
        dir.run(line).failure();
        assert!(dir.bytes("m") == model, "{line}");
    }
    let expected = ["m", "ragged.conll", "train.conll", "value.tpl"];
    assert_eq!(dir.names(), expected, "temporary files were left behind");
}

// Tagging and evaluation

#[test]
fn words_are_not_attributes() {
    let dir = TestDir::new(&[("a.crfsuite", "O\ta\nB\tb\n")]);
    dir.run("train a.crfsuite --model m --quiet").success();
    let message = dir.run_with_stdin("tag m", "Ann left.\n").failure();
    assert!(message.contains("attributes"), "{message}");
}

#[test]
fn input_files_of_different_formats_need_the_format_option() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    dir.write("a.txt", "Ann left.");
    dir.write("a.conll", "Ann NNP");
    let message = dir.run("tag m a.txt a.conll").failure();
    assert!(message.contains("--format"), "{message}");
}

#[test]
fn an_invalid_number_is_reported() {
    let dir = TestDir::new(&[("train.conll", "a 1 X\nb 2 Y\n"), ("v.tpl", "word\nvalue(n)\n")]);
    let options = "--columns word,n,label --template v.tpl --model m --quiet";
    dir.run(&format!("train train.conll {options}")).success();
    for number in ["one", "nan", "1e999"] {
        let text = format!("a 1\n\nb {number}\n");
        let output = dir.run_with_stdin("tag m --format conll", text);
        let message = output.failure();
        assert!(message.starts_with("-:3"), "{message}");
    }
}

#[test]
fn predictions_for_other_sentences_are_reported() {
    let dir = TestDir::new(&[
        ("gold", "a X\nb Y\n\nc X\n"),
        ("short", "a X\n\nc X\n"),
        ("few", "a X\nb Y\n"),
        ("many", "a X\nb Y\n\nc X\n\nd X\n"),
    ]);
    let compare = |file: &str| dir.run(&format!("eval --predictions {file} gold")).failure();
    assert!(compare("short").starts_with("short:1: found a sentence of 1 tokens; "));
    assert!(compare("few").starts_with("few: found 1 sentences; expected 2"));
    assert!(compare("many").starts_with("many: found 3 sentences; expected 2"));
}

#[test]
fn predictions_for_other_words_are_reported() {
    let dir = TestDir::new(&[("gold", "a X\nb Y\n"), ("other", "a X X\nc Y Y\n")]);
    assert_eq!(
        dir.run("eval --predictions other gold").failure(),
        "other:2: found the token 'c'; expected 'b', as at gold:2"
    );
}
