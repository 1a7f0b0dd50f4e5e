//! `dropchain check`.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

fn json(dir: &TestDir, line: &str) -> Value {
    let output = dir.run(&format!("check {line} --json --quiet"));
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn all_problems_of_a_file_are_found_in_one_run() {
    let dir = TestDir::new(&[]);
    let mut text = b"Ann B-PER\nLee\n\nx\xe9 O\r\n\nfoo\n\nA\xe2\x80\x8bb O\n\n".to_vec();
    text.extend("c O\n".repeat(201).into_bytes());
    dir.write("train.conll", &text);
    let output = dir.run("check train.conll");
    assert_eq!(output.status.code(), Some(1));
    for line in [
        "  train.conll:4:2: byte 0xE9",
        "error: sentences that cannot be read: 2",
        "  train.conll:6: expected 2 columns (word label), found 1",
        "  train.conll:8:2: U+200B in 'A\\u{200b}b'",
        "  train.conll:10: 201 tokens",
        "  train.conll:4: the first of 1 lines that end in CRLF",
    ] {
        assert!(output.stdout.contains(line), "{line} in {}", output.stdout);
    }
    assert!(output.stderr.contains("training or evaluation would refuse"));
    // What training says of it is the first of them.
    let error = dir.run("train train.conll --template minimal --model m").exits(1);
    assert!(error.contains("train.conll:2: expected 2 columns"), "{error}");
}

#[test]
fn suspicious_and_inconsistent_annotation_has_its_place() {
    let text = (NER_CORPUS.to_owned() + "\n").repeat(8)
        + "Ann NNP O\nLee NNP O\nleft VBD O\nRome NNP B-LOC\n. . O\n";
    let dir = TestDir::new(&[("train.conll", &text)]);
    let line = "train.conll --suspicious 2 --inconsistent 1 --template minimal --folds 3";
    let report = json(&dir, line);
    let suspicious = report["suspicious"].as_array().unwrap();
    assert_eq!(suspicious.len(), 2);
    let first = &suspicious[0];
    assert!([177, 178].contains(&first["line"].as_u64().unwrap()), "{first}");
    assert_eq!(first["predicted"][0], "B-PER");
    assert!(first["suspicion"].as_f64().unwrap() > suspicious[1]["suspicion"].as_f64().unwrap());
    assert_eq!(report["inconsistent"][0]["phrase"], "Ann Lee");
    let text = dir.run(&format!("check {line} --quiet")).success();
    assert!(text.contains("annotated nothing, predicted PER 'Ann Lee'"), "{text}");
    let threads = dir.run(&format!("check {line} --quiet --threads 1")).success();
    assert_eq!(text, threads);
}
