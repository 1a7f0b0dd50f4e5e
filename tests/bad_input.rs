//! Whatever is wrong with the input: exit code 1 and a message that says where and what.

use std::fs;

use crate::support::{Folder, NAMES};

/// What training on the file `train.conll` with these contents complains of.
fn training(contents: impl AsRef<[u8]>) -> String {
    let folder = Folder::new(&[]);
    folder.write("train.conll", contents);
    folder
        .run("train train.conll --template minimal --model m --quiet")
        .failed()
}

/// What training on [`NAMES`] with `options` complains of.
pub(crate) fn training_with(options: &str) -> String {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    folder
        .run(&format!("train train.conll --model m --quiet {options}"))
        .failed()
}

/// What training with a template of these contents complains of.
fn template(contents: impl AsRef<[u8]>) -> String {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    folder.write("my.tpl", contents);
    folder
        .run("train train.conll --template my.tpl --model m --quiet")
        .failed()
}

/// What training on a file of another format complains of.
fn training_on(file: &str, contents: &str) -> String {
    let folder = Folder::new(&[(file, contents)]);
    let template = match file.ends_with(".crfsuite") {
        true => "",
        false => "--template minimal",
    };
    folder
        .run(&format!("train {file} {template} --model m --quiet"))
        .failed()
}

// Corpora

#[test]
fn a_ragged_row_is_named() {
    assert_eq!(
        training("Ann NNP B-PER\nleft O\n"),
        "train.conll:2: expected 3 columns (word 1 label), found 2"
    );
}

#[test]
fn a_row_without_a_label_is_named() {
    assert_eq!(
        training("Ann\nleft\n"),
        "train.conll:1: expected at least 2 columns (a word and its label), found 1"
    );
    assert_eq!(
        training("Ann\tB-PER\nleft\t\n"),
        "train.conll:2: the label is empty; expected a label, such as O"
    );
}

#[test]
fn an_empty_file_is_named() {
    for contents in ["", "\n", " \n\n\t\n"] {
        assert_eq!(
            training(contents),
            "train.conll: no sentence found; expected at least one"
        );
    }
}

#[test]
fn a_byte_that_is_no_utf8_is_named() {
    let message = training(b"Ann O\nM\xfcnchen O\n");
    assert!(
        message.starts_with("train.conll:2:2: byte 0xFC is not UTF-8; "),
        "{message}"
    );
}

#[test]
fn a_file_in_utf16_is_named() {
    let message = training(b"\xff\xfeA\0n\0n\0");
    assert!(
        message.starts_with("train.conll: the file is UTF-16; "),
        "{message}"
    );
}

#[test]
fn a_packed_file_that_is_cut_short_is_named() {
    let message = training(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\xca");
    assert!(message.starts_with("train.conll: "), "{message}");
}

#[test]
fn a_file_of_zeros_is_no_crash() {
    training([0; 100_000]);
}

#[test]
fn a_label_column_that_is_not_there_is_named() {
    for label in ["ner", "3", "-4", "99999999999999999999"] {
        let message = training_with(&format!("--template minimal --label {label}"));
        assert!(
            message.starts_with(&format!("train.conll:1: no column '{label}' ")),
            "{message}"
        );
    }
}

#[test]
fn columns_that_do_not_fit_are_named() {
    let message = training_with("--template minimal --columns word,ner");
    assert_eq!(
        message,
        "train.conll:1: expected 2 columns (word ner), found 3"
    );
}

#[test]
fn columns_of_the_same_name_are_an_error() {
    let message = training_with("--template minimal --columns word,word,ner");
    assert!(message.contains("word"), "{message}");
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
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
        let message = folder.run(line).failed();
        assert!(message.starts_with("none: "), "{line}: {message}");
    }
    assert_eq!(folder.names(), ["train.conll"]);
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::trained(NAMES, "--template minimal");
    fs::create_dir(folder.path("folder")).unwrap();
    for line in [
        "train folder --template minimal --model n --quiet",
        "train train.conll --template folder --model n --quiet",
        "train train.conll --dev folder --template minimal --model n --quiet",
        "tag m folder --format conll",
        "tag folder",
        "inspect folder",
        "eval m folder",
        "eval folder train.conll",
    ] {
        let message = folder.run(line).failed();
        assert!(message.starts_with("folder: "), "{line}: {message}");
    }
}

#[test]
fn files_that_disagree_are_named() {
    let folder = Folder::new(&[("a", "Ann B-PER\n"), ("b", "Ann NNP B-PER\n")]);
    let message = folder
        .run("train a b --template minimal --model m --quiet")
        .failed();
    assert!(message.starts_with("b:1: the columns are "), "{message}");
}

#[test]
fn standard_input_can_be_given_once() {
    let folder = Folder::trained(NAMES, "--template minimal");
    for line in [
        "train - - --template minimal --model n --quiet",
        "tag m - -",
    ] {
        let message = folder.run_with(line, NAMES).failed();
        assert_eq!(message, "standard input can be read only once", "{line}");
    }
    let train = "train - --dev - --template minimal --model n --quiet";
    let message = folder.run_with(train, NAMES).failed();
    assert!(
        message.starts_with("-: ") || message.contains("only once"),
        "{message}"
    );
}

