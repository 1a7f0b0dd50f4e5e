//! What CRFsuite does and other training does not: minimum frequencies of weights, development data
//! that choose nothing, the optimizer without its own improvements.

use super::*;
use crate::eval::Counts;
use crate::extract::tests::push_sentence;
use crate::optim::LbfgsOptions;

const TRAIN: &str = "\
X a:2,b;Y a,c:-1;X c:0.5
Y a:0.5,d:-0.25;Y b,d:0.5
Y a,d:-0.5;X b";

fn crfsuite() -> TrainOptions {
    changed(options(), |o| {
        o.structure.boundary = Boundary::Off;
        o.structure.states = Some(States::Observed);
        o.recall_bias = Some(0.0);
    })
}

fn node_weights(model: &Model) -> Vec<(String, Vec<(u16, f64)>)> {
    let nodes = model.node_weights().map(|row| {
        let (name, weights) = row.unwrap();
        let weights = weights.into_iter().map(|(label, weight)| (label.0, weight));
        (String::from_utf8(name.to_vec()).unwrap(), weights.collect())
    });
    nodes.collect()
}

/// Trains and returns which weights exist: attributes with the indices of labels, and label pairs.
fn existing(change: impl FnOnce(&mut TrainOptions)) -> (Vec<(String, Vec<u16>)>, Vec<usize>) {
    let mut options = crfsuite();
    change(&mut options);
    let trained = Trainer::new(options).unwrap().train(given(TRAIN), None, &mut ()).unwrap();
    let labels = |weights: Vec<(u16, f64)>| weights.into_iter().map(|(label, _)| label).collect();
    let nodes = node_weights(&trained.model).into_iter();
    let nodes = nodes.map(|(name, weights)| (name, labels(weights))).collect();
    let pairs = &trained.model.header().label_weights.transitions;
    let pairs = (0..pairs.len()).filter(|&i| pairs[i] != 0.0).collect();
    (nodes, pairs)
}

fn owned(nodes: &[(&str, &[u16])]) -> Vec<(String, Vec<u16>)> {
    let owned = |&(name, labels): &(&str, &[u16])| (name.to_owned(), labels.to_vec());
    nodes.iter().map(owned).collect()
}

#[test]
fn weights_exist_if_their_pairs_are_frequent_enough() {
    // Of X (0) and Y (1): a 2, 2.5; b 2, 1; c 0.5, -1; d none, -0.25. Pairs: XY, YX twice, YY.
    let (nodes, pairs) = existing(|_| {});
    let all = owned(&[("a", &[0, 1]), ("b", &[0, 1]), ("c", &[0, 1]), ("d", &[1])]);
    assert_eq!((nodes, pairs), (all, vec![1, 2, 3]));
    let (nodes, pairs) = existing(|o| o.structure.min_frequency = Some(0.0));
    let not_negative = owned(&[("a", &[0, 1]), ("b", &[0, 1]), ("c", &[0])]);
    assert_eq!((nodes, pairs), (not_negative, vec![1, 2, 3]));
    let (nodes, pairs) = existing(|o| o.structure.min_frequency = Some(2.0));
    let frequent = owned(&[("a", &[0, 1]), ("b", &[0])]);
    assert_eq!((nodes, pairs), (frequent, vec![2]));
}

#[test]
fn weights_that_never_occur_have_the_frequency_0() {
    let all = |o: &mut TrainOptions| {
        (o.structure.states, o.structure.transitions) = (Some(States::All), None);
    };
    let (nodes, pairs) = existing(|o| (all(o), o.structure.min_frequency = Some(0.0)).1);
    let expected = owned(&[("a", &[0, 1]), ("b", &[0, 1]), ("c", &[0]), ("d", &[0])]);
    assert_eq!((nodes, pairs), (expected, vec![0, 1, 2, 3]));
    let (nodes, pairs) = existing(|o| (all(o), o.structure.min_frequency = Some(0.5)).1);
    let expected = owned(&[("a", &[0, 1]), ("b", &[0, 1]), ("c", &[0])]);
    assert_eq!((nodes, pairs), (expected, vec![1, 2, 3]));
}

