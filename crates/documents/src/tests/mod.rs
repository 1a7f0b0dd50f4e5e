//! Tests of training, models and searches.

mod classes;
mod reading;
mod texts;

use std::ops::ControlFlow;

use crate::*;
use dropchain::Result;

fn train(documents: Vec<Instance>, options: &DocumentOptions) -> Result<Trained> {
    DocumentModel::train(documents.into_iter().map(Ok), options)
}

fn corpus(documents: Vec<Instance>, trainer: &DocumentTrainer<'_>) -> DocumentCorpus {
    let mut corpus = DocumentCorpus::default();
    corpus.add(documents.into_iter().map(Ok), trainer.options()).unwrap();
    corpus
}

/// Weights of the first column, by name.
fn weights(model: &DocumentModel) -> std::collections::BTreeMap<String, f64> {
    model.weights().map(|(name, row)| (name, row[0].1)).collect()
}

fn in_pool<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
}

#[test]
fn models_come_back_from_their_bytes_and_damaged_ones_are_errors() {
    let documents = || {
        (0..20).map(|i| {
            let x = f64::from(i) / 10.0;
            Instance::from_features([("a", x), ("ä", x * x)]).with_label(["u", "v"][i as usize % 2])
        })
    };
    let options = DocumentOptions::default();
    let model = train(documents().collect(), &options).unwrap().model;
    let bytes = model.as_bytes().to_vec();
    let again = DocumentModel::from_bytes(bytes.clone()).unwrap();
    assert_eq!(again.header(), model.header());
    assert!(again.weights().eq(model.weights()));
    for document in documents() {
        assert_eq!(again.classify(&document).unwrap(), model.classify(&document).unwrap());
    }
    let error =
        |bytes: Vec<u8>| DocumentModel::from_bytes(bytes).map(|_| ()).unwrap_err().to_string();
    assert!(error(b"DROPREG\n".to_vec()).contains("not one of dropchain; expected a classifier"));
    for at in (8..bytes.len()).step_by(5) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(error(damaged).contains("damaged"));
        assert!(error(bytes[..at].to_vec()).contains("damaged"));
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_no_classifier() {
    let error = DocumentModel::open("/dev/zero").unwrap_err().to_string();
    assert!(error.contains("not one of dropchain"), "{error}");
}

#[test]
fn contents_that_pass_the_checksum_are_errors_too() {
    let features = vec![
        Instance::from_features([("a", 1.0)]).with_label("1"),
        Instance::from_features([("b", 2.0)]).with_label("3"),
    ];
    let texts = vec![
        Instance::from_text("good film").with_label("1"),
        Instance::from_text("bad film").with_label("3"),
    ];
    let of_features = train(features, &DocumentOptions::default()).unwrap().model;
    let of_texts = train(texts, &DocumentOptions::texts()).unwrap().model;
    for (model, part, crafted) in [
        (&of_features, "[[\"a\",[[0,", "[[\"a\",[[1,"),
        (&of_features, "[[\"a\",[[0,", "[[\"c\",[[0,"),
        (&of_features, "[[\"a\",[[0,", "[[\"a\",[[0,1e300],[0,"),
        (&of_features, "\"biases\":[", "\"biases\":[1,"),
        (&of_features, "\"classes\":[", "\"classes\":[\"x\","),
        (&of_features, "\"classes\":[\"1\",", "\"classes\":["),
        (&of_features, "[[\"a\"", "[[1"),
        (&of_features, "]]]]", "]]]"),
        (&of_texts, "\"shortest\":1", "\"shortest\":0"),
        (&of_texts, "\"longest\":2", "\"longest\":999"),
    ] {
        let bytes = model.as_bytes();
        let text = std::str::from_utf8(&bytes[16..]).unwrap();
        assert!(text.contains(part), "{text}");
        let body = text.replacen(part, crafted, 1);
        let sum = xxhash_rust::xxh3::xxh3_64(body.as_bytes()).to_le_bytes();
        let crafted = [&bytes[..8], &sum, body.as_bytes()].concat();
        assert!(DocumentModel::from_bytes(crafted).is_err(), "{body}");
    }
}
