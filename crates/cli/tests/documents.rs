//! Documents: marks, windows, and templates that look at them.

use crate::support::{Session, TestDir, gzip};

/// The label of a word that occurs once in its document is `O`, of one that recurs `R`.
const CORPUS: &str = "\
-DOCSTART- O

Ann R
left O

Rome O
saw O
Ann R

-DOCSTART- O

Ann O
stayed O

Bob O
left O
";

/// A template that sees nothing but whether a word recurs.
const TEMPLATE: &str = "mention(order)\n";

fn model(options: &str) -> TestDir {
    let train = "train train.conll --template doc.tpl --model m --quiet --dropout 0 --l2 0.01";
    let files = [("train.conll", CORPUS), ("doc.tpl", TEMPLATE)];
    TestDir::trained(&files, &format!("{train} {options}"))
}

/// The last column of each line.
fn labels(tagged: &str) -> String {
    let lines = tagged.lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let labels = lines.filter_map(|line| line.rsplit(['\t', ' ']).next());
    labels.collect::<Vec<_>>().join(" ")
}

#[test]
fn training_and_tagging_see_the_documents_that_the_file_marks() {
    let dir = model("");
    let tagged = dir.run("tag m train.conll").success();
    assert_eq!(labels(&tagged), "O R O O O R O O O O O");
    let report = dir.run("eval m train.conll").success();
    assert!(report.contains("accuracy: 100.00%"), "{report}");
}

#[test]
fn the_rule_can_be_overridden_and_is_stored() {
    let dir = model("");
    let tagged = dir.run("tag m train.conll --document sentence").success();
    assert_eq!(labels(&tagged), "O O O O O O O O O O O");
    let tagged = dir.run("tag m train.conll --document file").success();
    assert_eq!(labels(&tagged), "O R R O O R O R O O R");
    let report = dir.run("eval m train.conll --document sentence").success();
    assert!(!report.contains("accuracy: 100.00%"), "{report}");
    let stored = model("--document sentence");
    let tagged = stored.run("tag m train.conll").success();
    assert_eq!(labels(&tagged), labels(&tagged).replace('R', "O"));
}

#[test]
fn every_format_marks_documents() {
    let dir = model("");
    let row = |id: u32, word: &str| format!("{id}\t{word}{}\n", "\t_".repeat(8));
    let conllu = format!(
        "# newdoc id = 1\n{}{}\n{}\n# newdoc\n{}\n",
        row(1, "Ann"),
        row(2, "left"),
        row(1, "Ann"),
        row(1, "left"),
    );
    let jsonl = |word: &str, doc: &str| format!("{{\"tokens\":[\"{word}\"],\"doc\":{doc}}}\n");
    let jsonl =
        jsonl("Ann", "1") + &jsonl("Ann", "1") + &jsonl("left", "\"1\"") + &jsonl("left", "[]");
    let nested = "{\"doc\":[{\"tokens\":[\"Ann\"]},{\"tokens\":[\"Ann\"]}]}\n\
                  {\"doc\":[{\"tokens\":[\"left\"]}]}\n{\"tokens\":[\"left\"]}\n";
    for (name, text, options, expected) in [
        ("a.conllu", conllu.as_str(), "", "R O R O"),
        ("a.jsonl", &jsonl, "", "R R O O"),
        ("b.jsonl", nested, "", "R R O O"),
        ("a.txt", "Ann left\nAnn\n\nleft\n", "", "R R R R"),
        ("a.txt", "Ann left\nAnn\n\nleft\n", "--document blank-line", "R O R O"),
        ("a.txt", "Ann left\nAnn\n\x0cleft\n", "--document form-feed", "R O R O"),
        ("a.txt", "Ann Ann\nAnn\nleft\n", "--document line", "R R O O"),
    ] {
        dir.write(name, text);
        let output = "--output conll";
        let tagged = dir.run(&format!("tag m {name} {output} {options}")).success();
        assert_eq!(labels(&tagged), expected, "{name} {options}: {tagged}");
    }
}

#[test]
fn a_file_ends_a_document() {
    let dir = model("");
    dir.write("a.txt", "Ann left\n");
    dir.write("b.txt", "Ann\n");
    assert_eq!(labels(&dir.run("tag m a.txt b.txt").success()), "O O O");
    let tagged = dir.run("tag m a.txt b.txt --document marks").success();
    assert_eq!(labels(&tagged), "R O R");
}

