//! Building data sets.

mod attribute_corpus;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::*;
use crate::error::Result;
use crate::ids::LabelId;
use crate::sentence::{Attributes, Schema, Sentence};
use crate::template::Template;

/// A sentence of one column whose tokens have these attributes.
fn with_attributes(tokens: &[&[(&str, f64)]]) -> Sentence {
    let schema = Schema::new(vec!["label".to_owned()], Some(0)).unwrap();
    let mut sentence = Sentence::new(Arc::new(schema), "x.crfsuite");
    let mut attributes = Attributes::default();
    for (line, token) in (1..).zip(tokens) {
        sentence.push(["A"], line).unwrap();
        for (name, value) in *token {
            attributes.push(name, *value);
        }
        attributes.end_token();
    }
    sentence.attributes = Some(Box::new(attributes));
    sentence
}

/// Adds a labeled sentence to a corpus of attributes.
pub fn push_sentence<A: IntoIterator<Item = (N, f64)>, N: AsRef<str>>(
    corpus: &mut AttributeCorpus,
    tokens: impl IntoIterator<Item = A>,
    labels: &[&str],
) {
    let sentence = Sentence::from_attributes(tokens).unwrap();
    corpus.push(&sentence.with_labels(labels).unwrap()).unwrap();
}

fn from_input() -> AttributeSource {
    AttributeSource::bind(None, &Schema::words()).unwrap()
}

fn from_template(template: &str) -> AttributeSource {
    let template = Template::parse(template, "t.tpl", &mut |_| unreachable!()).unwrap();
    AttributeSource::bind(Some(&template), &Schema::words()).unwrap()
}

fn add(builder: &mut DatasetBuilder, sentence: &Sentence) -> Result<()> {
    builder.add(sentence, &vec![LabelId(0); sentence.len()])
}

fn error_message(sentence: &Sentence) -> String {
    let mut builder = DatasetBuilder::extending(from_input(), Alphabets::default(), true);
    add(&mut builder, sentence).unwrap_err().to_string()
}

fn rows(matrix: &SparseRows) -> Vec<Vec<(u32, f64)>> {
    (0..matrix.len()).map(|row| matrix.entries(row).collect()).collect()
}

#[test]
fn input_attributes_keep_their_values_and_duplicates_are_summed() {
    let mut builder = DatasetBuilder::extending(from_input(), Alphabets::default(), true);
    let sentence = with_attributes(&[&[("a", 1.0), ("b", 0.5)], &[("b", 2.0), ("b", 1.0)]]);
    add(&mut builder, &sentence).unwrap();
    add(&mut builder, &with_attributes(&[&[("c", 0.0), ("a", 1.0)]])).unwrap();
    let (data, alphabets) = builder.finish();
    assert_eq!((data.len(), data.tokens()), (2, 3));
    assert_eq!(data.sentence(1), 2..3);
    assert_eq!(rows(&data.nodes), [vec![(0, 1.0), (1, 0.5)], vec![(1, 3.0)], vec![(0, 1.0)]]);
    assert_eq!(alphabets.nodes.len(), 2, "attributes of value 0 are dropped");
    assert_eq!(alphabets.nodes.get(b"b").map(|id| id.0), Some(1));
}

#[test]
fn the_first_token_of_a_sentence_has_no_edge_attributes() {
    let mut builder =
        DatasetBuilder::extending(from_template("word\nedge: word"), Alphabets::default(), true);
    for words in [["a", "b"], ["c", "b"]] {
        add(&mut builder, &Sentence::from_words(words)).unwrap();
    }
    let (data, alphabets) = builder.finish();
    assert_eq!(alphabets.edges.name(crate::ids::AttributeId(0)), b"edge:word[0]=b");
    assert_eq!(alphabets.edges.len(), 1);
    let edge = vec![(0, 1.0)];
    assert_eq!(rows(&data.edges), [vec![], edge.clone(), vec![], edge]);
}

#[test]
fn without_edges_there_are_no_edge_attributes() {
    let mut builder =
        DatasetBuilder::extending(from_template("word\nedge: word"), Alphabets::default(), false);
    add(&mut builder, &Sentence::from_words(["a", "b"])).unwrap();
    let (data, alphabets) = builder.finish();
    assert!(alphabets.edges.is_empty());
    assert_eq!((data.edges.len(), data.edges.nonzeros()), (2, 0));
}

