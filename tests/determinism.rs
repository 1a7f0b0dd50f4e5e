//! The same bytes, whatever the number of threads; the same model, collapsed or not.

use serde_json::Value;

use crate::support::{Folder, NAMES, sample};

/// Trains on the sample corpus for a few iterations.
fn trained(options: &str) -> Folder {
    let folder = Folder::new(&[("train.conll", &sample("train"))]);
    let train =
        "train train.conll --template ner-finkel-edges --max-iterations 8 --model m --quiet";
    folder.run(&format!("{train} {options}")).succeeded();
    folder
}

#[test]
fn models_are_the_same_bytes_for_any_number_of_threads() {
    let one = trained("--threads 1").bytes("m");
    for threads in [2, 5] {
        let more = trained(&format!("--threads {threads}")).bytes("m");
        assert!(more == one, "{threads} threads");
    }
}

#[test]
fn models_are_the_same_bytes_in_every_run() {
    for options in [
        "",
        "--l1 0.3",
        "--order 0 --states observed",
        "--collapse off",
    ] {
        let [once, again] = [(); 2].map(|()| trained(options).bytes("m"));
        assert!(once == again, "{options}");
    }
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let folder = trained("");
    folder.write("dev.conll", sample("dev"));
    let tag = "tag m dev.conll --output jsonl --marginals --nbest 3 --threads";
    let one = folder.run(&format!("{tag} 1")).succeeded();
    let four = folder.run(&format!("{tag} 4")).succeeded();
    assert!(one == four);
    assert_eq!(one.lines().count(), sample("dev").split("\n\n").count());
}

/// Labels and marginals of every token.
fn tagged(folder: &Folder) -> Vec<(Value, Vec<f64>)> {
    let lines = folder
        .run("tag m train.conll --output jsonl --marginals")
        .json_lines();
    let token = |labels: &Value, t: usize, row: &Value| {
        // By label, since equally likely ones may change places.
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
        let on = tagged(&Folder::trained(NAMES, &format!("{options} --collapse on")));
        let off = tagged(&Folder::trained(
            NAMES,
            &format!("{options} --collapse off"),
        ));
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
        let log = Folder::trained(NAMES, &options).json_lines("log.jsonl");
        let number = |key: &str| log[0][key].as_u64().unwrap();
        (
            number("attributes"),
            number("collapsed_attributes"),
            number("weights"),
        )
    };
    let (on, off) = (weights("on"), weights("off"));
    assert_eq!(on.0, off.0);
    assert_eq!(off.1, off.0);
    assert!(on.1 < off.1 && on.2 < off.2, "{on:?}, {off:?}");
}