#[test]
fn the_weight_of_a_sentence_counts_for_frequencies() {
    let mut corpus = AttributeCorpus::new();
    push_sentence(&mut corpus, [[("a", 1.0)], [("b", 1.0)]], &["X", "Y"]);
    for attribute in ["c", "d"] {
        corpus.weight(0.5).unwrap();
        corpus.attribute(attribute, 1.0).unwrap();
        corpus.end_token(Some("Y")).unwrap();
        corpus.end_sentence().unwrap();
    }
    let mut options = crfsuite();
    options.structure.min_frequency = Some(1.0);
    let trained = Trainer::new(options).unwrap().train_attributes(&corpus, None, &mut ()).unwrap();
    let names = node_weights(&trained.model).into_iter().map(|row| row.0);
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn values_of_0_may_count_as_observed() {
    // a and b have the same values, but only b is 0 with Y; c is never anything but 0.
    let mut corpus = AttributeCorpus::new();
    corpus.observe_zeros();
    push_sentence(&mut corpus, [[("a", 1.0), ("b", 1.0)]], &["X"]);
    let tokens = [[("a", 1.0), ("b", 1.0)], [("b", 0.0), ("c", 0.0)]];
    push_sentence(&mut corpus, tokens, &["X", "Y"]);
    let weights = |min_frequency| {
        let mut options = crfsuite();
        options.structure.min_frequency = min_frequency;
        let trainer = Trainer::new(options).unwrap();
        let trained = trainer.train_attributes(&corpus, None, &mut ()).unwrap();
        node_weights(&trained.model)
    };
    for min_frequency in [None, Some(0.0)] {
        let weights = weights(min_frequency);
        assert_eq!((weights[0].1.len(), weights[1].1.len(), weights.len()), (1, 2, 2));
        assert!(weights[1].1[1].1 < 0.0);
    }
    assert_eq!(weights(Some(0.5))[1].1.len(), 1);
    let without = existing_of(&[[("a", 1.0)], [("a", 0.0)]]);
    assert_eq!(without, owned(&[("a", &[0])]));
}

/// Trains on a sentence with the labels X and Y without observing zeros.
fn existing_of(tokens: &[[(&str, f64); 1]; 2]) -> Vec<(String, Vec<u16>)> {
    let mut corpus = AttributeCorpus::new();
    push_sentence(&mut corpus, *tokens, &["X", "Y"]);
    let trainer = Trainer::new(crfsuite()).unwrap();
    let trained = trainer.train_attributes(&corpus, None, &mut ()).unwrap();
    let labels = |weights: Vec<(u16, f64)>| weights.into_iter().map(|w| w.0).collect();
    let nodes = node_weights(&trained.model).into_iter();
    nodes.map(|(name, weights)| (name, labels(weights))).collect()
}

#[derive(Default)]
struct Events {
    weights: usize,
    iterations: Vec<Iteration>,
}

impl Observer for Events {
    fn start(&mut self, start: &Start) {
        self.weights = start.model.weights;
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        self.iterations.push(iteration.clone());
        Ok(ControlFlow::Continue(()))
    }
}

/// Trains on names, holding out every third sentence if `dev` is set.
fn hold_out(options: TrainOptions, dev: bool) -> (Trained, Events) {
    let mut corpus = AttributeCorpus::new();
    for (i, sentence) in (0..).zip(super::corpus(NAMES)) {
        corpus.set_part(i % 3);
        let words: Vec<&str> = (0..sentence.len()).map(|t| sentence.cell(t, 0)).collect();
        let attributes = (0..words.len()).map(|t| {
            let before = t.checked_sub(1).map_or("", |t| words[t]);
            [(format!("w={}", words[t]), 1.0), (format!("p={before}"), 1.0)]
        });
        push_sentence(&mut corpus, attributes, &sentence.labels().unwrap());
    }
    let [rest, held_out] = corpus.split(|part| part == 2);
    let mut events = Events::default();
    let trainer = Trainer::new(options).unwrap();
    let dev = dev.then_some(&held_out);
    let trained = trainer.train_attributes(&rest, dev, &mut events).unwrap();
    (trained, events)
}

#[test]
fn development_data_that_are_only_reported_change_nothing() {
    let options = changed(crfsuite(), |o| {
        o.method.l2 = Some(0.1);
        o.max_iterations = Some(30);
        o.patience = 0;
    });
    let (alone, _) = hold_out(options.clone(), false);
    let (reported, events) = hold_out(options, true);
    assert_eq!(node_weights(&reported.model), node_weights(&alone.model));
    assert_eq!(reported.end.iterations, alone.end.iterations);
    assert_eq!(reported.end.best_iteration, alone.end.best_iteration);
    let labels = reported.model.header().labels.names();
    assert_eq!(labels, ["B-PER", "I-PER", "O", "B-LOC", "I-LOC"]);
    let scores = |iteration: &Iteration| {
        iteration.dev_details.as_ref().unwrap().label_scores.clone().unwrap()
    };
    for scores in events.iterations.iter().map(scores) {
        let sum = |count: fn(&Counts) -> u64| -> u64 {
            scores.labels.iter().map(|(_, counts)| count(counts)).sum()
        };
        assert_eq!((sum(|c| c.gold), sum(|c| c.predicted)), (9, 9));
        assert!(scores.correct_sentences <= 2 && scores.sentences == 2);
    }
    let last = scores(events.iterations.last().unwrap());
    assert!(last.labels[0].1.correct >= 2, "{last:?}");
}

#[test]
fn weights_are_counted_before_collapsing() {
    let counts = |collapse| {
        let options = changed(crfsuite(), |o| {
            o.attributes.collapse = collapse;
            o.method.l1 = 0.5;
            o.max_iterations = Some(6);
        });
        let (trained, events) = hold_out(options, false);
        let last = events.iterations.last().unwrap().clone();
        let nodes: usize = node_weights(&trained.model).iter().map(|row| row.1.len()).sum();
        let pairs = trained.model.header().label_weights.transitions.iter();
        let nonzero = nodes + pairs.filter(|weight| **weight != 0.0).count();
        assert_eq!(last.weights.nonzero_weights, nonzero);
        assert!(last.weights.nonzero_weights < events.weights);
        (events.weights, last.weights.nonzero_weights, last.weights.norm as f32)
    };
    assert_eq!(counts(true), counts(false));
}

#[test]
fn the_minimum_of_plain_lbfgs_is_the_same() {
    let train = |(plain, l1)| {
        let mut options = crfsuite();
        options.method.l1 = l1;
        options.method.optimizer =
            LbfgsOptions { plain, improvement_tolerance: Some(0.0), ..LbfgsOptions::default() };
        hold_out(options, false).1.iterations
    };
    for l1 in [0.0, 0.1] {
        let [other, plain] = [(false, l1), (true, l1)].map(train);
        assert!(other[1].objective != plain[1].objective);
        let [other, plain] = [other, plain].map(|found| found.last().unwrap().objective);
        assert!((other - plain).abs() < 1e-5 * plain, "{other} {plain}");
    }
}
