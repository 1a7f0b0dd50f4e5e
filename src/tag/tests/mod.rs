//! Tagging against the enumeration of all label sequences; workspaces; input errors.

mod bundles;
mod distribution;
mod given;
mod interrupts;
mod text;
mod threshold;
mod workspace;

use std::sync::Arc;

use super::tagger::AttributeFilter;
use super::*;
use crate::chain::Order;
use crate::label::{self, LabelId, Scheme};
use crate::model::tests::{LABELS, NamedWeights, crafted, header, model, small_model};
use crate::model::{Header, Model, Precision, decoding_constraint};
use crate::sentence::{Attributes, Schema, Sentence};
use crate::template::Attribute;
use crate::testing::Chain;

/// NamedWeights that favor illegal sequences (`O I-X`, `I-X` first).
fn nodes() -> NamedWeights {
    vec![
        ("word[0]=a", vec![(0, 0.5), (1, 1.5), (2, 2.25)]),
        ("word[0]=b", vec![(0, 1.5), (1, 0.25), (2, 1.75)]),
        ("word[0]=c", vec![(0, -0.5), (1, 0.125), (2, 0.625)]),
    ]
}

fn edges() -> NamedWeights {
    let weight = |position: u32| f64::from(position * 7 % 5) / 3.0 - 0.5;
    vec![
        ("edge:word[0]=a", (0..9).map(|position| (position, weight(position))).collect()),
        ("edge:word[0]=c", vec![(2, 1.25), (4, -2.0)]),
    ]
}

fn double(template: &str) -> Header {
    header(&LABELS, template, Precision::F64)
}

fn tagger() -> Tagger {
    Tagger::new(model(double("word\nedge: word"), &nodes(), &edges()))
}

/// The scores of `words` under the weights above, from the definition.
fn chain(header: &Header, words: &[&str]) -> Chain {
    let k = LABELS.len();
    let mut chain = Chain::new(words.len(), k, || 0.0).with_edges(|| 0.0);
    let weights = &header.label_weights;
    chain.order = header.order;
    chain.trans = weights.transitions.chunks(k).map(<[f64]>::to_vec).collect();
    chain.start.clone_from(&weights.start);
    chain.end.clone_from(&weights.end);
    for (t, word) in words.iter().enumerate() {
        let weights_of = |all: NamedWeights, prefix: &str| -> Vec<(u32, f64)> {
            let name = format!("{prefix}word[0]={word}");
            let found = all.into_iter().filter(|(other, _)| *other == name);
            found.flat_map(|(_, weights)| weights).collect()
        };
        for (position, weight) in weights_of(nodes(), "") {
            chain.node[t][position as usize] += weight;
        }
        let edge = &mut chain.edge.as_mut().unwrap()[t];
        for (position, weight) in weights_of(edges(), "edge:") {
            edge[position as usize / k][position as usize % k] += weight;
        }
    }
    chain
}

const SENTENCES: [&[&str]; 6] = [
    &["a"],
    &["c", "c"],
    &["a", "b", "c"],
    &["b", "unknown", "a", "c"],
    &["c", "a", "a", "b", "b"],
    &["x", "y", "z"],
];

const EVERYTHING: TagOptions =
    TagOptions { constrain: true, marginals: true, nbest: 5, probability: true };

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} ≠ {expected}");
}

fn tag(tagger: &Tagger, words: &[&str], options: TagOptions) -> Tagging {
    let sentence = Sentence::from_words(words);
    tagger.tag_with(&sentence, options, &mut Workspace::default()).unwrap()
}