#[test]
fn with_fixed_alphabets_unknown_attributes_are_dropped() {
    let mut builder = DatasetBuilder::extending(from_input(), Alphabets::default(), true);
    add(&mut builder, &with_attributes(&[&[("a", 1.0)]])).unwrap();
    let (_, alphabets) = builder.finish();
    let mut builder = DatasetBuilder::with_alphabets(from_input(), alphabets, true);
    let sentence = with_attributes(&[&[("b", 1.0), ("a", 2.0)]]);
    builder.add(&sentence, &[]).unwrap();
    let (data, alphabets) = builder.finish();
    assert_eq!(rows(&data.nodes), [vec![(0, 2.0)]]);
    assert_eq!(alphabets.nodes.len(), 1);
    assert!(data.labels.is_empty());
}

#[test]
fn a_value_out_of_range_is_an_error_at_its_token() {
    for (value, written) in
        [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (-2e30, "-2000000000000000000000000000000")]
    {
        let sentence = with_attributes(&[&[("a", 1.0)], &[("b", value)]]);
        assert_eq!(
            error_message(&sentence),
            format!(
                "x.crfsuite:2: attribute 'b' has the value {written}; expected a number of at most \
                 1e30"
            )
        );
    }
}

#[test]
fn attributes_for_another_number_of_tokens_are_an_error() {
    let mut sentence = with_attributes(&[&[("a", 1.0)]]);
    sentence.push(["B"], 2).unwrap();
    assert_eq!(
        error_message(&sentence),
        "x.crfsuite:1: found attributes for 1 tokens; expected them for all 2 of the sentence"
    );
}

#[test]
fn a_sentence_without_attributes_needs_a_template() {
    assert_eq!(
        error_message(&Sentence::from_words(["a"])),
        "-:1: found columns; expected pre-extracted attributes (CRFsuite's format), because \
         there is no template"
    );
}

#[test]
#[should_panic(expected = "1 labels for 2 tokens")]
fn labels_for_some_tokens_only_are_rejected() {
    let mut builder = DatasetBuilder::extending(from_template("word"), Alphabets::default(), true);
    let _ = builder.add(&Sentence::from_words(["a", "b"]), &[LabelId(0)]);
}

#[test]
fn the_hash_depends_on_weights_and_sets_of_labels() {
    let hash = |weight: f64, labels: &[u16]| {
        let mut builder =
            DatasetBuilder::extending(from_template("word"), Alphabets::default(), true);
        let sentence = Sentence::from_words(["a"]).with_weight(weight).unwrap();
        let labels = labels.iter().copied().map(LabelId).collect();
        builder.add_partial(&sentence, &[labels]).unwrap();
        let (data, _) = builder.finish();
        let mut hasher = std::hash::DefaultHasher::new();
        data.hash(&mut hasher);
        hasher.finish()
    };
    let hashes = [
        hash(1.0, &[0]),
        hash(2.0, &[0]),
        hash(3.0, &[0]),
        hash(1.0, &[0, 1]),
        hash(1.0, &[0, 2]),
        hash(1.0, &[]),
    ];
    for (i, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..i].contains(hash), "{i}");
    }
    assert_eq!(hash(1.0, &[0]), hashes[0]);
}

#[test]
fn minimum_counts_weigh_tokens_and_every_attribute_counts_once_at_least() {
    let attributes = |min_count: u32, weight: f64| {
        let mut builder =
            DatasetBuilder::extending(from_template("word"), Alphabets::default(), true);
        for words in [["a", "b"], ["a", "c"]] {
            let sentence = Sentence::from_words(words).with_weight(weight).unwrap();
            add(&mut builder, &sentence).unwrap();
        }
        let (data, alphabets) = builder.finish();
        let counts = data.column_counts(&data.nodes, alphabets.nodes.len(), 0..data.len());
        counts.iter().filter(|count| count.is_at_least(min_count)).count()
    };
    assert_eq!((attributes(1, 0.0), attributes(1, 0.25)), (3, 3));
    assert_eq!((attributes(2, 1.0), attributes(2, 2.0)), (1, 3));
    assert_eq!((attributes(2, 0.5), attributes(2, 0.0)), (0, 0));
}
