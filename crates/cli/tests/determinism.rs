//! Determinism: the same bytes for any number of threads, the same model collapsed or not.

use serde_json::Value;

use crate::support::{NER_CORPUS, TestDir, sample_corpus};

/// Trains on the sample corpus for a few iterations.
fn train_sample(options: &str) -> TestDir {
    let dir = TestDir::new(&[("train.conll", &sample_corpus("train"))]);
    let train =
        "train train.conll --template ner-finkel-edges --max-iterations 8 --model m --quiet";
    dir.run(&format!("{train} {options}")).success();
    dir
}

#[test]
fn models_are_the_same_bytes_for_any_number_of_threads() {
    let one = train_sample("--threads 1").bytes("m");
    for threads in [2, 5] {
        let more = train_sample(&format!("--threads {threads}")).bytes("m");
        assert!(more == one, "{threads} threads");
    }
}

#[test]
fn models_are_the_same_bytes_in_every_run() {
    for options in ["", "--l1 0.3", "--order 0 --states observed", "--collapse off"] {
        let [once, again] = [(); 2].map(|()| train_sample(options).bytes("m"));
        assert!(once == again, "{options}");
    }
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let dir = train_sample("");
    dir.write("dev.conll", sample_corpus("dev"));
    let tag = "tag m dev.conll --output jsonl --marginals --nbest 3 --threads";
    let one = dir.run(&format!("{tag} 1")).success();
    let four = dir.run(&format!("{tag} 4")).success();
    assert!(one == four);
    assert_eq!(one.lines().count(), sample_corpus("dev").split("\n\n").count());
}

/// Tags the training data and returns the label and the marginals of every token.
fn tag_tokens(dir: &TestDir) -> Vec<(Value, Vec<f64>)> {
    let lines = dir.run("tag m train.conll --output jsonl --marginals").json_lines();
    let token = |labels: &Value, t: usize, row: &Value| {
        // Sorted by label: the order of equally likely labels may differ.
        let mut row: Vec<(String, f64)> = row
            .as_object()
            .unwrap()
            .iter()
            .map(|(label, p)| (label.clone(), p.as_f64().unwrap()))
            .collect();
        row.sort_by(|x, y| x.0.cmp(&y.0));
        (labels[t].clone(), row.into_iter().map(|(_, p)| p).collect())
    };
    let mut tokens = Vec::new();
    for line in &lines {
        let rows = line["marginals"].as_array().unwrap().iter().enumerate();
        tokens.extend(rows.map(|(t, row)| token(&line["labels"], t, row)));
    }
    tokens
}

#[test]
fn collapsing_changes_neither_labels_nor_marginals() {
    for options in ["", "--l1 0.02", "--states observed"] {
        let options = format!("--template ner-finkel-edges --precision f64 {options}");
        let on = tag_tokens(&TestDir::with_model(NER_CORPUS, &format!("{options} --collapse on")));
        let off =
            tag_tokens(&TestDir::with_model(NER_CORPUS, &format!("{options} --collapse off")));
        assert_eq!(on.len(), 19);
        for ((label, marginals), (other, others)) in on.iter().zip(&off) {
            assert_eq!(label, other, "{options}");
            for (p, q) in marginals.iter().zip(others) {
                assert!((p - q).abs() < 1e-6, "{options}: {p} and {q}");
            }
        }
    }
}

#[test]
fn collapsing_trains_fewer_weights() {
    let weights = |switch: &str| {
        let options = format!("--template ner --log log.jsonl --collapse {switch}");
        let log = TestDir::with_model(NER_CORPUS, &options).json_lines("log.jsonl");
        let number = |key: &str| log[0][key].as_u64().unwrap();
        (number("attributes"), number("collapsed_attributes"), number("weights"))
    };
    let (on, off) = (weights("on"), weights("off"));
    assert_eq!(on.0, off.0);
    assert_eq!(off.1, off.0);
    assert!(on.1 < off.1 && on.2 < off.2, "{on:?}, {off:?}");
}
