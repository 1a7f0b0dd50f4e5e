//! Models that CRFsuite wrote: the same labels and probabilities as CRFsuite's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dropchain::corpus::{Corpus, ReadOptions};
use dropchain::model::AttributeKind;
use dropchain::tag::Workspace;
use dropchain::{Model, TagOptions, Tagger};
use serde_json::Value;

use crate::support::TestDir;

/// Largest difference to a probability of CRFsuite.
const TOLERANCE: f64 = 1e-9;

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
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
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
    let options = TagOptions { marginals: true, probability: true, ..TagOptions::default() };
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
        for (row, expected) in tagging.marginals.unwrap().rows().zip(marginals) {
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
    assert_tags_as_crfsuite(dropchain_crfsuite::open(&model).unwrap(), &text, &expected);
    let bytes = fs::read(&model).unwrap();
    assert_tags_as_crfsuite(dropchain_crfsuite::from_bytes(bytes).unwrap(), &text, &expected);
}

#[test]
#[expect(clippy::print_stdout, reason = "reports a skipped test")]
fn models_of_every_algorithm_of_crfsuite_tag_as_crfsuite_does() {
    let dir = TestDir::new(&[]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/models.py");
    let run = Command::new("python3").arg(script).arg(dir.path("")).output();
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
        let model = dropchain_crfsuite::open(file("crfsuite")).unwrap();
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
    let labels = tagged.iter().flat_map(|line| line["labels"].as_array().unwrap());
    let labels: Vec<&str> = labels.map(|label| label.as_str().unwrap()).collect();
    assert!(labels.windows(2).any(|pair| pair == ["O", "I-PER"]));
    let scores = dir.run("eval m input.crfsuite --json").json();
    assert_eq!(scores["tokens"], labels.len());
    let inspected = dir.inspect("");
    assert_eq!(inspected["options"]["converted_from"], "CRFsuite");
    assert_eq!(inspected["precision"], "f64");
    assert_eq!(inspected["scheme"], "raw");
    assert_eq!(inspected["labels"].as_object().unwrap().len(), 6);
    let text = dir.run("inspect m").success();
    assert!(text.contains("\nsettings     converted from CRFsuite"), "{text}");
    dir.run("inspect m --config")
        .fails_with("the model does not say with which options it was trained");
}

#[test]
fn training_continues_from_a_model_of_crfsuite() {
    let dir = recorded();
    let train = "train input.crfsuite --dropout 0 --max-iterations 5 --model new --quiet";
    let objective = |options: &str| {
        dir.run(&format!("{train} --log log.jsonl {options}")).success();
        let log = dir.json_lines("log.jsonl");
        let first = log.iter().find(|line| line["event"] == "iteration");
        first.unwrap()["objective"].as_f64().unwrap()
    };
    let fresh = objective("");
    let continued = objective("--init m");
    assert!(continued < 0.8 * fresh, "{continued} {fresh}");
    let inspected = dir.run("inspect new --json").json();
    assert_eq!(inspected["precision"], "f64");
    assert_eq!(inspected["options"]["converted_from"], Value::Null);
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_of_crfsuite_that_does_not_fit_in_memory_is_an_error() {
    let dir = recorded();
    // A file of 60 MB, most of which no section uses.
    let length = 60_000_000_u32;
    let mut bytes = dir.bytes("m");
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    dir.write("large", bytes);
    let file = fs::OpenOptions::new().write(true).open(dir.path("large"));
    file.unwrap().set_len(length.into()).unwrap();
    dir.run("inspect large").success();
    let limited = dir.shell("ulimit -v 300000 && exec \"$D\" inspect large").failure();
    let expected = "large: converting the CRFsuite model: about 361 MB of memory needed; ";
    assert!(limited.starts_with(expected), "{limited}");
}

// `convert`

#[test]
fn a_converted_model_tags_as_crfsuite_does_and_stays_what_it_is() {
    let dir = recorded();
    let output = dir.run("convert m --model new");
    assert_eq!(output.stdout, "");
    let model = Model::open(dir.path("new")).unwrap();
    let attributes = model.attributes(AttributeKind::Node);
    let weights = model.weights(AttributeKind::Node);
    let notice =
        format!("wrote new: 6 labels, {attributes} attributes, {weights} weights of 8 bytes\n");
    assert_eq!(output.exits(0), notice);
    assert!(dir.bytes("new").starts_with(b"DROPCRF\n"));
    assert_eq!(dir.bytes("m"), fixture_bytes("crfsuite.model"));
    assert_tags_as_crfsuite(model, &dir.path("input.crfsuite"), &fixture("crfsuite.expected"));
    for command in ["inspect", "inspect --json"] {
        let [old, new] = ["m", "new"].map(|model| dir.run(&format!("{command} {model}")).success());
        assert_eq!(old, new);
    }
    // Again: the same bytes. They replace the old model, and so does a quiet run.
    let converted = dir.bytes("new");
    let output = dir.run("convert new --model again --quiet");
    assert_eq!(output.stderr, "");
    output.success();
    assert!(dir.bytes("again") == converted);
    dir.run("convert m --model again").success();
    assert!(dir.bytes("again") == converted);
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_of_crfsuite_can_be_read_from_a_pipe() {
    let dir = recorded();
    let bytes = dir.bytes("m");
    dir.run_with_stdin("convert /dev/stdin --model piped", &bytes).success();
    dir.run("convert m --model new").success();
    assert!(dir.bytes("piped") == dir.bytes("new"));
    let (length, short) = (bytes.len(), bytes.len() - 1);
    let cut = dir.run_with_stdin("inspect /dev/stdin", &bytes[..short]);
    assert_eq!(
        cut.failure(),
        format!(
            "/dev/stdin: the model is damaged: it has {short} bytes; according to its preamble, \
             {length}; retrain it or restore a copy"
        )
    );
    let longer = dir.run_with_stdin("inspect /dev/stdin", [&bytes[..], b"x"].concat());
    assert!(longer.failure().contains(&format!("it has {} bytes; according", length + 1)));
}
