//! Training that continues from models: `--init` and `--towards` of `train` and `tune`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::support::{NER_CORPUS, POS_CORPUS, TestDir, keys, sample_corpus};

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

const CRFSUITE: &str = "\
B-PER\tw=Ann\tcap
O\tw=left\tlength:0.5

B-LOC\tw=Rome\tcap
O\tw=fell

";

/// Trains `m` on [`NER_CORPUS`]; `more.conll` has [`MORE`].
fn directory(options: &str) -> TestDir {
    let dir = TestDir::with_model(NER_CORPUS, &format!("--template minimal {options}"));
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

fn fingerprint(dir: &TestDir, model: &str) -> String {
    let inspected = dir.run(&format!("inspect {model} --json")).json();
    inspected["fingerprint"].as_str().unwrap().to_owned()
}

#[test]
fn what_matched_is_printed_and_logged() {
    let dir = directory("");
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
    let dir = directory("");
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
    assert_eq!(inspected["options"]["init"].as_str().map(str::len), Some(32));
}

#[test]
fn a_checkpoint_needs_the_model_that_training_started_at() {
    let dir = directory("");
    for command in ["train more.conll", "tune more.conll --folds 2 --l2 0.1 --dropout 0"] {
        let line = format!("{command} --init m --model m --checkpoint ck --quiet");
        assert_eq!(
            dir.run(&line).failure(),
            "--model m: this is the input file m; expected a different file to write to"
        );
    }
    let error = dir.run("train more.conll --init m --model n --log m").failure();
    assert!(error.starts_with("--log m: this is the input file m"), "{error}");
    assert_eq!(fingerprint(&dir, "m").len(), 32);
}

#[test]
fn an_interrupted_training_resumes_from_the_same_models_only() {
    let dir = directory("");
    let line = "train more.conll --init m --quiet --checkpoint-every 1 --checkpoint ck --model";
    dir.run("train more.conll --init m --quiet --model expected").success();
    // The checkpoint of a run that ends at its maximum is removed, so it is made by a copy.
    let state = |init: &str| {
        format!("train more.conll --init {init} --quiet --checkpoint ck --resume --model n")
    };
    dir.write("noise.conll", NER_CORPUS.replace("B-LOC", "O"));
    dir.run("train noise.conll --template minimal --quiet --model other").success();
    let mut child = dir.command(&format!("{line} n --log log")).spawn().unwrap();
    crate::support::wait_until("the first checkpoint", || dir.path("ck").exists());
    let _ = child.kill();
    child.wait().unwrap();
    if dir.path("ck").exists() {
        let error = dir.run(&state("other")).failure();
        assert!(error.contains("was written with other training data"), "{error}");
    }
    dir.run(&state("m")).success();
    assert!(dir.bytes("n") == dir.bytes("expected"));
}

#[test]
fn the_structure_is_that_of_the_model() {
    let dir = directory("--order 0 --scheme bioes");
    dir.run("train more.conll --init m --model n --quiet").success();
    let inspected = dir.run("inspect n --json").json();
    let order = dir.run("inspect m --json").json()["options"]["order"].clone();
    assert_eq!(inspected["options"]["order"], order);
    let labels = inspected["labels"].as_object().unwrap();
    assert!(labels.contains_key("S-ORG") && !labels.contains_key("B-ORG"));
    for (flag, expected) in [
        ("--order 1", "--order 1, but --init m has order 0; expected --order 0, since"),
        ("--boundary off", "--boundary off, but --init m has --boundary on; expected"),
        ("--scheme iob2", "--scheme iob2, but --init m has labels in the scheme bioes; expected"),
    ] {
        let error = dir.run(&format!("train more.conll --init m --model x {flag}")).failure();
        assert!(error.starts_with(expected), "{error}");
    }
    dir.run("train train.conll --template minimal --order 0 --model iob2 --quiet").success();
    let error = dir.run("train more.conll --init m --towards iob2 --model x").failure();
    assert!(error.contains("are in the scheme bioes, those of --towards in iob2"), "{error}");
    assert!(!dir.path("x").exists());
}

#[test]
fn models_and_data_that_do_not_fit_are_rejected() {
    let dir = directory("");
    dir.write("pos.conll", POS_CORPUS);
    let error = dir.run("train pos.conll --init m --model x --quiet").failure();
    assert!(
        error.starts_with("pos.conll:1: the label 'NNP': the labels of these data encode no spans"),
        "{error}"
    );
    let mut bytes = dir.bytes("m");
    let middle = bytes.len() - 40;
    bytes[middle] ^= 1;
    dir.write("damaged", bytes);
    for (file, expected) in [
        ("damaged", "damaged: the model is damaged"),
        ("none", "none: "),
        ("more.conll", "more.conll: this is not a dropchain model"),
    ] {
        for line in ["train more.conll --init", "tune more.conll --folds 2 --towards"] {
            let error = dir.run(&format!("{line} {file} --model x")).failure();
            assert!(error.starts_with(expected), "{error}");
        }
    }
    assert!(!dir.path("x").exists());
}

#[test]
fn attributes_match_by_name_whatever_the_template() {
    let dir = directory("");
    dir.write("words.tpl", "word\n");
    dir.run("train more.conll --init m --template words.tpl --model n --quiet").success();
    let (old, new) = (weights(&dir, "m"), weights(&dir, "n"));
    assert_ne!(new["word[0]=Bob B-PER"], old["word[0]=Bob B-PER"]);
    let other = old.keys().find(|name| name.starts_with("suffix")).unwrap();
    assert_eq!(new[other], old[other]);

    dir.write("a.crfsuite", CRFSUITE);
    dir.write("b.crfsuite", CRFSUITE.replace("Ann", "Bob"));
    dir.run("train a.crfsuite --model a --quiet").success();
    dir.run("train b.crfsuite --init a --model b --quiet").success();
    let (old, new) = (weights(&dir, "a"), weights(&dir, "b"));
    assert_eq!(new["w=Ann B-PER"], old["w=Ann B-PER"]);
    assert!(new["w=Bob B-PER"] > 0.0 && new["w=Rome B-LOC"] != old["w=Rome B-LOC"]);
    let error = dir.run("train more.conll --init a --model x").failure();
    assert!(error.starts_with("--template is missing, and a has no template"), "{error}");
    let output = dir.run("train b.crfsuite --init m --model x");
    assert!(output.stderr.contains("unlike m, the new model will have no template"), "{output:?}");
    output.success();
}

#[test]
fn unlabeled_text_and_all_kinds_of_noise_work_with_models() {
    let dir = directory("");
    dir.write("raw.txt", "Ann Lee saw York .\n");
    let old = weights(&dir, "m");
    for options in [
        "--noise additive --dropout 0.1",
        "--noise dropout --gradient window=1 --l1 0.01 --states observed",
    ] {
        let line = format!(
            "train more.conll --towards m --unlabeled raw.txt --max-iterations 5 --model n --quiet \
             {options}"
        );
        dir.run(&line).success();
        let new = weights(&dir, "n");
        assert_eq!(new["word[0]=Rome B-LOC"], old["word[0]=Rome B-LOC"], "{options}");
        assert_ne!(new["word[0]=Bob B-PER"], old["word[0]=Bob B-PER"], "{options}");
    }
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
    assert_eq!((&found["towards"], &found["init"]), (&"m".into(), &Value::Null));
    assert_eq!(dir.json_lines("log")[0]["towards"], "m");
    // The model is that of the best.
    let best = &found["configurations"][0];
    let model = dir.run(&format!("eval t dev.conll {columns} --json"));
    assert_eq!(model.json()["f1"], best["dev_f1"]);
    dir.run(&format!(
        "train train.conll {columns} --towards m --max-iterations 4 --model s --quiet"
    ))
    .success();

    // A search is resumed with the same models only.
    let line = format!(
        "tune train.conll {columns} --quiet --model t --checkpoint ck --dropout 0,0.3 \
         --dev dev.conll --l2 1 --max-iterations 30"
    );
    let mut child = dir.command(&format!("{line} --init m")).spawn().unwrap();
    crate::support::wait_until("a segment", || {
        fs::metadata(dir.path("ck")).is_ok_and(|file| file.len() > 2000)
    });
    let _ = child.kill();
    child.wait().unwrap();
    if dir.path("ck").exists() {
        let error = dir.run(&format!("{line} --resume --init s")).failure();
        assert!(error.contains("was written with other --init"), "{error}");
    }
    dir.run(&format!("{line} --resume --init m")).success();
    let resumed = dir.bytes("t");
    dir.run(&format!("{line} --init m")).success();
    assert!(dir.bytes("t") == resumed);
}
