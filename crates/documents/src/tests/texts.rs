//! The features of texts, and models of other kinds.

use super::*;
use crate::features::words_of;
use dropchain::model::Header;
use dropchain::{Model, label::LabelSet};

fn names(options: FeatureOptions, text: &str) -> Vec<String> {
    options.extract(text).into_iter().map(|(name, value)| format!("{name}:{value}")).collect()
}

#[test]
fn features_are_ngrams_in_order_with_their_values() {
    let options = FeatureOptions::default();
    let expected = ["w=not:1", "w=good:1", "w=,:1", "w=not good:1", "w=good ,:1", "w=, not:1"];
    assert_eq!(names(options, "Not good, not good"), expected);
    let cased = FeatureOptions {
        words: Some("1".parse().unwrap()),
        lowercase: false,
        tokens: Tokens::Blanks,
        frequency: TermFrequency::Log,
        ..options
    };
    let expected = ["w=Not:1", "w=good,:1", "w=not:1.6931471805599454"];
    assert_eq!(names(cased, "Not good, not not"), expected);
    let chars = FeatureOptions {
        words: None,
        chars: Some("2..3".parse().unwrap()),
        frequency: TermFrequency::Count,
        ..options
    };
    let expected = ["c=éa:2", "c=a :1", "c= é:1", "c=éa :1", "c=a é:1", "c= éa:1"];
    assert_eq!(names(chars, " Éa \n éa"), expected);
    assert!(names(options, " \t").is_empty());
}

#[test]
fn lengths_of_ngrams_are_checked() {
    for text in ["0", "2..1", "1..21", "", "..", "a", "1..", "-1"] {
        assert!(text.parse::<NgramRange>().is_err(), "{text}");
    }
    assert_eq!("3".parse::<NgramRange>().unwrap(), NgramRange::new(3, 3).unwrap());
}

#[test]
fn features_and_texts_do_not_mix() {
    let features = |name: &str| Instance::from_features([(name, 0.5)]);
    let texts = ["red apple", "grey slate"].map(Instance::from_text);
    let texts: Vec<Instance> =
        texts.into_iter().zip(["a", "b"]).map(|(text, class)| text.with_label(class)).collect();
    let model = train(texts.clone(), &DocumentOptions::texts()).unwrap().model;
    let error = model.classify(&features("1")).unwrap_err().to_string();
    assert_eq!(error, "-:1: found features; expected a text, as the model was trained on");
    let options = DocumentOptions::default();
    assert!(train(texts, &options).is_err());
    let documents = vec![features("1").with_label("a"), features("2").with_label("b")];
    let model = train(documents, &options).unwrap().model;
    assert_eq!(model.classify(&features("1")).unwrap().best(), 0);
    assert!(model.classify(&Instance::from_text("1")).is_err());
}

#[test]
fn a_tagger_is_no_classifier() {
    let mut labels = LabelSet::default();
    labels.insert("X").unwrap();
    let nodes: [dropchain::model::NodeWeights<Vec<u8>>; 0] = [];
    let edges: [dropchain::model::EdgeWeights<Vec<u8>>; 0] = [];
    let tagger = Model::from_weights(Header::new(labels), nodes, edges).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    tagger.save(&path).unwrap();
    let error = DocumentModel::open(&path).unwrap_err().to_string();
    let expected = "the model is a tagger; expected a classifier";
    assert!(error.contains(expected), "{error}");
    assert!(!DocumentModel::is_at(&path));
    let documents =
        ["a", "b"].map(|class| Instance::from_text(format!("x{class}")).with_label(class));
    let model = train(documents.to_vec(), &DocumentOptions::texts()).unwrap().model;
    model.save(&path).unwrap();
    assert!(DocumentModel::is_at(&path));
    let error = Model::open(&path).unwrap_err().to_string();
    let expected = "a file of another kind (it begins with DROPCLS, not DROPCRF)";
    assert!(error.contains(expected), "{error}");
    let opened = DocumentModel::open(&path).unwrap();
    let [a, b] = [&opened, &model].map(|model| model.classify(&documents[1]).unwrap());
    assert_eq!(a, b);
}

#[test]
fn what_is_left_out_grows_with_the_rate() {
    let text: String = (0..200).map(|i| format!("w{i} ")).collect();
    let left = |rate: f64, seed: u64, number: u64| {
        let damaged = Instance::from_text(&text).damaged(rate, Tokens::Blanks, seed, number);
        let InstanceContent::Text(text) = damaged.content else { panic!() };
        words_of(&text, Tokens::Blanks).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(left(0.0, 1, 0).len(), 200);
    let (few, more) = (left(0.7, 1, 0), left(0.3, 1, 0));
    assert!((40..80).contains(&few.len()) && (120..160).contains(&more.len()));
    assert!(few.iter().all(|word| more.contains(word)));
    assert_ne!(left(0.5, 1, 0), left(0.5, 1, 1));
    assert_ne!(left(0.5, 1, 0), left(0.5, 2, 0));
    let features = (0..100).map(|i| (i.to_string(), 1.0));
    let damaged = Instance::from_features(features).damaged(0.5, Tokens::Words, 1, 0);
    let InstanceContent::Features(features) = damaged.content else { panic!() };
    assert!((30..70).contains(&features.len()));
}
