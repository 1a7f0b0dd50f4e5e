//! `dropchain inspect`: what a model is, how it was trained, what takes how much of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

fn sum(value: &Value) -> f64 {
    match value {
        Value::Object(parts) => parts.values().map(sum).sum(),
        number => number.as_f64().unwrap(),
    }
}

#[test]
fn how_training_ended_is_recorded_and_shown() {
    let dir = TestDir::with_sample_corpus();
    let line = "train train.conll --dev dev.conll --template minimal --model m --log log \
                --max-iterations 12 --quiet";
    dir.run(line).success();
    let log = dir.json_lines("log");
    let end = log.last().unwrap();
    let inspected = dir.inspect("");
    let training = &inspected["training"];
    for field in ["iterations", "best_iteration", "stop_reason", "recall_bias"] {
        assert_eq!(training[field], end[field], "{field}");
    }
    let best = end["best_iteration"].as_u64().unwrap() as usize;
    let mut iterations = log.iter().filter(|line| line["event"] == "iteration");
    let iteration = iterations.find(|line| line["iteration"] == best).unwrap();
    assert_eq!(training["dev_f1"], iteration["dev_f1"]);
    assert_eq!(inspected["recall_bias"], end["recall_bias"]);
    assert_eq!(inspected["options"]["result"], Value::Null);
    let text = dir.run("inspect m").success();
    let shown = format!("12 iterations (stopped by max iterations), kept {best}: dev F1 ");
    assert!(text.contains(&shown), "{shown} in {text}");
    assert!(text.contains("\nsettings     max iterations 12\n"), "{text}");

    let line = "tune train.conll --dev dev.conll --template minimal --model m --l2 0.1,1 \
                --dropout 0 --max-iterations 6 --quiet --json";
    let found = dir.run(line).json();
    let best = &found["configurations"][0];
    let training = &dir.inspect("")["training"];
    for field in ["dev_f1", "best_iteration", "recall_bias"] {
        assert_eq!(training[field], best[field], "{field}");
    }
    let line = "train train.conll --template minimal --model m --max-iterations 3 --quiet \
                --recall-bias 0.5";
    dir.run(line).success();
    let inspected = dir.inspect("");
    assert_eq!(inspected["training"]["dev_f1"], Value::Null);
    assert_eq!(inspected["recall_bias"], 0.5);
}

#[test]
fn sizes_and_template_lines_add_up() {
    let template = "# names\nword\nedge: word\nword[-1] & word\n\nshape(collapsed)\n";
    let dir = TestDir::new(&[("train.conll", NER_CORPUS), ("t.tpl", template)]);
    dir.run("train train.conll --template t.tpl --model m --quiet").success();
    let inspected = dir.inspect("");
    let bytes = dir.bytes("m").len();
    assert_eq!(sum(&inspected["sizes"]), bytes as f64);
    let lines = inspected["lines"].as_array().unwrap();
    let numbers: Vec<u64> = lines.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 3, 4, 6]);
    assert_eq!(lines[2]["text"], "word[-1] & word");
    let total = |field: &str| lines.iter().map(|line| number(&line[field])).sum::<f64>();
    let attributes = ["node_attributes", "edge_attributes"].map(|key| number(&inspected[key]));
    assert_eq!(total("attributes"), attributes[0] + attributes[1]);
    assert_eq!(number(&lines[1]["attributes"]), attributes[1]);
    let sizes = &inspected["sizes"];
    let tables = sum(&sizes["nodes"]) + sum(&sizes["edges"]);
    assert!((total("bytes") - tables).abs() <= 2.0, "{lines:?} {tables}");
    // All 11 words of the corpus and the weight of one of them.
    let words: BTreeSet<&str> = NER_CORPUS.lines().filter_map(|l| l.split(' ').next()).collect();
    assert_eq!(number(&lines[0]["attributes"]), (words.len() - words.contains("") as usize) as f64);
    let shown = dir.run("inspect m --attribute word[0]=Ann --json").json();
    let squares: f64 =
        (shown["weights"].as_object().unwrap().values()).map(|weight| number(weight).powi(2)).sum();
    assert!(squares > 0.0 && squares < number(&lines[0]["squares"]));
    let text = dir.run("inspect m --all").success();
    for part in ["\nbytes of the file\n", "\n4 word[-1] & word ", "\nedges: weights "] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn one_attribute_is_shown_and_names_like_it_are_suggested() {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    let all = dir.inspect("--top 1000");
    let found = dir.run("inspect m --attribute word[0]=Rome --json").json();
    assert_eq!(found["attribute"], "word[0]=Rome");
    for (label, weight) in found["weights"].as_object().unwrap() {
        let attributes = all["labels"][label]["attributes"].as_array().unwrap();
        let mut same = attributes.iter().filter(|a| a["attribute"] == "word[0]=Rome");
        assert_eq!(same.next().unwrap()["weight"], *weight, "{label}");
    }
    let text = dir.run("inspect m --attribute word[0]=Rome").success();
    assert!(text.starts_with("word[0]=Rome\n") && text.contains("  B-LOC\n"), "{text}");
    for (name, similar) in [
        ("rome", "similar: word[0]=Rome"),
        ("word[0]=Roma", "similar: word[0]=Rome"),
        ("qqqqqqqq", "no name is like it"),
    ] {
        dir.run(&format!("inspect m --attribute {name}")).fails_with(similar);
    }
}

#[test]
fn everything_fits_80_columns_whatever_the_labels() {
    let mut corpus = String::new();
    for i in 0..40 {
        let _ = write!(corpus, "word{i} B-KIND-WITH-A-LONG-NAME-{i}\nthe O\n\n");
    }
    let dir = TestDir::with_model(&corpus, "--template minimal");
    let text = dir.run("inspect m").success();
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None, "{text}");
    assert!((25..=40).contains(&text.lines().count()), "{text}");
    assert_eq!(text.matches("of 41 labels; --all)").count(), 2, "{text}");
    let text = dir.run("inspect m --all --top 2").success();
    let names = |line: &&str| !line.contains("word[") && line.chars().count() > 80;
    assert_eq!(text.lines().find(names), None, "{text}");
    assert!(text.contains("\nstrongest 20 of 1763 transition weights"), "{text}");

    let dir = TestDir::with_sample_corpus();
    let line = "train train.conll --template ner --model m --max-iterations 2 --quiet";
    dir.run(line).success();
    let text = dir.run("inspect m --all --top 0").success();
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None, "{text}");
    assert_eq!(text.matches("\nstrongest 20 of ").count(), 1, "{text}");
}
