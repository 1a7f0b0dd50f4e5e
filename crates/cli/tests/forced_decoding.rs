//! Tagging with labels and spans that are known.

use serde_json::Value;

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir};

const TEXT: &str = "Ann NNP _\nLee NNP _\nleft VBD _\nRome NNP _\n\n";

fn ner() -> TestDir {
    TestDir::with_model(NER_CORPUS, "--template minimal")
}

/// Tags with `options`, and returns the labels: the last column.
fn labels(dir: &TestDir, text: &str, options: &str) -> String {
    let tagged = dir.run_with_stdin(&format!("tag m --format conll {options}"), text);
    let lines = tagged.success();
    let labels = lines.lines().map(|line| line.rsplit(' ').next().unwrap());
    labels.collect::<Vec<_>>().join(" ")
}

#[test]
fn known_labels_are_kept_and_the_others_completed() {
    let dir = ner();
    let label = "--forced label";
    assert_eq!(labels(&dir, TEXT, ""), labels(&dir, TEXT, label));
    assert_eq!(labels(&dir, TEXT, label), "B-PER I-PER O B-LOC ");
    let known = |t: usize, label: &str| {
        let mut lines: Vec<String> = TEXT.lines().map(str::to_owned).collect();
        lines[t] = lines[t].replace('_', label);
        lines.join("\n") + "\n"
    };
    assert_eq!(labels(&dir, &known(3, "O"), label), "B-PER I-PER O O ");
    // The label before it must begin the span.
    let text = known(3, "I-PER");
    assert_eq!(labels(&dir, &text, label), "B-PER I-PER B-PER I-PER ");
    assert_eq!(
        labels(&dir, &known(0, "O|B-LOC"), "--forced -1"),
        labels(&dir, &known(0, "B-LOC|O"), label)
    );
    assert!(!labels(&dir, &known(0, "O|B-LOC"), label).starts_with("B-PER"));
}

#[test]
fn json_lines_have_known_labels_and_spans() {
    let dir = ner();
    let tag = |keys: &str, known: &str| -> Value {
        let object = format!(
            "{{\"tokens\":[\"Ann\",\"Lee\",\"left\",\"Rome\"],\
             \"1\":[\"NNP\",\"NNP\",\"VBD\",\"NNP\"]{known}}}\n"
        );
        let tag = format!("tag m --format jsonl --forced {keys}");
        dir.run_with_stdin(&tag, object).json_lines().remove(0)
    };
    let free = tag("labels", "");
    assert_eq!(free, tag("labels,spans", ",\"labels\":null,\"spans\":[]"));
    let found = tag("labels", ",\"labels\":[null,\"_\",[\"B-LOC\",\"B-PER\"],\"O\"]");
    assert!(["B-LOC", "B-PER"].contains(&found["labels"][2].as_str().unwrap()));
    assert_eq!(found["labels"][3], "O");
    let known =
        ",\"spans\":[{\"token_start\":1,\"token_end\":3,\"type\":\"LOC\",\"text\":\"Lee\"}]";
    let found = tag("spans", known);
    let span = serde_json::json!({"token_start": 1, "token_end": 3, "type": "LOC"});
    assert!(found["spans"].as_array().unwrap().contains(&span), "{found}");
    // A span of one token ends there, although the next could continue it.
    let known = ",\"known\":[{\"token_start\":0,\"token_end\":1,\"type\":\"PER\"}]";
    let found = tag("known", known);
    assert_eq!(found["labels"][0], "B-PER");
    assert_ne!(found["labels"][1], "I-PER");
}

#[test]
fn every_format_with_columns_has_known_labels() {
    let dir = TestDir::with_model(POS_CORPUS, "--template minimal");
    let row =
        |i: usize, word: &str, tag: &str| format!("{i}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n");
    let text = format!("# weight = x\n{}{}\n", row(1, "Ann", "VBD"), row(2, "left", "_"));
    let tagged =
        dir.run_with_stdin("tag m --format conllu --forced upos --output conll", text).success();
    let found: Vec<&str> = tagged.lines().map(|l| l.rsplit('\t').next().unwrap()).collect();
    assert_eq!(found[1], "VBD");
    assert_ne!(found[2], "_");

    let attributes = "A\tw=a\nB\tw=b\n\nB\tw=b\nA\tw=a\n\n";
    let train = "train train.crfsuite --model m --quiet";
    let dir = TestDir::trained(&[("train.crfsuite", attributes)], train);
    let tagged = dir.run_with_stdin(
        "tag m --format crfsuite --forced label",
        "@weight:2\n_\tw=a\nA\tw=b\nA|B\tw=b\n\n",
    );
    assert_eq!(tagged.success(), "_\tA\nA\tA\nA|B\tB\n\n");
}