#[test]
fn paths_probabilities_and_marginals_are_those_of_the_enumeration() {
    for order in [Order::One, Order::Zero] {
        let header = Header { order, ..double("word\nedge: word") };
        let tagger = Tagger::new(model(header.clone(), &nodes(), &edges()));
        for constrain in [true, false] {
            for words in SENTENCES {
                let options = TagOptions { constrain, ..EVERYTHING };
                let tagging = tag(&tagger, words, options);
                let mut chain = chain(&header, words);
                let free = chain.enumerate();
                let total = free.log_partition();
                if constrain {
                    chain.constraint = decoding_constraint(&header.labels, &Scheme::Iob2.into());
                }
                let best = chain.enumerate().nbest(5);
                assert_close(chain.score(&tagging.labels), best[0].1);
                assert_close(tagging.probability.unwrap(), (best[0].1 - total).exp());
                assert_eq!(tagging.nbest.len(), best.len());
                for (found, (_, score)) in tagging.nbest.iter().zip(&best) {
                    // Paths of equal score may be in another order.
                    assert_close(chain.score(&found.labels), *score);
                    assert_close(found.score, *score);
                    assert_close(found.probability, (score - total).exp());
                }
                let marginals = tagging.marginals.unwrap();
                assert_eq!(marginals.values().len(), words.len() * 3);
                let expected = free.node_marginals();
                for (found, expected) in
                    marginals.rows().zip(expected.chunks(crate::chain::padded(3)))
                {
                    for (found, expected) in found.iter().zip(expected) {
                        assert_close(*found, *expected);
                    }
                }
            }
        }
    }
}

#[test]
fn marginals_of_a_token_sum_to_one() {
    for words in SENTENCES {
        for row in tag(&tagger(), words, EVERYTHING).marginals.unwrap().rows() {
            assert_close(row.iter().sum(), 1.0);
        }
    }
}

#[test]
fn the_n_best_are_distinct_sorted_and_legal() {
    let tagger = tagger();
    let legal = label::SchemeConstraint::new(&tagger.model().header().labels, &Scheme::Iob2.into());
    let k = legal.start.len();
    for words in SENTENCES {
        let options = TagOptions { nbest: 1000, ..EVERYTHING };
        let paths = tag(&tagger, words, options).nbest;
        assert!(paths.windows(2).all(|pair| pair[0].score >= pair[1].score));
        for (i, path) in paths.iter().enumerate() {
            assert!(paths[..i].iter().all(|other| other.labels != path.labels));
            let allowed = |ab: &[LabelId]| legal.allowed[ab[0].index() * k + ab[1].index()];
            assert!(legal.start[path.labels[0].index()]);
            assert!(path.labels.windows(2).all(allowed));
        }
    }
}

#[test]
fn the_constraint_prevents_illegal_sequences() {
    let name = |constrain: bool| -> Vec<String> {
        let tagger = tagger();
        let options = TagOptions { constrain, ..TagOptions::default() };
        let labels = tag(&tagger, &["a"], options).labels;
        labels.into_iter().map(|id| tagger.label(id).to_owned()).collect()
    };
    assert_eq!(name(false), ["I-X"]);
    assert_eq!(name(true), ["B-X"]);
}

#[test]
fn only_what_was_requested_is_computed() {
    let tagging = tag(&tagger(), &["a", "b"], TagOptions::default());
    assert_eq!(tagging.labels.len(), 2);
    assert_eq!((tagging.marginals, tagging.probability), (None, None));
    assert!(tagging.nbest.is_empty());
}

#[test]
fn marginals_and_the_n_best_are_those_of_tagging() {
    let tagger = tagger();
    for words in SENTENCES {
        let sentence = Sentence::from_words(words);
        let tagging = tag(&tagger, words, EVERYTHING);
        assert_eq!(tagger.marginals(&sentence).unwrap(), tagging.marginals.unwrap());
        for n in [5, 2, 1, 0] {
            let paths = tagger.nbest(&sentence, n).unwrap();
            assert_eq!(paths, tagging.nbest[..n.min(tagging.nbest.len())]);
        }
    }
}

/// Keeps attributes of the word `a`.
#[derive(Debug)]
struct OfA;

