//! Training that continues from models: `--init` and `--towards` of `train` and `tune`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::support::{NER_CORPUS, TestDir, keys, sample_corpus, wait_until};

/// Other words than those of [`NER_CORPUS`], and another label.
const MORE: &str = "\
Bob NNP B-PER
left VBD O
Acme NNP B-ORG
. . O

York NNP B-LOC
saw VBD O
Acme NNP B-ORG
. . O
";

/// Trains `m` on [`NER_CORPUS`]; `more.conll` has [`MORE`].
fn directory() -> TestDir {
    let dir = TestDir::with_model(NER_CORPUS, "--template minimal");
    dir.write("more.conll", MORE);
    dir
}

/// Returns all weights of a model by name, from `inspect`.
fn weights(dir: &TestDir, model: &str) -> BTreeMap<String, f64> {
    let inspected = dir.run(&format!("inspect {model} --json --top 100000")).json();
    let mut all = BTreeMap::new();
    for (label, of_label) in inspected["labels"].as_object().unwrap() {
        for attribute in of_label["attributes"].as_array().unwrap() {
            let name = attribute["attribute"].as_str().unwrap();
            all.insert(format!("{name} {label}"), attribute["weight"].as_f64().unwrap());
        }
        for (next, weight) in of_label["transitions"].as_object().unwrap() {
            all.insert(format!("{label}>{next}"), weight.as_f64().unwrap());
        }
        for end in ["start", "end"] {
            all.insert(format!("{end} {label}"), of_label[end].as_f64().unwrap());
        }
    }
    all.retain(|_, weight| *weight != 0.0);
    all
}

#[test]
fn what_matched_is_printed_and_logged() {
    let dir = directory();
    let train = "train more.conll --init m --towards m --max-iterations 3 --model new --log log";
    let output = dir.run(train);
    let stderr = output.stderr.clone();
    output.success();
    let lines: Vec<Vec<&str>> = stderr.lines().map(|l| l.split_whitespace().collect()).collect();
    let heading = lines.iter().position(|l| {
        l[..] == ["training", "starts", "at", "m", "matched", "new", "only", "in", "the", "model"]
    });
    let table = &lines[heading.expect(&stderr)..];
    assert_eq!(table[1], ["labels", "3", "1", "2"], "{stderr}");
    assert_eq!(table[2][..2], ["node", "attributes"], "{stderr}");
    assert_eq!(table[3][0], "transitions", "{stderr}");
    assert!(stderr.contains("pulled towards m "), "{stderr}");

    let log = dir.json_lines("log");
    let events: Vec<&str> = log.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events[..4], ["start", "match", "match", "iteration"]);
    let expected =
        ["event", "role", "model", "labels", "node_attributes", "edge_attributes", "transitions"];
    assert_eq!(keys(&log[1]), expected.into_iter().collect());
    assert_eq!((&log[1]["role"], &log[2]["role"]), (&"init".into(), &"towards".into()));
    assert_eq!(log[1]["model"], "m");
    let counts = serde_json::json!({"matched": 3, "new": 1, "only_in_model": 2});
    assert_eq!(log[1]["labels"], counts);
    let nodes = &log[1]["node_attributes"];
    let [matched, new, old] =
        ["matched", "new", "only_in_model"].map(|n| nodes[n].as_u64().unwrap());
    assert_eq!(table[2][2..], [matched.to_string(), new.to_string(), old.to_string()]);
    let inspected = dir.run("inspect m --json").json();
    assert_eq!(inspected["node_attributes"], matched + old);
    assert_eq!(log[0]["attributes"].as_u64(), Some(matched + new + old));
    assert_eq!(log[0]["parameters"]["warm_up"], 0);
}

#[test]
fn a_model_is_continued_in_place() {
    let dir = directory();
    let before = fs::metadata(dir.path("m")).unwrap();
    let old = weights(&dir, "m");
    dir.run("train more.conll --init m --model m --quiet").success();
    let new = weights(&dir, "m");
    assert!(before.len() > 0 && new != old);
    // Old attributes that the new data do not have, old labels, new labels.
    assert_eq!(new["word[0]=Rome B-LOC"], old["word[0]=Rome B-LOC"]);
    assert!(new.contains_key("word[0]=Acme B-ORG"));
    let tagged = dir.run_with_stdin("tag m", "Bob\nleft\nAcme\n.\n\n").success();
    assert!(tagged.contains("Acme B-ORG"), "{tagged}");
    let inspected = dir.run("inspect m --json").json();
    let init = inspected["files"].as_array().unwrap().last().unwrap();
    assert_eq!((&init["role"], init["xxh3"].as_str().map(str::len)), (&json!("init"), Some(32)));
}

#[test]
fn an_interrupted_training_resumes_from_the_same_models_only() {
    let dir = directory();
    let train = |options: &str| format!("train more.conll --quiet {options}");
    dir.run(&train("--init m --model expected")).success();
    let line = train("--init m --model n --checkpoint-every 1 --checkpoint ck --log log");
    let mut child = dir.command(&line).spawn().unwrap();
    wait_until("the first checkpoint", || dir.path("ck").exists());
    let _ = child.kill();
    child.wait().unwrap();
    if dir.path("ck").exists() {
        let resumed = train("--init expected --checkpoint ck --resume --model n");
        dir.run(&resumed).fails_with("was written with other training data");
    }
    dir.run(&train("--init m --checkpoint ck --resume --model n")).success();
    assert!(dir.bytes("n") == dir.bytes("expected"));
}

/// Runs a search; returns its results without the time.
fn tuned(dir: &TestDir, options: &str) -> Value {
    let line = format!("tune train.conll --quiet --json --model t {options}");
    let mut results = dir.run(&line).json();
    results.as_object_mut().unwrap().remove("seconds");
    results
}

#[test]
fn every_trial_of_a_search_starts_at_the_model() {
    let sentences = |part: &str, range: std::ops::Range<usize>| {
        let text = sample_corpus(part);
        let all: Vec<&str> = text.split("\n\n").collect();
        all[range].join("\n\n") + "\n\n"
    };
    let dir = TestDir::new(&[
        ("first.conll", &sentences("train", 0..150)),
        ("train.conll", &sentences("train", 150..190)),
        ("dev.conll", &sentences("dev", 0..40)),
    ]);
    let columns = "--columns word,upos,ner";
    let train = format!("train first.conll {columns} --template ner --quiet --model m");
    dir.run(&train).success();
    // Without iterations that matter, trials are as good as the model.
    let score = dir.run(&format!("eval m dev.conll {columns} --json")).json();
    let grid = format!("{columns} --dropout 0,0.3 --l2 1,10000 --max-iterations 4");
    let found = tuned(&dir, &format!("--dev dev.conll {grid} --towards m --log log"));
    for trial in found["configurations"].as_array().unwrap() {
        let difference = trial["dev_f1"].as_f64().unwrap() - score["f1"].as_f64().unwrap();
        assert!(trial["l2"] != 10000.0 || difference.abs() < 0.05, "{trial} {score}");
    }
    assert_eq!(found["config"]["options"]["towards"], "m");
    assert_eq!(dir.json_lines("log")[0]["config"], found["config"]);
    // The model is that of the best.
    let best = &found["configurations"][0];
    let model = dir.run(&format!("eval t dev.conll {columns} --json"));
    assert_eq!(model.json()["f1"], best["dev_f1"]);
}