#[test]
fn at_a_terminal_sentences_are_answered_at_once_if_they_are_documents() {
    let dir = model("");
    let mut tag = Session::start(&dir, "tag m - --document sentence");
    tag.exchange("Ann Ann\n", "Ann\tR\nAnn\tR\n");
    tag.exchange("\nleft\n", "\nleft\tO\n");
    tag.finish_after_output();
    // A document is answered when the next one begins.
    let mut tag = Session::start(&dir, "tag m - --format conll --columns word");
    tag.exchange("Ann\n\nAnn\n\n-DOCSTART-\n\n", "Ann R\n\nAnn R\n");
    tag.finish_after_output();
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let dir = model("");
    let sentences = (0..3000).map(|i| format!("{} x{i} Ann.\n", ["Bob", "Ann", "Rome"][i * i % 3]));
    dir.write("a.txt", sentences.collect::<String>());
    let one = dir.run("tag m a.txt --threads 1").success();
    assert!(one.contains("\tR\n") && one.contains("\tO\n"));
    for threads in [2, 5] {
        let other = dir.run(&format!("tag m a.txt --threads {threads}")).success();
        assert!(other == one, "{threads} threads");
    }
    // From a pipe, batches are others.
    let piped = dir.run_with_stdin("tag m - --threads 2", dir.text("a.txt")).success();
    assert!(piped == one);
}

#[test]
fn odd_documents_are_tagged() {
    let dir = model("");
    let columns = "--columns word,label";
    for (name, text, expected) in [
        ("twice.conll", "-DOCSTART- O\n\n-DOCSTART- O\n\nAnn O\n\nAnn O\n", "O O R R"),
        ("end.conll", "Ann O\n\n-DOCSTART- O\n\nAnn O\n\n-DOCSTART- O\n", "O O O O"),
        ("none.conll", "Ann O\n\nAnn O\n", "R R"),
        ("empty.txt", "", ""),
        ("feeds.txt", "\x0c\n\x0c\n", ""),
        ("empty.jsonl", "{\"doc\":[]}\n{\"doc\":[]}\n", ""),
    ] {
        dir.write(name, text);
        let options = if name.ends_with(".conll") { columns } else { "" };
        let tagged = dir.run(&format!("tag m {name} --output conll {options}")).success();
        assert_eq!(labels(&tagged), expected, "{name}: {tagged}");
    }
    dir.write("a.conll.gz", gzip("Ann O\n\n-DOCSTART- O\n\nAnn O\n\nAnn O\n"));
    let tagged = dir.run(&format!("tag m a.conll.gz end.conll {columns}")).success();
    assert_eq!(labels(&tagged), "O O R R O O O O");
    dir.write("bad.jsonl", "{\"doc\":[3]}\n");
    assert_eq!(
        dir.run("tag m bad.jsonl").failure(),
        "bad.jsonl:1: key \"doc\": expected an array of sentences, objects such as {\"tokens\": \
         [\"a\"], \"labels\": [\"O\"]}, but item 1 is a number"
    );
}

#[test]
fn documents_survive_tagging_in_every_format() {
    let dir = model("");
    dir.write(
        "a.jsonl",
        "{\"doc\":[{\"tokens\":[\"Ann\"]},{\"tokens\":[\"Ann\"]}]}\n{\"tokens\":[\"Ann\"]}\n",
    );
    let tagged = dir.run("tag m a.jsonl").success();
    dir.write("b.jsonl", &tagged);
    let again = dir.run("tag m b.jsonl").success();
    assert_eq!(again, tagged);
    assert_eq!(labels(&dir.run("tag m b.jsonl --output conll").success()), "R R O");
}

#[test]
fn ner_looks_at_documents_where_they_are_marked() {
    let dir = TestDir::new(&[("marked.conll", CORPUS)]);
    dir.write("plain.conll", CORPUS.replace("-DOCSTART- O\n\n", ""));
    for (file, template, options, expected) in [
        ("marked", "ner", "", "ner-document"),
        ("plain", "ner", "", "ner"),
        ("marked", "ner", "--document sentence", "ner"),
        ("marked", "minimal", "", "minimal"),
    ] {
        let train = "train --max-iterations 5 --quiet --model";
        dir.run(&format!("{train} m {file}.conll --template {template} {options}")).success();
        let keep = if expected == "ner" { "--document sentence" } else { "" };
        dir.run(&format!("{train} n {file}.conll --template {expected} {keep}")).success();
        // The files differ in the name of the template that was given.
        let [m, n] = ["m", "n"].map(|model| dir.run(&format!("inspect {model} --json")).json());
        for key in ["fingerprint", "options", "training"] {
            assert_eq!(m[key], n[key], "{file} {template} {options}");
        }
    }
    let trained = dir.run("train marked.conll --template ner --max-iterations 5 --model new");
    assert!(trained.stderr.contains("the template ner is ner-document"), "{}", trained.stderr);
}

#[test]
fn a_rule_without_a_template_that_looks_at_documents_is_an_error() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    let error = dir.run("train train.conll --template minimal --model m --document file").failure();
    assert!(error.contains("no line of the template looks at the document"), "{error}");
}
