//! `dropchain check`.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

fn json(dir: &TestDir, line: &str) -> Value {
    let output = dir.run(&format!("check {line} --json --quiet"));
    serde_json::from_str(&output.stdout).unwrap()
}

/// The kinds of findings with their severities and counts.
fn findings(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let finding = |f: &Value| {
        format!(
            "{} {} {}",
            f["severity"].as_str().unwrap(),
            f["kind"].as_str().unwrap(),
            f["count"]
        )
    };
    findings.map(finding).collect()
}

#[test]
fn a_sound_corpus_is_described_and_passes() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("dev.conll", "Ann NNP B-PER\n")]);
    let text = dir.run("check train.conll --dev dev.conll --quiet").success();
    for line in ["sentences ", "IOB2, 5 labels", "no sentence of dev is in train"] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let report = json(&dir, "train.conll --dev dev.conll");
    assert_eq!(report["sizes"][0]["tokens"], 19);
    assert_eq!(report["sizes"][1]["unknown_tokens"], 0);
    assert_eq!(report["labels"]["types"][0]["label"], "PER");
    assert_eq!(report["labels"]["scheme"], "iob2");
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
fn warnings_fail_only_if_strict() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("test.conll", NER_CORPUS)]);
    let text = dir.run("check train.conll --test test.conll").success();
    assert!(text.contains("sentences of test that are in train, too: 3"), "{text}");
    assert!(text.contains("  test.conll:7: also train.conll:7, 6 tokens"), "{text}");
    let error = dir.run("check train.conll --test test.conll --strict").exits(1);
    assert!(error.contains("--strict"), "{error}");
    dir.run("check train.conll --strict").success();
}

#[test]
fn examples_are_limited_and_all_problems_counted() {
    let text = "a O\n\nb\n\n".repeat(50);
    let dir = TestDir::new(&[("train.conll", &text)]);
    let report = json(&dir, "train.conll --examples 3");
    assert_eq!(findings(&report)[0], "error malformed 50");
    assert_eq!(report["findings"][0]["examples"].as_array().unwrap().len(), 3);
    let output = dir.run("check train.conll --examples 3");
    assert!(output.stdout.contains("  … and 47 more\n"), "{}", output.stdout);
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

#[test]
fn suspicious_annotation_waits_for_the_errors() {
    let dir = TestDir::new(&[("train.conll", "a O\n\nb\n")]);
    let error = dir.run("check train.conll --suspicious").exits(1);
    assert!(error.contains("before the errors are corrected"), "{error}");
}

#[test]
fn standard_input_and_other_formats_are_checked() {
    let dir = TestDir::new(&[]);
    let line = "check - --format jsonl --quiet";
    let output = dir.run_with_stdin(line, "{\"tokens\":[\"a\"],\"labels\":[\"X\"]}\n{}\n");
    assert!(output.stdout.contains("  -:2: "), "{}", output.stdout);
    assert_eq!(output.status.code(), Some(1));
    dir.write("train.crfsuite", "B-X\tw=a\nO\tw=b\n\nB-X\tw=b\n");
    let text = dir.run("check train.crfsuite --suspicious --folds 2 --quiet").success();
    assert!(text.contains("1. train.crfsuite:"), "{text}");
    dir.run("check - --dev -").exits(2);
    let error = dir.run("check missing.conll").exits(1);
    assert!(error.contains("missing.conll"), "{error}");
}

#[test]
fn what_is_wrong_with_annotations_is_found_in_one_run() {
    let text = "true\n{\"text\": \"Ann left\", \"spans\": [[0, 3, \"A\"], [1, 5, \"B\"]]}\n";
    let dir = TestDir::new(&[("a.jsonl", text), ("a.txt", "Ann Lee")]);
    dir.write("a.ann", "T1\tA 0 7\tAnn Lee\nT2\tB 4 7\tLee\n");
    for (command, count) in
        [("check a.jsonl --format spans --json", 2), ("check a.txt --format brat --json", 1)]
    {
        let output = dir.run(command);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let report: Value = serde_json::from_str(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let malformed = findings.iter().find(|finding| finding["kind"] == "malformed");
        assert_eq!(malformed.unwrap()["count"], count, "{command}: {report}");
    }
}
