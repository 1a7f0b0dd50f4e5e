//! Training on attribute corpora in memory.

use super::*;
use crate::extract::AttributeCorpus;
use crate::label::Scheme;
use crate::model::Order;
use crate::sentence::TokenLabel;

const TRAIN: &str = "\
B a,len:0.5;O b,c;B-X a,rare
O b;I-X c,len:2
O b,c;B-X a;O b
I-X c;O b,len:-1";
const UNLABELED: &str = "\
O a,b,new;O c
O new,len:3";
const DEV: &str = "\
B-X a,unseen;O b
O c,len:0.5;O b";

/// Pushes the sentences that [`given`] builds of the text.
fn push(corpus: &mut AttributeCorpus, text: &str, is_labeled: bool) {
    for sentence in given(text) {
        if is_labeled {
            corpus.push(&sentence).unwrap();
            continue;
        }
        let attributes = sentence.attributes.as_ref().unwrap();
        for t in 0..sentence.len() {
            for (name, value) in attributes.token(t) {
                corpus.attribute(name, value).unwrap();
            }
            corpus.end_token(None).unwrap();
        }
        corpus.end_sentence().unwrap();
    }
}

fn corpus(labeled: &str, unlabeled: &str) -> AttributeCorpus {
    let mut corpus = AttributeCorpus::new();
    push(&mut corpus, labeled, true);
    push(&mut corpus, unlabeled, false);
    corpus
}

#[track_caller]
fn assert_same(found: &Trained, expected: &Trained) {
    let weights = |trained: &Trained| {
        let owned = |(name, weights): (&[u8], Vec<_>)| (name.to_vec(), weights);
        let nodes: Vec<_> = trained.model.node_weights().map(|row| owned(row.unwrap())).collect();
        (nodes, trained.model.header().label_weights.clone())
    };
    assert_eq!(weights(found), weights(expected));
    assert!(!weights(found).0.is_empty());
    let labels = |trained: &Trained| trained.model.header().labels.clone();
    assert_eq!(labels(found), labels(expected));
    assert_eq!(found.end.iterations, expected.end.iterations);
    assert_eq!(found.end.dev, expected.end.dev);
}

#[test]
fn an_attribute_corpus_trains_the_model_of_its_sentences_and_does_so_again() {
    let interned = corpus(TRAIN, UNLABELED);
    let dev = corpus(DEV, "");
    type Change = fn(&mut TrainOptions);
    let changes: [(Change, bool); 6] = [
        (|_| {}, false),
        (|o| o.attributes.min_count = 2, false),
        (|o| o.structure.order = Order::Zero, false),
        (|o| o.structure.states = Some(States::Observed), true),
        (|o| o.method.noise.dropout = 0.3, false),
        (|o| (o.method.noise.dropout, o.attributes.min_count) = (0.3, 2), true),
    ];
    for (change, has_dev) in changes {
        let mut options = options();
        change(&mut options);
        let trainer = Trainer::new(options).unwrap();
        let mut corpora = TrainingCorpora::new(given(TRAIN)).unlabeled(given(UNLABELED));
        if has_dev {
            corpora = corpora.dev(given(DEV));
        }
        let expected = trainer.train(corpora, None, &mut ()).unwrap();
        for _ in 0..2 {
            let dev = has_dev.then_some(&dev);
            let found = trainer.train_attributes(&interned, dev, &mut ()).unwrap();
            assert_same(&found, &expected);
        }
    }
}

#[test]
fn labels_are_converted_to_the_scheme_of_the_options() {
    let text = "B-X a;I-X b;O c\nO c;B-X a";
    let options = changed(options(), |o| o.labels.scheme = Scheme::Bioes);
    let trainer = Trainer::new(options).unwrap();
    let expected = trainer.train(given(text), None, &mut ()).unwrap();
    let found = trainer.train_attributes(&corpus(text, ""), None, &mut ()).unwrap();
    assert_eq!(found.model.header().labels.names()[1], "E-X");
    assert_same(&found, &expected);
}

