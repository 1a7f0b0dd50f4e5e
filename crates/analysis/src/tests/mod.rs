//! Analyses of small models.

mod bootstrap;
mod damage;
mod explanation;
mod predictions;

use dropchain::kernel::chain::{Order, padded};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::model::LabelSource;
use dropchain::label::{LabelSet, Scheme};
use dropchain::model::{EdgeWeights, Header, NodeWeights, Precision};
use dropchain::tag::{Condition, TagOptions, Tagging, Workspace};
use dropchain::{Model, Sentence, Tagger, Template};
use dropchain_numerics::testing::{Chain, Oracle};

use super::*;

const LABELS: [&str; 3] = ["O", "B-X", "I-X"];

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

/// A header in IOB2 with distinct weights of labels.
fn header() -> Header {
    let labels = LabelSet::try_from(LABELS.map(str::to_owned).to_vec()).unwrap();
    let mut header = Header::new(labels);
    let numbers = |range: std::ops::Range<i32>| range.map(|i| (0.7 * f64::from(i)).sin()).collect();
    header.label_weights.transitions = numbers(0..9);
    header.label_weights.start = numbers(3..6);
    header.label_weights.end = numbers(6..9);
    (header.labeling, header.corpus_labeling) = (Scheme::Iob2.into(), Scheme::Iob2.into());
    header.columns.names = vec!["word".to_owned(), "ner".to_owned()];
    header.columns.label = LabelSource::Column(1);
    header.precision = Precision::F64;
    let template: Template = "word\nedge: word".parse().unwrap();
    header.template = Some(template);
    header
}

/// Weights that favor illegal sequences (`O I-X`, `I-X` first).
fn nodes() -> Vec<NodeWeights<&'static str>> {
    let row = |weights: [f64; 3]| (0..3).map(LabelId).zip(weights).collect();
    vec![
        ("word[0]=a", row([0.5, 1.5, 2.25])),
        ("word[0]=b", row([1.5, 0.25, 1.75])),
        ("word[0]=c", row([-0.5, 0.125, 0.625])),
    ]
}

fn edges() -> Vec<EdgeWeights<&'static str>> {
    let pair = |position: u16| [LabelId(position / 3), LabelId(position % 3)];
    let weight = |position: u16| f64::from(position * 7 % 5) / 3.0 - 0.5;
    let all = (0..9).map(|position| (pair(position), weight(position)));
    vec![
        ("edge:word[0]=a", all.collect()),
        ("edge:word[0]=c", vec![(pair(2), 1.25), (pair(4), -2.0)]),
    ]
}

fn tagger_of(header: Header) -> Tagger {
    Tagger::new(Model::from_weights(header, nodes(), edges()).unwrap())
}

fn tagger() -> Tagger {
    tagger_of(header())
}

fn tag(tagger: &Tagger, words: &[&str], options: TagOptions) -> Tagging {
    let sentence = Sentence::from_words(words);
    let tagging = tagger.tag_with(&sentence, options, &mut Workspace::default());
    tagging.unwrap()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} ≠ {expected}");
}

/// Enumerates the label sequences of a sentence, if `constrain` only the legal ones.
fn enumerated(tagger: &Tagger, sentence: &Sentence, constrain: bool) -> Oracle {
    let workspace = &mut Workspace::default();
    let options = TagOptions::default();
    let scores = tagger.scores_given(sentence, &Condition::new(), options, workspace).unwrap();
    let (k, stride, header) = (LABELS.len(), padded(LABELS.len()), tagger.model().header());
    let rows = |scores: &[f64]| scores.chunks(stride).map(|row| row[..k].to_vec()).collect();
    let mut chain = Chain::new(sentence.len(), k, || 0.0);
    chain.order = header.order;
    chain.trans = header.label_weights.transitions.chunks(k).map(<[f64]>::to_vec).collect();
    chain.start.clone_from(&header.label_weights.start);
    chain.end.clone_from(&header.label_weights.end);
    chain.node = rows(&scores.nodes);
    let edges = scores.edges.chunks(k * stride);
    chain.edge = (!scores.edges.is_empty()).then(|| edges.map(rows).collect());
    chain.constraint = tagger.constraint().filter(|_| constrain).cloned();
    chain.enumerate()
}

#[test]
fn uncertainty_is_that_of_the_enumeration() {
    for order in [Order::One, Order::Zero] {
        let tagger = tagger_of(Header { order, ..header() });
        for words in SENTENCES {
            let sentence = Sentence::from_words(words);
            let paths = enumerated(&tagger, &sentence, false);
            let total = paths.log_partition();
            let probability = (paths.nbest(1)[0].1 - total).exp();
            let expected = 1.0 - probability.powf(1.0 / words.len() as f64);
            let found = uncertainty(&tagger, &sentence, &mut Workspace::default()).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
