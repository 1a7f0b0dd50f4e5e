//! Documents: marks, windows, and templates that look at them.

use crate::support::TestDir;

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
    let dir = TestDir::new(&[("train.conll", CORPUS), ("doc.tpl", TEMPLATE)]);
    let train = "train train.conll --template doc.tpl --model m --quiet --dropout 0 --l2 0.01";
    dir.run(&format!("{train} {options}")).success();
    dir
}

/// The last column of each line.
fn labels(tagged: &str) -> String {
    let lines = tagged.lines().filter(|line| !line.is_empty());
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
    let tagged = dir.run("tag m train.conll --document-window 1").success();
    assert_eq!(labels(&tagged), "O O O O O O O O O O O");
    let report = dir.run("eval m train.conll --document sentence").success();
    assert!(!report.contains("accuracy: 100.00%"), "{report}");
    let stored = model("--document sentence --document-window 7");
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
        (
            "a.txt",
            "Ann left\nAnn\n\nleft\n",
            "--document blank-line",
            "R O R O",
        ),
        (
            "a.txt",
            "Ann left\nAnn\n\x0cleft\n",
            "--document form-feed",
            "R O R O",
        ),
        (
            "a.txt",
            "Ann Ann\nAnn\nleft\n",
            "--document line",
            "R R O O",
        ),
    ] {
        dir.write(name, text);
        let output = "--output conll";
        let tagged = dir
            .run(&format!("tag m {name} {output} {options}"))
            .success();
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
fn a_rule_without_a_template_that_looks_at_documents_is_an_error() {
    let dir = TestDir::new(&[("train.conll", CORPUS)]);
    let error = dir
        .run("train train.conll --template ner --model m --document file")
        .failure();
    assert!(
        error.contains("no line of the template looks at the document"),
        "{error}"
    );
}