impl AttributeFilter for OfA {
    fn of(&self, _: &Sentence) -> Box<dyn FnMut(&Attribute<'_>) -> bool> {
        Box::new(|attribute| {
            let mut name = Vec::new();
            attribute.write(&mut name);
            name.ends_with(b"=a")
        })
    }
}

#[test]
fn a_tagger_sees_the_attributes_that_its_filter_keeps() {
    let filtering = tagger().with_attribute_filter(Arc::new(OfA));
    for words in SENTENCES {
        let others_unknown: Vec<&str> =
            (words.iter()).map(|&word| if word == "a" { "a" } else { "unknown" }).collect();
        let expected = tag(&tagger(), &others_unknown, EVERYTHING);
        assert_eq!(tag(&filtering, words, EVERYTHING), expected);
    }
}

#[test]
fn words_are_tagged_with_label_names() {
    assert_eq!(tagger().tag_words(["a"]).unwrap(), ["B-X"]);
    assert!(tagger().tag_words([""; 0]).unwrap().is_empty());
}

#[test]
fn an_empty_sentence_has_one_empty_path() {
    let tagging = tag(&tagger(), &[], EVERYTHING);
    assert!(tagging.labels.is_empty());
    assert!(tagging.marginals.unwrap().values().is_empty());
    assert_eq!(tagging.probability, Some(1.0));
    let path = LabelPath { labels: vec![], score: 0.0, probability: 1.0 };
    assert_eq!(tagging.nbest, [path]);
}

/// A sentence with these columns, with `words` in the column `word`.
fn in_columns(names: &[&str], words: &[&str]) -> Sentence {
    let schema = Schema::new(names.iter().map(|&n| n.to_owned()).collect(), None);
    let mut sentence = Sentence::new(Arc::new(schema.unwrap()), "x.conll");
    for (line, word) in (1..).zip(words) {
        let cells = names.iter().map(|&name| if name == "word" { word } else { "c" });
        sentence.push(cells, line).unwrap();
    }
    sentence
}

/// The error of tagging a sentence whose tokens have these values of an attribute with a very large
/// weight.
fn overflow_error(values: [f64; 2]) -> String {
    let header = Header { template: None, ..double("word") };
    let weights = vec![("size", vec![(0, 1e300)])];
    let tagger = Tagger::new(model(header, &weights, &NamedWeights::new()));
    let mut attributes = Attributes::default();
    for value in values {
        attributes.push("size", value);
        attributes.end_token();
    }
    let mut sentence = in_columns(&["word"], &["a", "b"]);
    sentence.attributes = Some(Box::new(attributes));
    let result = tagger.tag_with(&sentence, EVERYTHING, &mut Workspace::default());
    result.unwrap_err().to_string()
}

const OVERFLOW: &str = "the scores of the labels are not finite; expected smaller attribute \
                        values, or a model with smaller weights";

#[test]
fn scores_that_are_not_finite_are_an_error_at_their_token() {
    for value in [f64::NAN, f64::INFINITY, 1e30] {
        assert_eq!(overflow_error([1.0, value]), format!("x.conll:2: {OVERFLOW}"));
    }
}

#[test]
fn a_path_score_that_overflows_is_an_error() {
    assert_eq!(overflow_error([1.5e8, 1.5e8]), format!("x.conll:1: {OVERFLOW}"));
}

#[test]
fn crafted_models_never_make_tagging_panic() {
    let sentence = Sentence::from_words(["a", "c", "a"]);
    let mut tagged = 0;
    for bytes in crafted(&small_model()) {
        let Ok(model) = Model::from_bytes(bytes) else { continue };
        let result = Tagger::new(model).tag_with(&sentence, EVERYTHING, &mut Workspace::default());
        if let Ok(tagging) = result {
            assert_eq!(tagging.labels.len(), 3);
            tagged += 1;
        }
    }
    assert!(tagged > 100, "only {tagged} crafted models could tag");
}
