//! `dropchain bench`

use serde_json::Value;

use crate::support::{TestDir, fields, keys, sample_corpus};

const SAMPLE: &str = "bench gradients train.conll --columns word,upos,ner --template ner-finkel";

/// Measures the first sentences of the sample corpus and returns the JSON report.
fn report(options: &str) -> Value {
    let line = format!("{SAMPLE} --limit 20 --repeat 1 --quiet --json - {options}");
    TestDir::with_sample_corpus().run(&line).json()
}

#[test]
fn a_report_has_a_row_of_documented_fields_for_each_engine() {
    let report = report("--engines exact,message,message=plain,window=1,local");
    let rows = report["engines"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["engine"]).collect();
    assert_eq!(names, ["likelihood", "exact", "message", "message", "window=1", "local"]);
    let names = "engine collapsed sentences seconds seconds_quartiles added_seconds \
                 ratio_to_likelihood multiply_adds added_multiply_adds active_per_token \
                 peak_bytes";
    let deviation = fields("relative_error relative_error_whole cosine");
    for (i, row) in rows.iter().enumerate() {
        match i {
            0 => assert_eq!(keys(row), fields(names)),
            _ => assert_eq!(keys(row), &fields(names) | &deviation),
        }
        assert!(row["seconds"].as_f64().unwrap() > 0.0, "{row}");
        for field in ["multiply_adds", "ratio_to_likelihood", "active_per_token"] {
            assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
        }
        let bytes = &row["peak_bytes"];
        assert!(bytes.is_null() || bytes.as_u64().unwrap() > 0, "{row}");
    }
    assert!(rows[2]["relative_error"].as_f64().unwrap() < 1e-10);
    let collapsed: Vec<bool> = rows.iter().map(|r| r["collapsed"].as_bool().unwrap()).collect();
    assert_eq!(collapsed, [false, false, true, false, false, false]);
    let active = |row: usize| rows[row]["active_per_token"].as_f64().unwrap();
    assert!(active(2) < active(3));
}

#[test]
fn a_report_says_what_was_measured() {
    let report = report("--engines local --weights random=0.5 --threads 2");
    let names = "version files template sentences tokens labels parameters options weights \
                 repeat threads engines";
    assert_eq!(keys(&report), fields(names));
    assert_eq!(report["sentences"], 20);
    assert_eq!(report["weights"], "random=0.5");
    assert_eq!(report["threads"], 2);
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
    let dir = TestDir::new(&[("train.conll", "")]);
    for (code, options, expected) in [
        (2, "--engines exact,adjoint", "expected exact, message, message=plain, reweighted"),
        (2, "--weights one", "expected random, random=SCALE with a scale above 0, trained"),
        (2, "--sweep depth", "labels, length, attributes"),
        (2, "--sweep labels,,length", "labels, length, attributes"),
        (2, "--repeat 0", "'--repeat <N>'"),
        (2, "--limit 0", "'--limit <N>'"),
        (1, "--sweep --figure nowhere/out.svg", "nowhere/out.svg: "),
        (1, "--dropout 0", "--dropout 0: there is no noise to measure; expected a rate above 0"),
        (1, "--dropout 1", "dropout 1; expected a rate of at least 0 and below 1"),
        (1, "--l2 -1", "L2 strength -1; expected a finite number"),
        (1, "--json nowhere/out.json", "nowhere/out.json: "),
    ] {
        // The corpus is empty: reading it would be a different error.
        let message = dir.run(&format!("{SAMPLE} {options}")).exits(code);
        assert!(message.contains(expected), "{message}");
    }
}

/// What sweeps and figures are made of: few sentences.
const SWEEP: &str = "bench gradients train.conll --columns word,upos,ner --template minimal \
                     --limit 30 --repeat 1 --weights trained=3 --engines exact,local --quiet";

#[test]
fn a_sweep_has_every_engine_at_every_point() {
    let dir = TestDir::with_sample_corpus();
    let line = format!("{SWEEP} --sweep labels --json -");
    let report = dir.run(&line).json();
    let sweeps = report["sweeps"].as_array().unwrap();
    assert_eq!((sweeps.len(), &sweeps[0]["axis"]), (1, &Value::from("labels")));
    let points = sweeps[0]["points"].as_array().unwrap();
    let values: Vec<f64> = points.iter().map(|point| point["value"].as_f64().unwrap()).collect();
    assert_eq!(values, [4.0, 8.0, 16.0, 32.0]);
    for point in points {
        let rows = point["engines"].as_array().unwrap();
        let names: Vec<&Value> = rows.iter().map(|row| &row["engine"]).collect();
        assert_eq!(names, ["likelihood", "exact", "local"]);
        for row in rows {
            assert!(row["added_multiply_adds"].as_f64().unwrap() > 0.0, "{row}");
            let seconds = &row["seconds"];
            assert!(seconds["low"].as_f64() <= seconds["high"].as_f64(), "{row}");
        }
    }
}

#[test]
fn errors_and_costs_are_drawn_as_a_figure() {
    let dir = TestDir::with_sample_corpus();
    let files = "--figure out.svg --json out.json";
    dir.run(&format!("{SWEEP} --sweep length {files}")).success();
    let svg = dir.text("out.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for part in ["light-dark(", "<title>", "Error by radius", "Cost by tokens T"] {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn corpora_with_too_little_are_measured_or_refused() {
    let options = "--columns word,ner --template minimal --repeat 1 --weights trained=2 --quiet \
                   --engines exact,local";
    let run = |text: &str, files: &str| {
        let dir = TestDir::new(&[("few.conll", text)]);
        dir.run(&format!("bench gradients few.conll {options} {files}"))
    };
    let one = run("Ada B-PER\nleft O\n", "--json -").json();
    assert!(one["engines"][1]["relative_error"].is_number());
    let single = "a O\nb O\n\nc O\n";
    let engines = &run(single, "--json -").json()["engines"];
    assert_eq!(engines[1].get("relative_error"), None, "one label has no noise");
    let message = run(single, "--figure out.svg").failure();
    assert!(message.contains("--figure: nothing to draw"), "{message}");
    run("", "").failure();
}
