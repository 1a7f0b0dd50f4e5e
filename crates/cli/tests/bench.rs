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
    let names: Vec<Value> =
        rows.iter().map(|row| json!([row["engine"], row["collapsed"]])).collect();
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
        "seconds_quartiles",
        "multiply_adds",
        "ratio_to_likelihood",
        "active_per_token",
        "peak_bytes",
    ]);
    let deviation =
        BTreeSet::from(["relative_error", "relative_error_whole", "cosine", "cosine_whole"]);
    for (i, row) in rows.iter().enumerate() {
        match i {
            0 => assert_eq!(keys(row), fields),
            _ => assert_eq!(keys(row), &fields | &deviation),
        }
        for field in ["seconds", "multiply_adds", "ratio_to_likelihood", "active_per_token"] {
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
    assert_eq!((&report["seed"], &report["threads"]), (&json!(7), &json!(2)));
    assert_eq!(report["options"]["dropout"], 0.3);
}

#[test]
fn a_table_has_a_line_for_each_engine() {
    let line = format!("{SAMPLE} --limit 5 --repeat 1 --engines exact,window=1 --json out.json");
    let dir = TestDir::with_sample_corpus();
    let table = dir.run(&line).success();
    let first: Vec<&str> =
        table.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
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
        ("--engines exact,adjoint", "--engines: engine 'adjoint'; expected exact, message"),
        ("--weights one", "--weights: weights 'one'; expected zero, random"),
        (
            "--sweep depth",
            "--sweep 'depth'; expected window, labels, length or attributes, or several",
        ),
        ("--sweep window,,length", "--sweep ''; expected window, labels, length or attributes"),
        (
            "--figure out.svg",
            "--figure: there is nothing to draw without --sweep; expected --sweep",
        ),
        ("--sweep --figure nowhere/out.svg", "nowhere/out.svg: "),
        ("--dropout 0", "--dropout 0: there is no noise to measure; expected a rate above 0"),
        ("--dropout 1", "dropout 1; expected a rate of at least 0 and below 1"),
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

/// What is drawn from a sweep of few sentences.
const SWEEP: &str = "bench gradients train.conll --columns word,upos,ner --template minimal \
                     --limit 30 --repeat 1 --weights trained=3 --engines exact --quiet";

#[test]
fn a_sweep_has_errors_costs_and_exponents() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SWEEP} --sweep window,labels --json -");
    let report = dir.run(&line).json();
    let errors = report["errors"].as_array().unwrap();
    let error = |row: &Value| row["relative_error"]["median"].as_f64().unwrap();
    assert_eq!(errors[0]["radius"], 0);
    assert!(error(&errors[0]) > error(errors.last().unwrap()));
    let sweeps = report["sweeps"].as_array().unwrap();
    let axes: Vec<&Value> = sweeps.iter().map(|sweep| &sweep["axis"]).collect();
    assert_eq!(axes, ["window", "labels"]);
    let rows = sweeps[1]["rows"].as_array().unwrap();
    let values: BTreeSet<u64> =
        rows.iter().map(|row| row["value"].as_f64().unwrap() as u64).collect();
    assert_eq!(values, BTreeSet::from([4, 8, 16, 32]));
    for row in rows {
        assert!(row["multiply_adds"].as_f64().unwrap() > 0.0, "{row}");
        let seconds = &row["seconds"];
        assert!(seconds["low"].as_f64() <= seconds["high"].as_f64(), "{row}");
    }
    let exponents = sweeps[1]["exponents"].as_array().unwrap();
    let message = exponents.iter().find(|e| e["engine"] == "message").unwrap();
    assert_eq!(message["theory"], 3.0);
    let counted = message["multiply_adds"].as_f64().unwrap();
    assert!((2.5..3.5).contains(&counted), "{message}");
}

#[test]
fn a_sweep_is_drawn_as_a_figure() {
    let dir = TestDir::with_sample_corpus();
    let files = "--figure out.svg --json out.json";
    dir.run(&format!("{SWEEP} --sweep window {files}")).success();
    let svg = dir.text("out.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for part in ["light-dark(", "<title>", "Error by radius", "Direction by radius"] {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn corpora_with_too_little_are_measured_or_refused() {
    let sweep = "--columns word,ner --template minimal --repeat 1 --weights trained=2 --quiet \
                 --sweep window --engines exact";
    let run = |text: &str| {
        let dir = TestDir::new(&[("few.conll", text)]);
        dir.run(&format!("bench gradients few.conll {sweep} --json -"))
    };
    let one = run("Ada B-PER\nleft O\n").json();
    assert_eq!(one["errors"][0]["sentences"], 1);
    let single = run("a O\nb O\n\nc O\n").json();
    assert_eq!(single.get("errors"), None, "one label has no noise");
    run("").failure();
}

#[test]
fn a_figure_without_errors_is_not_written() {
    let dir = TestDir::new(&[("one.conll", "a O\nb O\n")]);
    let line = "bench gradients one.conll --columns word,ner --template minimal --repeat 1 \
                --sweep window --order 0 --figure out.svg";
    let message = dir.run(line).failure();
    assert!(message.contains("--sweep: at order 0 tokens are independent"), "{message}");
    assert_eq!(dir.names(), ["one.conll"]);
}
