//! Models that CRFsuite wrote: the same labels and probabilities as CRFsuite's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dropchain::corpus::{Corpus, ReadOptions};
use dropchain::tag::Workspace;
use dropchain::{Model, TagOptions, Tagger};
use serde_json::Value;

use crate::support::TestDir;

/// Largest difference to a probability of CRFsuite.
const TOLERANCE: f64 = 1e-9;

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/data/models").join(name)
}

fn fixture_bytes(name: &str) -> Vec<u8> {
    fs::read(fixture(name)).unwrap()
}

/// A directory with the recorded model `m` and its input.
fn recorded() -> TestDir {
    let dir = TestDir::new(&[]);
    dir.write("m", fixture_bytes("crfsuite.model"));
    dir.write("input.crfsuite", fixture_bytes("crfsuite.input"));
    dir
}

fn parse_lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn assert_close(found: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap();
    let difference = (found - expected).abs();
    assert!(difference <= TOLERANCE, "{what}: {found}, not {expected}");
}

/// Tags the sentences of a file and compares labels and probabilities with those of CRFsuite.
fn assert_tags_as_crfsuite(model: Model, input: &Path, expected: &Path) {
    let tagger = Tagger::new(model);
    let corpus = Corpus::read([input.display().to_string()], &ReadOptions::default()).unwrap();
    let expected = parse_lines(expected);
    assert!(corpus.len() == expected.len() && corpus.len() >= 25);
    let options = TagOptions {
        marginals: true,
        probability: true,
        ..TagOptions::default()
    };
    for (sentence, expected) in corpus.iter().zip(&expected) {
        let place = sentence.place(0);
        let tagging = tagger.tag_with(sentence, options, &mut Workspace::default());
        let tagging = tagging.unwrap();
        let labels = tagger.label_names(&tagging.labels);
        assert_eq!(Value::from(labels), expected["labels"], "{place}");
        let probability = tagging.probability.unwrap();
        assert_close(probability, &expected["probability"], &place.to_string());
        let distribution = tagger.distribution(sentence).unwrap();
        let given = distribution.probability(&sentence.labels().unwrap());
        assert_close(given.unwrap(), &expected["given"], "given labels");
        let marginals = expected["marginals"].as_array().unwrap();
        assert_eq!(marginals.len(), sentence.len());
        for (row, expected) in tagging.marginals.unwrap().rows().into_iter().zip(marginals) {
            let names = tagger.model().header().labels.names();
            assert_eq!(names.len(), expected.as_object().unwrap().len());
            for (label, &p) in names.iter().zip(row) {
                assert_close(p, &expected[label.as_str()], label);
            }
        }
    }
}

#[test]
fn a_model_of_crfsuite_tags_as_recorded() {
    let [model, input, expected] = ["model", "input", "expected"].map(|name| {
        let name = format!("crfsuite.{name}");
        fixture(&name)
    });
    // The extension says which format it is.
    let dir = recorded();
    let text = dir.path("input.crfsuite");
    assert_eq!(fs::read(&text).unwrap(), fs::read(&input).unwrap());
    assert_tags_as_crfsuite(Model::open(&model).unwrap(), &text, &expected);
    let bytes = fs::read(&model).unwrap();
    assert_tags_as_crfsuite(Model::from_bytes(bytes).unwrap(), &text, &expected);
}

#[test]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn models_of_every_algorithm_of_crfsuite_tag_as_crfsuite_does() {
    let dir = TestDir::new(&[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/models.py");
    let run = Command::new("python3")
        .arg(script)
        .arg(dir.path(""))
        .output();
    let Some(run) = run.ok().filter(|run| run.status.code() != Some(3)) else {
        println!("skipped: python-crfsuite not found");
        return;
    };
    assert!(run.status.success(), "{run:?}");
    let names = String::from_utf8(run.stdout).unwrap();
    assert_eq!(names.lines().count(), 24);
    for name in names.lines() {
        println!("{name}");
        let file = |extension: &str| dir.path(&format!("{name}.{extension}"));
        let model = Model::open(file("crfsuite")).unwrap();
        assert_tags_as_crfsuite(model, &dir.path("test.crfsuite"), &file("jsonl"));
    }
}

#[test]
fn every_command_reads_a_model_of_crfsuite() {
    let dir = recorded();
    let expected = parse_lines(&fixture("crfsuite.expected"));
    let tagged = dir.run("tag m input.crfsuite --output jsonl --marginals");
    let tagged = tagged.json_lines();
    assert_eq!(tagged.len(), expected.len());
    for (tagged, expected) in tagged.iter().zip(&expected) {
        assert_eq!(tagged["labels"], expected["labels"]);
        let probability = tagged["probability"].as_f64().unwrap();
        assert_close(probability, &expected["probability"], "best labels");
    }
    // Labels in the order of any scheme: nothing is constrained.
    let labels = tagged
        .iter()
        .flat_map(|line| line["labels"].as_array().unwrap());
    let labels: Vec<&str> = labels.map(|label| label.as_str().unwrap()).collect();
    assert!(labels.windows(2).any(|pair| pair == ["O", "I-PER"]));

    let (mut right, mut tokens) = (0, 0);
    let gold = dir.text("input.crfsuite");
    let gold = gold.lines().filter(|line| !line.is_empty());
    for (line, label) in gold.zip(&labels) {
        right += usize::from(line.split('\t').next() == Some(label));
        tokens += 1;
    }
    let scores = dir.run("eval m input.crfsuite --json").json();
    assert_eq!(scores["tokens"], tokens);
    let accuracy = scores["accuracy"].as_f64().unwrap();
    assert!((accuracy - f64::from(right as u32) / f64::from(tokens)).abs() < 1e-4);

    let inspected = dir.inspect("");
    assert_eq!(inspected["options"]["converted_from"], "CRFsuite");
    assert_eq!(inspected["precision"], "f64");
    assert_eq!(inspected["scheme"], "raw");
    assert_eq!(inspected["labels"].as_object().unwrap().len(), 6);
    let text = dir.run("inspect m").success();
    assert!(
        text.contains("\ntrained by CRFsuite, converted by dropchain "),
        "{text}"
    );
    assert!(!text.contains("options"), "{text}");
}