#[test]
fn development_data_must_fit() {
    let folder = Folder::new(&[("train.conll", NAMES), ("dev.conll", "Ann B-PER\n")]);
    folder.write("pos.tpl", "word\ncolumn(1)\n");
    let train = "train train.conll --dev dev.conll --template pos.tpl --model m --quiet";
    let message = folder.run(train).failed();
    assert!(
        message.contains("dev.conll") || message.contains("pos.tpl"),
        "{message}"
    );
    assert!(!folder.path("m").exists());
}

#[test]
fn broken_conllu_is_named() {
    assert_eq!(
        training_on("a.conllu", "1\tAnn\tB\n"),
        "a.conllu:1: expected 10 columns separated by tabs, found 3"
    );
    let row = "\tAnn\t_\tX\t_\t_\t_\t_\t_\t_\n";
    assert_eq!(
        training_on("a.conllu", &format!("1{row}3{row}")),
        "a.conllu:2: expected the word 2, found 3 (is a blank line missing or too many?)"
    );
}

#[test]
fn broken_crfsuite_attributes_are_named() {
    for (contents, expected) in [
        (
            "O\ta:nan\n",
            "a.crfsuite:1:3: attribute 'a' has the value 'nan'; expected a finite number",
        ),
        (
            "O\ta:inf\n",
            "a.crfsuite:1:3: attribute 'a' has the value 'inf'; expected a finite number",
        ),
        (
            "O\ta\nO\tb:1e999\n",
            "a.crfsuite:2:3: attribute 'b' has the value '1e999'; expected a finite number",
        ),
        ("O\t:1\n", "a.crfsuite:1:3: an attribute without a name"),
    ] {
        assert_eq!(training_on("a.crfsuite", contents), expected);
    }
}

#[test]
fn broken_json_is_named() {
    for (contents, place) in [
        (
            "{\"tokens\": [\"a\"], \"labels\": [\"O\"]}\n{\"tokens\": [",
            "a.jsonl:2:",
        ),
        ("[1, 2]\n", "a.jsonl:1: "),
        ("null\n", "a.jsonl:1: "),
        (
            "{\"words\": [\"a\"]}\n",
            "a.jsonl:1: expected the key \"tokens\" or \"text\"",
        ),
        (
            "{\"tokens\": [\"a\"]}\n",
            "a.jsonl:1: the key \"labels\" is missing",
        ),
        (
            "{\"tokens\": [\"a\", \"b\"], \"labels\": [\"O\"]}\n",
            "a.jsonl:1: key \"labels\"",
        ),
        (
            "{\"tokens\": [1], \"labels\": [\"O\"]}\n",
            "a.jsonl:1: key \"tokens\"",
        ),
        ("{\"text\": \"a\"}\n", "a.jsonl:1: an object with \"text\""),
    ] {
        let message = training_on("a.jsonl", contents);
        assert!(message.starts_with(place), "{contents:?}: {message}");
    }
}

#[test]
fn json_nested_without_end_is_no_crash() {
    let message = training_on("a.jsonl", &format!("{{\"tokens\": {}", "[".repeat(200_000)));
    assert!(message.starts_with("a.jsonl:1"), "{message}");
}

// Templates

#[test]
fn a_missing_template_is_named() {
    let message = training_with("--template none.tpl");
    assert!(
        message.starts_with("--template none.tpl: there is no such file"),
        "{message}"
    );
}

#[test]
fn a_template_must_be_given() {
    let message = training_with("");
    assert!(message.starts_with("--template is missing: "), "{message}");
}

#[test]
fn ready_made_attributes_take_no_template() {
    let folder = Folder::new(&[("a.crfsuite", "O\ta\n")]);
    let train = "train a.crfsuite --template minimal --model m --quiet";
    let message = folder.run(train).failed();
    assert!(message.starts_with("--template: "), "{message}");
}

#[test]
fn a_broken_template_is_named_with_its_column() {
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
        let message = template(contents);
        assert!(message.starts_with(place), "{contents:?}: {message}");
    }
}

#[test]
fn a_template_that_says_nothing_is_an_error() {
    for contents in ["", "# nothing\n", "\n\n"] {
        let message = template(contents);
        assert!(message.starts_with("my.tpl"), "{contents:?}: {message}");
    }
}

#[test]
fn a_template_that_is_no_text_is_an_error() {
    let message = template(b"word\n\xff\xfe\n");
    assert!(message.starts_with("my.tpl"), "{message}");
}

// Where the model goes

#[test]
fn a_model_needs_a_folder() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    let train = "train train.conll --template minimal --model no/m --quiet";
    let message = folder.run(train).failed();
    assert!(message.starts_with("no"), "{message}");
}

