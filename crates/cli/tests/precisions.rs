//! The precisions of stored weights: `--precision`.

use dropchain::model::{AttributeKind, Model};
use dropchain::tag::NodeWeights;

use crate::support::{NER_CORPUS, TestDir, sample_corpus};

const PRECISIONS: [&str; 3] = ["f64", "f32", "f16"];

/// Returns a directory with a corpus of training and development data and models of it, one for
/// each precision, named like it.
fn models(options: &str) -> TestDir {
    let dir = TestDir::new(&[
        ("train.conll", &sample_corpus("train")),
        ("dev.conll", &sample_corpus("dev")),
    ]);
    for precision in PRECISIONS {
        let train = "train train.conll --template ner --max-iterations 10 --quiet";
        let options = format!("{options} --precision {precision} --model {precision}");
        dir.run(&format!("{train} {options}")).success();
    }
    dir
}

/// Returns the attributes of tokens of a model, with their weights.
fn weights(dir: &TestDir, model: &str) -> Vec<NodeWeights<Vec<u8>>> {
    let model = Model::open(dir.path(model)).unwrap();
    let attributes = model.node_weights().map(Result::unwrap);
    attributes.map(|(name, weights)| (name.to_vec(), weights)).collect()
}

/// Returns the share of equal lines.
fn agreement(a: &str, b: &str) -> f64 {
    let lines = a.lines().zip(b.lines());
    let equal = lines.clone().filter(|(a, b)| a == b).count();
    equal as f64 / lines.count() as f64
}

#[test]
fn fewer_bytes_make_a_smaller_model_that_tags_nearly_alike() {
    for options in ["", "--states observed"] {
        let dir = models(options);
        let tag = |model: &str| dir.run(&format!("tag {model} dev.conll")).success();
        let exact = tag("f64");
        for pair in PRECISIONS.windows(2) {
            let [larger, smaller] = [pair[0], pair[1]].map(|model| dir.bytes(model).len());
            assert!(smaller < larger, "{pair:?} {options}: {larger}, {smaller}");
            let agreement = agreement(&exact, &tag(pair[1]));
            assert!(agreement >= 0.9995, "{pair:?} {options}: {agreement}");
            let inspected = dir.run(&format!("inspect {} --json", pair[1])).json();
            assert_eq!(inspected["precision"], pair[1]);
        }
    }
}

#[test]
fn weights_are_off_by_half_a_step() {
    let dir = models("");
    let [exact, half] = ["f64", "f16"].map(|name| Model::open(dir.path(name)).unwrap());
    let mut count = 0;
    for attribute in exact.node_weights() {
        let (name, weights) = attribute.unwrap();
        let largest = weights.iter().fold(0.0, |max: f64, (_, w)| max.max(w.abs()));
        let step = largest / 1024.0;
        let mut stored = vec![0.0; exact.header().labels.len()];
        let kind = AttributeKind::Node;
        let stride = stored.len();
        half.add_scores(kind, name, 1.0, stride, &mut stored).unwrap();
        for (label, weight) in &weights {
            // Halves below 2⁻¹⁴ have an absolute precision.
            let error = (stored[label.index()] - weight).abs();
            let bound = 0.5 * step.max(2f64.powi(-24));
            assert!(error <= bound, "{weight} stored with an error of {error}");
            count += 1;
        }
    }
    assert!(count > 10_000, "{count}");
}

#[test]
fn the_score_before_and_after_is_printed_for_few_bits_only() {
    let dir = TestDir::new(&[("train.conll", NER_CORPUS)]);
    let train = "train train.conll --template ner --model m";
    for (options, expected) in [
        ("--precision f32 --dev train.conll", None),
        ("--precision f16", Some("weights rounded to 2 bytes\n")),
        (
            "--precision f16 --dev train.conll",
            Some(
                "weights rounded to 2 bytes; on development data: F1 100.00 before, \
                 F1 100.00 after\n",
            ),
        ),
    ] {
        let messages = dir.run(&format!("{train} {options}")).exits(0);
        match expected {
            Some(line) => assert!(messages.contains(line), "{options}: {messages}"),
            None => assert!(!messages.contains("rounded"), "{options}: {messages}"),
        }
    }
}

#[test]
fn a_model_of_few_bits_is_trained_as_it_is_converted() {
    let dir = models("");
    dir.run("convert f64 --model converted --precision f16").success();
    let [trained, converted] = ["f16", "converted"].map(|name| weights(&dir, name));
    assert!(trained == converted);
}

#[test]
fn what_is_stored_stays_when_it_is_converted_again() {
    let dir = models("");
    dir.run("convert f16 --model same").success();
    assert!(dir.bytes("same") == dir.bytes("f16"));
    dir.run("convert f16 --model wide --precision f64").success();
    dir.run("convert wide --model back --precision f16").success();
    assert!(dir.bytes("back") == dir.bytes("f16"));
    let tag = |model: &str| dir.run(&format!("tag {model} dev.conll --marginals")).success();
    assert!(tag("wide") == tag("f16"));
}

#[test]
fn edge_attributes_have_few_bits_too() {
    let dir =
        TestDir::new(&[("train.conll", NER_CORPUS), ("my.tpl", "word\nedge: word\nedge: shape\n")]);
    let train = "train train.conll --template my.tpl --quiet --l2 0.01";
    let tag = |precision: &str| {
        dir.run(&format!("{train} --precision {precision} --model {precision}")).success();
        dir.run(&format!("tag {precision} train.conll")).success()
    };
    let expected = tag("f64");
    assert!(PRECISIONS.iter().all(|precision| tag(precision) == expected));
}

#[test]
fn a_converted_model_is_pruned_as_in_training() {
    let dir = models("");
    let train = "train train.conll --template ner --max-iterations 10 --quiet --precision f64";
    dir.run(&format!("{train} --prune 0.05 --model trained")).success();
    dir.run("convert f64 --prune 0.05 --model converted").success();
    let [all, trained, converted] = ["f64", "trained", "converted"].map(|name| weights(&dir, name));
    assert!(trained == converted);
    assert!(converted.len() < all.len());
    let shown = dir.run("inspect converted").success();
    assert!(shown.contains("pruned below 0.05"), "{shown}");
    // What was pruned before remains so.
    dir.run("convert converted --prune 0.01 --precision f16 --model twice").success();
    let shown = dir.run("inspect twice").success();
    assert!(shown.contains("2-byte weights, pruned below 0.05"), "{shown}");
}

#[test]
fn thresholds_that_are_no_weights_are_refused() {
    let dir = TestDir::with_model(NER_CORPUS, "--template ner");
    for threshold in ["-1", "nan", "inf"] {
        let message = dir.run(&format!("convert m --prune {threshold} --model new")).failure();
        assert!(message.contains("expected 0 or more"), "{message}");
    }
    assert!(!dir.path("new").exists());
}

#[test]
fn both_passes_are_pruned() {
    let dir = TestDir::new(&[("train.conll", &sample_corpus("dev"))]);
    dir.run("train train.conll --template ner-two-passes --max-iterations 5 --model m --quiet")
        .success();
    dir.run("convert m --prune 0.05 --precision f16 --model small").success();
    let [old, new] = ["m", "small"].map(|name| Model::open(dir.path(name)).unwrap());
    let weights = |model: &Model| {
        let first = model.first_pass().unwrap();
        [model.weights(AttributeKind::Node), first.weights(AttributeKind::Node)]
    };
    let (old, new) = (weights(&old), weights(&new));
    assert!(new[0] < old[0] && new[1] < old[1], "{old:?}, {new:?}");
    dir.run("tag small train.conll").success();
}
