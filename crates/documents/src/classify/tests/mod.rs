//! Tests of features, of training, and of predictions.

mod bias;
mod hidden;
mod informativeness;
mod losses;

use super::*;
use crate::features::words_of;
use crate::{
    FeatureOptions, Instance, InstanceContent, ModelKind, NgramRange, TermFrequency, Tokens,
};
use dropchain::label::LabelSet;
use dropchain::model::{Header, Model};
use dropchain::train::AttributeCorpus;
use dropchain::{TrainOptions, Trainer};

/// Options with a change.
fn changed(mut options: TrainOptions, change: impl FnOnce(&mut TrainOptions)) -> TrainOptions {
    change(&mut options);
    options
}

fn names(options: FeatureOptions, text: &str) -> Vec<String> {
    let features = options.extract(text).into_iter();
    features.map(|(name, value)| format!("{name}:{value}")).collect()
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
    assert_eq!("3".parse::<NgramRange>().unwrap().to_string(), "3..3");
}

/// Three classes that their words tell apart, all but for one.
fn documents() -> Vec<Instance> {
    let texts = [
        ("red apple", "fruit"),
        ("green pear", "fruit"),
        ("red brick", "stone"),
        ("grey slate", "stone"),
        ("green slate", "stone"),
        ("blue sky", "air"),
        ("grey sky", "air"),
        ("red sky", "fruit"),
    ];
    let documents = texts.iter();
    documents.map(|(text, class)| Instance::from_text(*text).with_label(*class)).collect()
}

fn trainer(multiclass: Multiclass) -> ClassifierTrainer<'static> {
    let options = ClassifierOptions {
        multiclass,
        train: TrainOptions {
            precision: dropchain::model::Precision::F64,
            ..ClassifierOptions::train_options()
        },
        ..ClassifierOptions::default()
    };
    ClassifierTrainer::new(options).unwrap()
}

fn classifier(multiclass: Multiclass) -> Classifier {
    let trainer = trainer(multiclass);
    let corpus = trainer.corpus(documents()).unwrap();
    trainer.train(&corpus, None, &mut ()).unwrap().classifier
}

#[test]
fn probabilities_are_those_of_the_scores() {
    for multiclass in [Multiclass::Softmax, Multiclass::OneVsRest] {
        let classifier = classifier(multiclass);
        assert_eq!(classifier.classes(), ["fruit", "stone", "air"]);
        assert_eq!(classifier.header().multiclass, multiclass);
        let prediction = classifier.classify(&Instance::from_text("Grey brick")).unwrap();
        assert_eq!(classifier.classes()[prediction.best()], "stone");
        let link = |score: f64| match multiclass {
            Multiclass::Softmax => score.exp(),
            Multiclass::OneVsRest => 1.0 / (1.0 + (-score).exp()),
        };
        let sum: f64 = prediction.scores.iter().map(|&score| link(score)).sum();
        for (p, &score) in prediction.probabilities.iter().zip(&prediction.scores) {
            assert!((p - link(score) / sum).abs() < 1e-12, "{multiclass:?}");
        }
    }
}

#[test]
fn one_class_against_the_rest_is_a_model_of_two_classes() {
    let combined = classifier(Multiclass::OneVsRest);
    let two = documents().into_iter().map(|document| {
        let is_stone = document.label.as_deref() == Some("stone");
        document.with_label(if is_stone { "stone" } else { "other" })
    });
    let trainer = trainer(Multiclass::Softmax);
    let corpus = trainer.corpus(two).unwrap();
    let alone = trainer.train(&corpus, None, &mut ()).unwrap().classifier;
    for text in ["grey brick", "red", "", "unknown sky"] {
        let document = Instance::from_text(text);
        let score = combined.classify(&document).unwrap().scores[1];
        let scores = alone.classify(&document).unwrap();
        let [other, stone] = &scores.scores[..] else { panic!() };
        assert!((score - (stone - other)).abs() < 1e-4, "{text}: {score} {stone} {other}");
    }
}

#[test]
fn two_classes_are_one_model_either_way() {
    let trainer = trainer(Multiclass::OneVsRest);
    let two = documents().into_iter().filter(|d| d.label.as_deref() != Some("air"));
    let corpus = trainer.corpus(two).unwrap();
    let trained = trainer.train(&corpus, None, &mut ()).unwrap();
    assert_eq!(trained.ends.len(), 1);
    assert_eq!(trained.classifier.header().multiclass, Multiclass::Softmax);
}