#[test]
fn a_model_cannot_be_a_folder() {
    let folder = Folder::new(&[("train.conll", NAMES)]);
    fs::create_dir(folder.path("folder")).unwrap();
    let train = "train train.conll --template minimal --model folder --quiet";
    let message = folder.run(train).failed();
    assert!(message.contains("folder"), "{message}");
    assert!(folder.path("folder").is_dir());
}

#[test]
fn a_model_stays_as_it_was_when_training_fails() {
    let folder = Folder::trained(NAMES, "--template minimal");
    let model = folder.bytes("m");
    folder.write("ragged.conll", "Ann NNP B-PER\nleft O\n");
    folder.write("value.tpl", "value(column(1))\n");
    for line in [
        "train ragged.conll --template minimal --model m --quiet",
        "train none --template minimal --model m --quiet",
        "train train.conll --template none --model m --quiet",
        "train train.conll --template value.tpl --model m --quiet",
        "train train.conll --template minimal --model m --quiet --l2 -1",
        "train train.conll --template minimal --model m --quiet --dev ragged.conll",
    ] {
        folder.run(line).failed();
        assert!(folder.bytes("m") == model, "{line}");
    }
    let expected = ["m", "ragged.conll", "train.conll", "value.tpl"];
    assert_eq!(folder.names(), expected, "something was left behind");
}

// Tagging and evaluation

#[test]
fn text_lacks_the_columns_of_some_models() {
    let folder = Folder::new(&[("train.conll", NAMES), ("pos.tpl", "word & pos\n")]);
    let train = "train train.conll --columns word,pos,ner --template pos.tpl --model m --quiet";
    folder.run(train).succeeded();
    let message = folder.run_with("tag m", "Ann left.\n").failed();
    assert!(message.contains("pos"), "{message}");
    let message = folder
        .run_with("tag m --format jsonl", r#"{"tokens":["Ann"]}"#)
        .failed();
    assert!(message.contains("pos"), "{message}");
}

#[test]
fn words_are_no_attributes() {
    let folder = Folder::new(&[("a.crfsuite", "O\ta\nB\tb\n")]);
    folder.run("train a.crfsuite --model m --quiet").succeeded();
    let message = folder.run_with("tag m", "Ann left.\n").failed();
    assert!(message.contains("attributes"), "{message}");
}

#[test]
fn attributes_are_no_words() {
    let folder = Folder::trained(NAMES, "--template minimal");
    let message = folder
        .run_with("tag m --format crfsuite", "O\ta\n")
        .failed();
    assert!(
        message.starts_with("-:1: ") || message.contains("column"),
        "{message}"
    );
}

#[test]
fn input_with_too_few_columns_is_named() {
    let folder = Folder::trained(NAMES, "--template minimal");
    let message = folder.run_with("tag m --format conll", "Ann\n").failed();
    assert!(message.starts_with("-:1: expected 3 columns "), "{message}");
}

#[test]
fn input_files_of_different_formats_must_be_told() {
    let folder = Folder::trained(NAMES, "--template minimal");
    folder.write("a.txt", "Ann left.");
    folder.write("a.conll", "Ann NNP");
    let message = folder.run("tag m a.txt a.conll").failed();
    assert!(message.contains("--format"), "{message}");
}

#[test]
fn a_number_that_is_none_is_named() {
    let folder = Folder::new(&[
        ("train.conll", "a 1 X\nb 2 Y\n"),
        ("v.tpl", "word\nvalue(n)\n"),
    ]);
    let options = "--columns word,n,label --template v.tpl --model m --quiet";
    folder
        .run(&format!("train train.conll {options}"))
        .succeeded();
    for number in ["one", "nan", "1e999"] {
        let text = format!("a 1\n\nb {number}\n");
        let output = folder.run_with("tag m --format conll", text);
        let message = output.failed();
        assert!(message.starts_with("-:3"), "{message}");
    }
}

#[test]
fn predictions_for_other_sentences_are_named() {
    let folder = Folder::new(&[
        ("gold", "a X\nb Y\n\nc X\n"),
        ("short", "a X\n\nc X\n"),
        ("few", "a X\nb Y\n"),
        ("many", "a X\nb Y\n\nc X\n\nd X\n"),
    ]);
    let compare = |file: &str| {
        folder
            .run(&format!("eval --predictions {file} gold"))
            .failed()
    };
    assert!(compare("short").starts_with("short:1: found a sentence of 1 tokens; "));
    assert!(compare("few").starts_with("few: found 1 sentences; expected 2"));
    assert!(compare("many").starts_with("many: found 3 sentences; expected 2"));
}

#[test]
fn predictions_for_other_words_are_named() {
    let folder = Folder::new(&[("gold", "a X\nb Y\n"), ("other", "a X X\nc Y Y\n")]);
    assert_eq!(
        folder.run("eval --predictions other gold").failed(),
        "other:2: found the token 'c'; expected 'b', as at gold:2"
    );
}
