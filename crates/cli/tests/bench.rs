//! `dropchain bench`

use serde_json::{Value, json};

use crate::support::{TestDir, fields, keys, sample_corpus};

const SAMPLE: &str = "bench gradients train.conll --columns word,upos,ner --template ner-finkel";

#[test]
fn a_report_has_a_row_of_documented_fields_for_each_engine() {
    let dir = TestDir::with_sample_corpus();
    let engines = "--engines exact,message,message=plain,window=1,local --weights random=0.5";
    let files = "--json out.json --threads 2";
    let table = dir.run(&format!("{SAMPLE} --limit 20 --repeat 1 {engines} {files}")).success();
    let first = table.lines().map(|line| line.split_whitespace().next().unwrap());
    let expected =
        ["gradient", "likelihood", "exact", "message", "message=plain", "window=1", "local"];
    assert_eq!(first.collect::<Vec<_>>(), expected);
    let report: Value = serde_json::from_str(&dir.text("out.json")).unwrap();
    let names = "version files template sentences tokens labels parameters options weights \
                 repeat threads engines";
    assert_eq!(keys(&report), fields(names));
    let measured = ["sentences", "weights", "threads"].map(|name| report[name].clone());
    assert_eq!(measured, [json!(20), json!("random=0.5"), json!(2)]);
    assert_eq!(report["options"]["dropout"], 0.3);
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
fn standard_input_is_measured_without_memory() {
    let line =
        SAMPLE.replace("train.conll", "-") + " --format conll --engines local --limit 5 --json -";
    let output = TestDir::with_sample_corpus().run_with_stdin(&line, sample_corpus("train"));
    assert!(output.stderr.contains("memory is not measured"));
    for row in output.json()["engines"].as_array().unwrap() {
        assert_eq!(row["peak_bytes"], Value::Null);
    }
}

/// What sweeps and figures are made of: few sentences.
const SWEEP: &str = "bench gradients train.conll --columns word,upos,ner --template minimal \
                     --limit 30 --repeat 1 --weights trained=3 --engines exact,local --quiet";

#[test]
fn a_sweep_has_every_engine_at_every_point_and_is_drawn_as_a_figure() {
    let dir = TestDir::with_sample_corpus();
    dir.run(&format!("{SWEEP} --sweep length,window --figure out.svg --json out.json")).success();
    let report: Value = serde_json::from_str(&dir.text("out.json")).unwrap();
    let sweeps = report["sweeps"].as_array().unwrap();
    let axes: Vec<&Value> = sweeps.iter().map(|sweep| &sweep["axis"]).collect();
    assert_eq!(axes, ["length", "window"]);
    let points = |sweep: usize| sweeps[sweep]["points"].as_array().unwrap();
    let values = |sweep| -> Vec<f64> {
        points(sweep).iter().map(|point| point["value"].as_f64().unwrap()).collect()
    };
    assert_eq!(values(0), [5.0, 10.0, 20.0, 40.0, 80.0]);
    assert_eq!(values(1), [1.0, 2.0, 4.0, 8.0]);
    let lengths = points(0).iter().map(|point| (point, "local".to_owned()));
    let windows = points(1).iter().zip(["1", "2", "4", "8"]);
    let windows = windows.map(|(point, radius)| (point, format!("window={radius}")));
    for (point, last) in lengths.chain(windows) {
        let rows = point["engines"].as_array().unwrap();
        let names: Vec<&str> = rows.iter().map(|row| row["engine"].as_str().unwrap()).collect();
        assert_eq!(names, ["likelihood", "exact", &last]);
        for row in rows {
            assert!(row["added_multiply_adds"].as_f64().unwrap() > 0.0, "{row}");
            let seconds = &row["seconds"];
            assert!(seconds["low"].as_f64() <= seconds["high"].as_f64(), "{row}");
        }
    }
    let svg = dir.text("out.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for part in
        ["light-dark(", "<title>", "Error by radius", "Cost by tokens T", "Cost by radius r"]
    {
        assert!(svg.contains(part), "{part}");
    }
}

#[test]
fn corpora_with_too_little_are_measured() {
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
}
