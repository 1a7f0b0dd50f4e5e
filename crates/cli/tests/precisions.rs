//! The precisions of stored weights: `--precision`.

use dropchain::model::{AttributeKind, Model, NodeWeights};

use crate::support::{TestDir, sample_corpus};

const PRECISIONS: [&str; 3] = ["f64", "f32", "f16"];

/// Returns a directory with a corpus of training and development data and models of it, one for
/// each precision, named like it.
fn models() -> TestDir {
    let train = |precision| {
        format!(
            "train train.conll --template minimal --max-iterations 5 --quiet \
             --precision {precision} --model {precision}"
        )
    };
    let [train_part, dev] = ["train", "dev"].map(sample_corpus);
    let files = [("train.conll", train_part.as_str()), ("dev.conll", dev.as_str())];
    TestDir::trained(&files, &PRECISIONS.map(train).join(";"))
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
    let dir = models();
    let tag = |model: &str| dir.run(&format!("tag {model} dev.conll")).success();
    let exact = tag("f64");
    for pair in PRECISIONS.windows(2) {
        let [larger, smaller] = [pair[0], pair[1]].map(|model| dir.bytes(model).len());
        assert!(smaller < larger, "{pair:?}: {larger}, {smaller}");
        let agreement = agreement(&exact, &tag(pair[1]));
        assert!(agreement >= 0.9995, "{pair:?}: {agreement}");
        let inspected = dir.run(&format!("inspect {} --json", pair[1])).json();
        assert_eq!(inspected["precision"], pair[1]);
    }
}

#[test]
fn a_model_of_few_bits_is_trained_as_it_is_converted_and_stays_when_converted_again() {
    let dir = models();
    dir.run("convert f64 --model converted --precision f16").success();
    let [trained, converted] = ["f16", "converted"].map(|name| weights(&dir, name));
    assert!(trained == converted);
    dir.run("convert f16 --model same").success();
    assert!(dir.bytes("same") == dir.bytes("f16"));
    dir.run("convert f16 --model wide --precision f64").success();
    dir.run("convert wide --model back --precision f16").success();
    assert!(dir.bytes("back") == dir.bytes("f16"));
    let tag = |model: &str| dir.run(&format!("tag {model} dev.conll --marginals")).success();
    assert!(tag("wide") == tag("f16"));
}

#[test]
fn a_converted_model_is_pruned_as_in_training() {
    let dir = models();
    let train = "train train.conll --template minimal --max-iterations 5 --quiet --precision f64";
    dir.run(&format!("{train} --prune 0.05 --model trained")).success();
    dir.run("convert f64 --prune 0.05 --model converted").success();
    let [all, trained, converted] = ["f64", "trained", "converted"].map(|name| weights(&dir, name));
    assert!(trained == converted);
    assert!(converted.len() < all.len());
    let shown = dir.run("inspect converted").success();
    assert!(shown.contains("prune 0.05\n"), "{shown}");
    // What was pruned before remains so.
    dir.run("convert converted --prune 0.01 --precision f16 --model twice").success();
    let shown = dir.run("inspect twice").success();
    assert!(shown.contains(" weights (f16), ") && shown.contains("prune 0.05\n"), "{shown}");
}

#[test]
fn both_passes_are_pruned() {
    let files = [("train.conll", &*sample_corpus("dev"))];
    let train = "train train.conll --template ner-two-passes --max-iterations 5 --model m --quiet";
    let dir = TestDir::trained(&files, train);
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
