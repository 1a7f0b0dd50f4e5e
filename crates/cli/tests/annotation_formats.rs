//! Spans of characters from annotation tools: JSON and BRAT's standoff format.

use std::fmt::Write;

use crate::support::{NER_CORPUS, TestDir};

/// The sentences of a corpus as Prodigy has them.
fn prodigy() -> String {
    let mut lines = String::new();
    for sentence in NER_CORPUS.split("\n\n") {
        let (mut text, mut spans) = (String::new(), Vec::<(usize, usize, String)>::new());
        for line in sentence.lines() {
            let cells: Vec<&str> = line.split(' ').collect();
            if !text.is_empty() {
                text.push(' ');
            }
            let start = text.len();
            text.push_str(cells[0]);
            match cells[2].split_once('-') {
                Some(("I", _)) => spans.last_mut().unwrap().1 = text.len(),
                Some((_, kind)) => spans.push((start, text.len(), kind.to_owned())),
                None => {}
            }
        }
        let spans: Vec<String> = (spans.iter())
            .map(|(start, end, label)| {
                format!("{{\"start\":{start},\"end\":{end},\"label\":\"{label}\"}}")
            })
            .collect();
        let spans = spans.join(",");
        writeln!(lines, "{{\"text\":\"{text}\",\"spans\":[{spans}],\"answer\":\"accept\"}}")
            .unwrap();
    }
    lines
}

const TRAIN: &str = "train --template minimal --quiet --l2 0.01 --model m";

#[test]
fn spans_train_the_model_that_columns_train() {
    let dir = TestDir::new(&[("train.jsonl", &prodigy()), ("train.conll", NER_CORPUS)]);
    dir.run(&format!("{TRAIN} train.jsonl --format spans --dev train.jsonl")).success();
    let text = "Ann Lee left Rome.\n";
    let tagged = dir.run_with_stdin("tag m --output inline", text).success();
    assert_eq!(tagged, "[PER Ann Lee] left [LOC Rome].\n");
    let report = dir.run("eval m train.jsonl --format spans").success();
    assert!(report.contains("with 6 phrases; found: 6 phrases; correct: 6"), "{report}");
    assert_eq!(dir.run("eval m train.conll --columns word,pos,label").success(), report);
}

#[test]
fn what_tag_writes_for_annotators_trains_the_model_that_its_columns_train() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    // Sentences that end within lines, in lines that are documents of BRAT.
    dir.write(
        "text.txt",
        "Ann Lee left Rome. Bob met Ann. He left!\n\nThe bank of New York closed. Yes.\n",
    );
    dir.run("tag m text.txt --output conll --output-dir columns").success();
    let train = |name: &str, files: &str| {
        let line = TRAIN.replace("--model m", &format!("--model {name}"));
        dir.run(&format!("{line} {files}")).success();
        let model = dir.run(&format!("inspect {name} --json")).json();
        ["fingerprint", "sentences", "tokens"].map(|key| model[key].clone())
    };
    let expected = train("columns.m", "columns/text.conll");
    assert_eq!(expected[1], 5);
    for (output, file) in [("spans", "text.jsonl"), ("brat", "")] {
        dir.run(&format!("tag m text.txt --output {output} --output-dir {output}")).success();
        let trained = train("other.m", &format!("{output}/{file} --format {output}"));
        assert_eq!(trained, expected, "{output}");
    }
}

#[test]
fn spans_that_cut_tokens_end_training_with_a_list_of_them() {
    let broken =
        prodigy().replacen("\"end\":7", "\"end\":6", 1).replacen("\"end\":17", "\"end\":16", 1);
    let dir = TestDir::new(&[("train.jsonl", &broken)]);
    let train = format!("{TRAIN} train.jsonl --format spans");
    let error = dir.run(&train).failure();
    assert!(
        error.contains("train.jsonl:1: the span 'Ann Le' (PER, 0–6) cuts the token 'Lee'"),
        "{error}"
    );
    assert!(error.contains("--misaligned expand"), "{error}");
    assert!(!dir.names().contains(&"m".to_owned()));
    let run = dir.run(&format!("{train} --misaligned expand"));
    assert!(run.stderr.contains("cut"), "{}", run.stderr);
    assert!(run.stderr.contains(": extended to whole tokens"), "{}", run.stderr);
    run.success();
    let run = dir.run(&format!("{train} --misaligned drop"));
    assert!(run.stderr.contains(": left out"), "{}", run.stderr);
    let overlap = r#"{"text":"Ann Lee","spans":[[0,7,"PER"],[4,7,"ORG"]]}"#;
    dir.write("train.jsonl", overlap);
    let error = dir.run(&format!("{train} --misaligned drop")).failure();
    assert!(
        error.contains("'Ann Lee' (PER, 0–7) and the span 'Lee' (ORG, 4–7) overlap"),
        "{error}"
    );
}

#[test]
fn a_folder_of_brat_is_read_in_order() {
    let dir = TestDir::new(&[]);
    std::fs::create_dir(dir.path("corpus")).unwrap();
    dir.write("corpus/b.txt", "Bob met Ann Lee\nin New York.\n");
    dir.write("corpus/b.ann", "T1\tPER 0 3\tBob\nT2\tPER 8 15\tAnn Lee\nT3\tLOC 19 27\tNew York\n");
    dir.write("corpus/a.txt", "Ann Lee left Rome.\n");
    dir.write("corpus/a.ann", "T1\tPER 0 7\tAnn Lee\nT2\tLOC 13 17\tRome\n");
    dir.run(&format!("{TRAIN} corpus --format brat")).success();
    let report = dir.run("eval m corpus --format brat").success();
    assert!(report.contains("with 5 phrases; found: 5 phrases; correct: 5"), "{report}");
    let tagged = dir.run("tag m corpus --format brat --output inline").success();
    assert!(tagged.starts_with("[PER Ann Lee] left [LOC Rome].\n[PER Bob]"), "{tagged}");
    dir.write("corpus/a.ann", "T1\tPER 0 5\tAnn L\n");
    let error = dir.run(&format!("{TRAIN} corpus --format brat")).failure();
    assert!(error.contains("a.ann:1: the span 'Ann L' (PER, 0–5) cuts the token 'Lee'"), "{error}");
}

#[test]
fn the_texts_and_annotations_of_a_folder_are_no_outputs() {
    let dir = TestDir::new(&[]);
    std::fs::create_dir(dir.path("corpus")).unwrap();
    dir.write("corpus/a.txt", "Ann\n");
    dir.write("corpus/a.ann", "T1\tPER 0 3\tAnn\n");
    for output in ["corpus/a.txt", "corpus/a.ann"] {
        let train = "train corpus --format brat --template minimal --quiet --model";
        dir.run(&format!("{train} {output}")).failure();
        assert_eq!(dir.text("corpus/a.txt"), "Ann\n");
        assert_eq!(dir.text("corpus/a.ann"), "T1\tPER 0 3\tAnn\n");
    }
}
