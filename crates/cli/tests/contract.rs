//! The interface that scripts rely on: exit codes, output streams, and the fields of logs and JSON
//! output.

use serde_json::json;

use crate::support::{NER_CORPUS, TestDir, fields, keys};

// Logs

#[test]
fn a_log_has_a_start_iterations_from_0_on_and_an_end() {
    let options = "--template ner --log log.jsonl";
    let log = TestDir::with_model(NER_CORPUS, options).json_lines("log.jsonl");
    let (start, rest) = log.split_first().unwrap();
    for (key, expected) in [
        ("event", json!("start")),
        ("files", json!(["train.conll"])),
        ("sentences", json!(3)),
        ("tokens", json!(19)),
        ("dev_sentences", json!(0)),
        ("labels", json!(5)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
    ] {
        assert_eq!(start[key], expected, "{key}");
    }
    let (end, iterations) = rest.split_last().unwrap();
    for (i, line) in iterations.iter().enumerate() {
        assert_eq!((&line["event"], &line["iteration"]), (&json!("iteration"), &json!(i)));
    }
    assert_eq!((&end["event"], &end["iterations"]), (&json!("end"), &json!(iterations.len() - 1)));
    assert!(["improvement", "gradient"].contains(&end["stop_reason"].as_str().unwrap()));
    assert_eq!(end["best_iteration"], end["iterations"]);
}

// JSON output

#[test]
fn evaluating_a_model_equals_evaluating_its_output_in_any_format() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal --max-iterations 3");
    let of_model = dir.run("eval m train.conll").success();
    for format in ["conll", "jsonl"] {
        let tagged = dir.run(&format!("tag m train.conll --output {format}")).success();
        dir.write(&format!("tagged.{format}"), tagged);
        let of_output = dir.run(&format!("eval --predictions tagged.{format} train.conll"));
        assert_eq!(of_output.success(), of_model, "{format}");
    }
}

#[test]
fn inspect_prints_everything_as_json() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    let inspected = dir.inspect("--top 3");
    let expected = "scheme corpus_scheme columns node_attributes edge_attributes weights bytes \
                    format_version precision prune version date modified note files fingerprint \
                    sentences tokens options template labels edges order label_column \
                    labels_read_as comments header recall_bias sizes training lines config";
    assert_eq!(keys(&inspected), fields(expected));
    assert_eq!(inspected["bytes"], dir.bytes("m").len());
    let file = &inspected["files"][0];
    assert_eq!(keys(file), fields("role name bytes sentences xxh3"));
    assert_eq!((&file["name"], &file["bytes"]), (&json!("train.conll"), &json!(NER_CORPUS.len())));
    let label = &inspected["labels"]["B-PER"];
    assert_eq!(keys(label), fields("start end transitions attributes"));
    assert_eq!(label["attributes"].as_array().unwrap().len(), 3);
    assert_eq!(keys(&label["transitions"]).len(), 5);
}

// Streams and exit codes

#[test]
fn results_go_to_standard_output_and_notices_to_standard_error() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let trained = dir.run("train train.conll --dev train.conll --template ner --model m");
    assert_eq!(trained.stdout, "");
    let lines: Vec<&str> = trained.stderr.lines().collect();
    assert_eq!(lines[0], "reading train.conll");
    assert!(lines[1].starts_with("3 sentences, 19 tokens, 5 labels; "));
    assert_eq!(lines[2], "read as IOB2, 5 labels, words in column 1");
    assert!(lines[3].starts_with("iteration    0  objective "));
    assert!(lines[3].contains("  dev F1 "));
    assert_eq!(lines.last().unwrap(), &"wrote m");
    for line in [
        "eval m train.conll",
        "eval m train.conll --json",
        "inspect m",
        "inspect m --json",
        "tag m train.conll",
    ] {
        let output = dir.run(line);
        let reading = match line.split(' ').next() {
            Some("eval") => "train.conll: read as IOB2, 5 labels\n",
            Some("tag") => {
                "train.conll: its labels (label) are ignored; --forced label keeps them\n"
            }
            _ => "",
        };
        assert_eq!(output.stderr, reading, "{line}");
        assert_ne!(output.success(), "", "{line}");
    }
    for line in [
        "eval m train.conll --quiet",
        "compare train.conll train.conll train.conll --quiet",
        "tag m train.conll --quiet",
    ] {
        assert_eq!(dir.run(line).stderr, "", "{line}");
    }
    let trained = dir.run("train train.conll --template ner --model m --quiet");
    assert_eq!((trained.stdout.as_str(), trained.stderr.as_str()), ("", ""));
    dir.run("train none --template ner --model m --quiet").fails_at("none: ");
}

#[test]
fn help_and_version_go_to_standard_output() {
    let dir = TestDir::new(&[]);
    for line in ["--help", "--version", "help", "train --help", "tag -h"] {
        let output = dir.run(line);
        assert_eq!(output.stderr, "", "{line}");
        assert_ne!(output.success(), "", "{line}");
    }
    let version = dir.run("--version").success();
    assert_eq!(version, concat!("dropchain ", env!("CARGO_PKG_VERSION"), "\n"));
}
