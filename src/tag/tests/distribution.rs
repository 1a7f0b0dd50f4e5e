//! Probabilities of given labels and spans, against the enumeration of all label sequences.

use super::*;
use crate::ids::LabelId;
use crate::label::{LabelSet, Span, spans};

/// Calls `visit` with every label sequence.
fn for_each_path(tokens: usize, labels: usize, mut visit: impl FnMut(&[LabelId])) {
    for mut number in 0..labels.pow(tokens as u32) {
        let path: Vec<LabelId> = (0..tokens)
            .map(|_| {
                let label = LabelId((number % labels) as u16);
                number /= labels;
                label
            })
            .collect();
        visit(&path);
    }
}

fn taggers() -> Vec<(Header, Tagger)> {
    let schemes =
        [["O", "B-X", "I-X"], ["I-X", "O", "I-Y"], ["S-X", "E-X", "B-X"], ["B", "I", "O"]];
    let mut taggers = Vec::new();
    for order in [Order::One, Order::Zero] {
        for labels in schemes {
            let labels = LabelSet::try_from(labels.map(str::to_owned).to_vec()).unwrap();
            let header = Header { order, labels, ..double("word\nedge: word") };
            let tagger = Tagger::new(model(header.clone(), &nodes(), &edges()));
            taggers.push((header, tagger));
        }
    }
    taggers
}

#[test]
fn probabilities_of_labels_are_those_of_the_enumeration() {
    for (header, tagger) in taggers() {
        for words in SENTENCES {
            let chain = chain(&header, words);
            let oracle = chain.enumerate();
            let distribution = tagger.distribution(&Sentence::from_words(words)).unwrap();
            assert_eq!(distribution.len(), words.len());
            assert_close(distribution.log_partition(), oracle.log_partition());
            let mut total = 0.0;
            for_each_path(words.len(), 3, |path| {
                let names = tagger.label_names(path);
                let found = distribution.log_probability(&names).unwrap();
                assert_close(found, chain.score(path) - oracle.log_partition());
                total += distribution.probability(&names).unwrap();
            });
            assert_close(total, 1.0);
            let marginals = distribution.marginals();
            for (t, row) in oracle.node_marginals().chunks(crate::chain::padded(3)).enumerate() {
                for (b, label) in header.labels.names().iter().enumerate() {
                    assert_close(distribution.marginal(t, label).unwrap(), row[b]);
                    assert_close(marginals[[t, b]], row[b]);
                }
            }
        }
    }
}

#[test]
fn probabilities_of_spans_are_those_of_the_enumeration() {
    for (header, tagger) in taggers() {
        for words in SENTENCES {
            let distribution = tagger.distribution(&Sentence::from_words(words)).unwrap();
            for kind in ["X", "Y", ""] {
                for start in 0..words.len() {
                    for end in start + 1..=words.len() {
                        let span = Span { start, end, kind };
                        let mut expected = 0.0;
                        for_each_path(words.len(), 3, |path| {
                            let names = tagger.label_names(path);
                            if spans(&names).contains(&span) {
                                expected += distribution.probability(&names).unwrap();
                            }
                        });
                        match distribution.span_probability(&span) {
                            Ok(found) => assert_close(found, expected),
                            Err(_) => assert_eq!(expected, 0.0, "{:?}", header.labels),
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn probabilities_given_a_label_are_those_of_the_paths_that_have_it() {
    for (header, tagger) in taggers() {
        let words = ["a", "b", "a"];
        let sentence = Sentence::from_words(words);
        let all = tagger.distribution(&sentence).unwrap();
        for (t, known) in header.labels.names().iter().enumerate() {
            let condition = Condition::new().label(t, known.as_str());
            let given = tagger.distribution_given(&sentence, &condition).unwrap();
            let has_label = |names: &[&str]| names[t] == known;
            let mut total = 0.0;
            let mut expected: Vec<(Span<'_>, f64)> = Vec::new();
            for_each_path(words.len(), 3, |path| {
                let names = tagger.label_names(path);
                let p = all.probability(&names).unwrap();
                total += p;
                if !has_label(&names) {
                    assert_eq!(given.probability(&names).unwrap(), 0.0);
                    total -= p;
                }
            });
            for_each_path(words.len(), 3, |path| {
                let names = tagger.label_names(path);
                if has_label(&names) {
                    let p = all.probability(&names).unwrap() / total;
                    assert_close(given.probability(&names).unwrap(), p);
                    for Span { start, end, kind } in spans(&names) {
                        let kind = ["X", "Y", ""].into_iter().find(|k| *k == kind).unwrap();
                        let span = Span { start, end, kind };
                        match expected.iter_mut().find(|(other, _)| *other == span) {
                            Some((_, sum)) => *sum += p,
                            None => expected.push((span, p)),
                        }
                    }
                }
            });
            assert_close(given.marginal(t, known).unwrap(), 1.0);
            for (span, p) in expected {
                assert_close(given.span_probability(&span).unwrap(), p);
            }
        }
    }
}

#[test]
fn the_empty_sentence_has_one_label_sequence() {
    let empty: [&str; 0] = [];
    let tagger = tagger();
    let distribution = tagger.distribution(&Sentence::from_words(empty)).unwrap();
    assert!(distribution.is_empty());
    assert_eq!(distribution.probability(&empty).unwrap(), 1.0);
}

#[test]
fn what_does_not_fit_the_sentence_or_the_model_is_named() {
    let tagger = tagger();
    let sentence = Sentence::from_words(["a", "b"]);
    let distribution = tagger.distribution(&sentence).unwrap();
    let labels = |labels: &[&str]| distribution.probability(labels).unwrap_err().to_string();
    let expected = "1 labels for a sentence of 2 tokens; expected one per token";
    assert_eq!(labels(&["O"]), expected);
    assert_eq!(labels(&["O", "Z"]), "the label 'Z' is unknown to the model");
    let error = distribution.marginal(2, "O").unwrap_err().to_string();
    assert_eq!(error, "token 2 of a sentence of 2 tokens, counted from 0");
    let span = |start, end, kind| {
        let span = Span { start, end, kind };
        distribution.span_probability(&span).unwrap_err().to_string()
    };
    let expected = "a span of tokens 1 to 3 (exclusive) in a sentence of 2 tokens";
    assert_eq!(span(1, 3, "X"), expected);
    assert!(span(1, 1, "X").starts_with("a span of tokens 1 to 1"));
    assert_eq!(span(0, 1, "Q"), "a span of type 'Q'; the model has no label for it");
}