#[test]
fn a_corpus_that_training_shares_may_grow() {
    let mut growing = corpus("B-X a;O b", "");
    let trainer = Trainer::new(options()).unwrap();
    let kept = growing.clone();
    push(&mut growing, "O c;B-X a", true);
    let before = trainer.train_attributes(&kept, None, &mut ()).unwrap();
    let after = trainer.train_attributes(&growing, None, &mut ()).unwrap();
    assert!(knows(&after.model, "c") && !knows(&before.model, "c"));
}

#[test]
fn partial_labels_and_weights_count_as_those_of_sentences() {
    let labels = [
        vec![TokenLabel::from("B-X"), TokenLabel::from("O"), TokenLabel::Unknown],
        vec!["O|B-X".parse().unwrap(), TokenLabel::from("O")],
    ];
    let text = "B-X a;O b;O c\nO c;O a\nB-X a;I-X b";
    let mut sentences = given(text);
    for (sentence, labels) in sentences.iter_mut().zip(labels) {
        *sentence = sentence.clone().with_partial_labels(labels).unwrap().with_weight(2.5).unwrap();
    }
    let mut corpus = AttributeCorpus::new();
    for sentence in &sentences {
        corpus.push(sentence).unwrap();
    }
    for scheme in [Scheme::Raw, Scheme::Bioes] {
        let options = changed(options(), |o| {
            o.labels.scheme = scheme;
            o.attributes.min_count = 2;
        });
        let trainer = Trainer::new(options).unwrap();
        let expected = trainer.train(sentences.clone(), None, &mut ()).unwrap();
        let found = trainer.train_attributes(&corpus, None, &mut ()).unwrap();
        assert_same(&found, &expected);
    }
    let error =
        Trainer::new(options()).unwrap().train_attributes(&corpus, &corpus, &mut ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "labeled sentence 1, token 3: found the partial label '_'; development data need one \
         label for every token"
    );
}

#[test]
fn edge_attributes_get_a_weight_for_each_pair_of_labels() {
    let mut corpus = AttributeCorpus::new();
    for labels in [["X", "Y"], ["Y", "X"]] {
        for (t, label) in labels.into_iter().enumerate() {
            let name = format!("from {}", labels[0]);
            corpus.edge_attribute(&name, 1.0).unwrap();
            corpus.attribute("same", t as f64).unwrap();
            corpus.end_token(Some(label)).unwrap();
        }
        corpus.end_sentence().unwrap();
    }
    let trainer = Trainer::new(options()).unwrap();
    let trained = trainer.train_attributes(&corpus, None, &mut ()).unwrap();
    let weights = weights(&trained.model, AttributeKind::Edge, b"from Y");
    assert!(weights[2] > 0.1 && weights[1] < -0.1, "{weights:?}");
}

#[test]
fn a_corpus_without_labeled_sentences_is_an_error() {
    let fault = |labeled: &str, dev: Option<&str>| {
        let dev = dev.map(|text| corpus("", text));
        let trainer = Trainer::new(options()).unwrap();
        let trained = trainer.train_attributes(&corpus(labeled, "O a"), dev.as_ref(), &mut ());
        trained.unwrap_err().to_string()
    };
    assert_eq!(fault("", None), "there are no sentences to train on");
    assert_eq!(fault("O a", Some("O a")), "there are no development sentences");
}

#[test]
fn sentences_that_all_have_the_weight_0_are_an_error() {
    let mut corpus = AttributeCorpus::new();
    corpus.weight(0.0).unwrap();
    corpus.end_token(Some("O")).unwrap();
    corpus.end_sentence().unwrap();
    let trainer = Trainer::new(options()).unwrap();
    let error = trainer.train_attributes(&corpus, None, &mut ()).unwrap_err();
    let expected = "the weights of all training sentences are 0; expected some above 0";
    assert_eq!(error.to_string(), expected);
}