#[test]
fn the_bias_has_no_noise() {
    // Without features there is only the bias, which then minimizes likelihood and penalty alone.
    let bias = |dropout: f64| {
        let options = ClassifierOptions {
            train: changed(ClassifierOptions::train_options(), |o| {
                o.method.noise.dropout = dropout;
                o.method.l2 = Some(0.1);
            }),
            ..ClassifierOptions::default()
        };
        let trainer = ClassifierTrainer::new(options).unwrap();
        let labels = ["a", "a", "a", "b"];
        let documents = labels.map(|label| Instance::from_text("").with_label(label));
        let corpus = trainer.corpus(documents).unwrap();
        assert_eq!(corpus.empty.len(), 4);
        let trained = trainer.train(&corpus, None, &mut ()).unwrap();
        let classifier = trained.classifier;
        let prediction = classifier.classify(&Instance::from_text("")).unwrap();
        prediction.probabilities[0]
    };
    assert!((bias(0.0) - bias(0.9)).abs() < 1e-6);
    assert!(bias(0.9) > 0.6);
}

#[test]
fn folds_of_adjacent_documents_have_all_classes() {
    let trainer = trainer(Multiclass::Softmax);
    let documents = [("a", 6), ("b", 3)].into_iter().flat_map(|(class, count)| {
        (0..count).map(move |i| Ok(Instance::from_text(format!("{i}")).with_label(class)))
    });
    let (corpus, counts) = trainer.sentences(documents).unwrap();
    let labels: Vec<&str> = corpus.iter().map(|s| s.label(0).unwrap()).collect();
    assert_eq!(labels, ["a", "b", "a", "a", "b", "a", "a", "b", "a"]);
    let classes = counts.classes.iter();
    let classes: Vec<_> = classes.map(|c| (c.name.as_str(), c.documents)).collect();
    assert_eq!(classes, [("a", 6), ("b", 3)]);
}

#[test]
fn features_and_texts_do_not_mix() {
    let classifier = classifier(Multiclass::Softmax);
    let features = Instance::from_features([("1", 0.5)]);
    let error = classifier.classify(&features).unwrap_err().to_string();
    assert_eq!(error, "-:1: found features; expected a text, as the model was trained on");
    let options = ClassifierOptions { features: None, ..ClassifierOptions::default() };
    let trainer = ClassifierTrainer::new(options).unwrap();
    assert!(trainer.corpus(documents()).is_err());
    let a = features.clone().with_label("a");
    let b = Instance::from_features([("2", 2.0)]).with_label("b");
    let corpus = trainer.corpus([a, b]).unwrap();
    let classifier = trainer.train(&corpus, None, &mut ()).unwrap().classifier;
    assert_eq!(classifier.classify(&features).unwrap().best(), 0);
    assert!(classifier.classify(&Instance::from_text("1")).is_err());
}

#[test]
fn a_tagger_is_no_classifier() {
    let mut labels = LabelSet::default();
    labels.insert("X").unwrap();
    let nodes: [dropchain::model::NodeWeights<Vec<u8>>; 0] = [];
    let edges: [dropchain::model::EdgeWeights<Vec<u8>>; 0] = [];
    let model = Model::from_weights(Header::new(labels), nodes, edges).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    model.save(&path).unwrap();
    let error = Classifier::open(&path).unwrap_err().to_string();
    let expected = "the model is a tagger; expected a classifier";
    assert!(error.contains(expected), "{error}");
    assert_eq!(ModelKind::of(&path), None);
    let classifier = classifier(Multiclass::Softmax);
    classifier.file().save(&path).unwrap();
    assert_eq!(ModelKind::of(&path), Some(ModelKind::Classifier));
    let error = Model::open(&path).unwrap_err().to_string();
    let expected = "a file of another kind (it begins with DROPCLS, not DROPCRF)";
    assert!(error.contains(expected), "{error}");
    let document = Instance::from_text("grey brick");
    let opened = Classifier::open(&path).unwrap();
    assert_eq!(opened.classify(&document).unwrap(), classifier.classify(&document).unwrap());
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

#[test]
fn a_corpus_against_the_rest_avoids_the_name_of_a_class() {
    let mut corpus = AttributeCorpus::new();
    for class in ["a", "rest", "b"] {
        corpus.push_sentence([["x"]], [class]).unwrap();
    }
    let own = corpus.against_rest("rest").unwrap();
    assert_eq!(own.given_labels(), ["rest", "rest_"]);
    let ids: Vec<u16> = own.labeled().labels.iter().map(|id| id.0).collect();
    assert_eq!(ids, [1, 0, 1]);
    let trained = Trainer::new(ClassifierOptions::train_options()).unwrap();
    assert!(trained.train_attributes(&own, None, &mut ()).is_ok());
}
