//! `dropchain bench`

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{TestDir, keys, sample_corpus};

const SAMPLE: &str = "bench gradients train.conll --columns word,upos,ner --template ner-finkel";

/// Measures the first sentences of the sample corpus and returns the JSON report.
fn report(options: &str) -> Value {
    let line = format!("{SAMPLE} --limit 20 --repeat 1 --quiet --json - {options}");
    TestDir::with_sample_corpus().run(&line).json()
}

#[test]
fn a_report_has_a_row_of_documented_fields_for_each_engine() {
    let report = report("--engines exact,message,window=1,local");
    let rows = report["engines"].as_array().unwrap();
    let names: Vec<Value> = rows
        .iter()
        .map(|row| json!([row["engine"], row["collapsed"]]))
        .collect();
    let expected = [
        json!(["likelihood", false]),
        json!(["exact", false]),
        json!(["message", true]),
        json!(["message", false]),
        json!(["window=1", false]),
        json!(["local", false]),
    ];
    assert_eq!(names, expected);
    let fields = BTreeSet::from([
        "engine",
        "collapsed",
        "seconds",
        "ratio_to_likelihood",
        "relative_error",
        "relative_error_whole",
        "cosine",
        "active_per_token",
        "peak_bytes",
    ]);
    for row in rows {
        assert_eq!(keys(row), fields);
        for field in ["seconds", "ratio_to_likelihood", "active_per_token"] {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
        let bytes = &row["peak_bytes"];
        assert!(bytes.is_null() || bytes.as_u64().unwrap() > 0, "{row}");
    }
    assert!(rows[2]["relative_error"].as_f64().unwrap() < 1e-10);
    let active = |row: usize| rows[row]["active_per_token"].as_f64().unwrap();
    assert!(active(2) < active(3));
}

#[test]
fn a_report_says_what_was_measured() {
    let report = report("--engines local --weights random=0.5 --seed 7 --threads 2");
    let fields = BTreeSet::from([
        "version",
        "files",
        "template",
        "sentences",
        "tokens",
        "labels",
        "parameters",
        "options",
        "weights",
        "seed",
        "repeat",
        "threads",
        "engines",
    ]);
    assert_eq!(keys(&report), fields);
    assert_eq!(report["sentences"], 20);
    assert_eq!(report["weights"], "random=0.5");
    assert_eq!(
        (&report["seed"], &report["threads"]),
        (&json!(7), &json!(2))
    );
    assert_eq!(report["options"]["dropout"], 0.3);
}

#[test]
fn training_runs_are_reported_by_engine() {
    let report = report("--engines local --train --dev dev.conll --max-iterations 3");
    let runs = report["training"].as_array().unwrap();
    let fields = BTreeSet::from([
        "engine",
        "collapsed",
        "dev_f1",
        "iterations",
        "best_iteration",
        "stop_reason",
        "seconds",
    ]);
    assert_eq!(runs.len(), 2);
    for run in runs {
        assert_eq!(keys(run), fields);
        assert_eq!(run["stop_reason"], "max_iterations");
        assert_eq!(run["iterations"], 3);
    }
}

#[test]
fn a_table_has_a_line_for_each_engine() {
    let line = format!("{SAMPLE} --limit 5 --repeat 1 --engines exact,window=1 --json out.json");
    let dir = TestDir::with_sample_corpus();
    let table = dir.run(&line).success();
    let first: Vec<&str> = table
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(first, ["gradient", "likelihood", "exact", "window=1"]);
    let written: Value = serde_json::from_str(&dir.text("out.json")).unwrap();
    assert_eq!(written["engines"].as_array().unwrap().len(), 3);
    assert_eq!(dir.names(), ["dev.conll", "out.json", "train.conll"]);
}

#[test]
fn standard_input_is_measured_without_memory() {
    let line =
        SAMPLE.replace("train.conll", "-") + " --format conll --engines local --limit 5 --json -";
    let output = TestDir::with_sample_corpus().run_with_stdin(&line, sample_corpus("train"));
    assert!(output.stderr.contains("memory is not measured"));
    for row in output.json()["engines"].as_array().unwrap() {
        assert_eq!(row["peak_bytes"], Value::Null);
    }
}

#[test]
fn invalid_options_are_rejected_before_any_work() {
    let dir = TestDir::new(&[]);
    for (options, expected) in [
        (
            "--engines exact,adjoint",
            "--engines: engine 'adjoint'; expected exact, message",
        ),
        (
            "--weights one",
            "--weights: weights 'one'; expected zero, random",
        ),
        (
            "--train",
            "--train: requires development data; expected --dev FILE",
        ),
        (
            "--dropout 0",
            "--dropout 0: there is no noise to measure; expected a rate above 0",
        ),
        (
            "--dropout 1",
            "dropout 1; expected a rate of at least 0 and below 1",
        ),
        ("--l2 -1", "L2 strength -1; expected a finite number"),
        ("--repeat 0", "--repeat 0; expected 1 or more"),
        ("--limit 0", "--limit 0; expected 1 or more"),
        ("--json nowhere/out.json", "nowhere/out.json: "),
    ] {
        // The corpus does not exist: reading it would be a different error.
        let message = dir.run(&format!("{SAMPLE} {options}")).failure();
        assert!(message.starts_with(expected), "{message}");
    }
}
