//! Analyses of small models.

mod bootstrap;
mod damage;
mod explanation;
mod predictions;

use dropchain::kernel::chain::{Order, score};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::model::LabelSource;
use dropchain::label::{LabelSet, Scheme};
use dropchain::model::{EdgeWeights, Header, NodeWeights, Precision};
use dropchain::tag::{Condition, TagOptions, Tagging, Workspace};
use dropchain::{Model, Sentence, Tagger, Template};

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

/// Label sequences of a sentence with their scores.
struct Paths(Vec<(Vec<LabelId>, f64)>);

impl Paths {
    /// Enumerates the sequences of a sentence, if `constrain` only the legal ones.
    fn of(tagger: &Tagger, sentence: &Sentence, constrain: bool) -> Self {
        let workspace = &mut Workspace::default();
        let options = TagOptions::default();
        let scores = tagger.scores_given(sentence, &Condition::new(), options, workspace);
        let scores = scores.unwrap();
        let mut paths = vec![Vec::new()];
        for _ in 0..sentence.len() {
            let longer = |path: Vec<LabelId>| {
                (0..LABELS.len()).map(move |b| [&path[..], &[LabelId(b as u16)]].concat())
            };
            paths = paths.into_iter().flat_map(longer).collect();
        }
        let legal = tagger.constraint().filter(|_| constrain);
        let is_legal = |path: &Vec<LabelId>| {
            let index = |label: Option<&LabelId>| label.unwrap().index();
            let pairs = |c: &dropchain::kernel::chain::Constraint| {
                let mut pairs = path.windows(2);
                pairs.all(|ab| c.allows(ab[0].index(), ab[1].index()))
            };
            legal.is_none_or(|c| {
                c.allows_start(index(path.first())) && c.allows_end(index(path.last())) && pairs(c)
            })
        };
        let paths = paths.into_iter().filter(is_legal).map(|path| {
            let sum = score(tagger.transitions(), scores.scores(), &path);
            (path, sum)
        });
        Self(paths.collect())
    }

    /// Keeps the sequences for which something holds.
    fn given(self, holds: impl Fn(&[LabelId]) -> bool) -> Self {
        Self(self.0.into_iter().filter(|(path, _)| holds(path)).collect())
    }

    fn best(&self) -> &(Vec<LabelId>, f64) {
        // Of equal scores the first, as in decoding.
        let best = self.0.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        best.unwrap()
    }

    fn log_partition(&self) -> f64 {
        let sum: f64 = self.0.iter().map(|(_, score)| score.exp()).sum();
        sum.ln()
    }
}

#[test]
fn uncertainty_is_that_of_the_enumeration() {
    for order in [Order::One, Order::Zero] {
        let tagger = tagger_of(Header { order, ..header() });
        for words in SENTENCES {
            let sentence = Sentence::from_words(words);
            let paths = Paths::of(&tagger, &sentence, false);
            let total = paths.log_partition();
            let probability = (paths.best().1 - total).exp();
            let expected = 1.0 - probability.powf(1.0 / words.len() as f64);
            let found = uncertainty(&tagger, &sentence, &mut Workspace::default()).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
