//! Building and reading models.

mod damage;
#[cfg(feature = "train")]
mod save;

pub(crate) use damage::crafted;

use super::columns::LabelSource;
use super::*;
use crate::chain::LabelWeights;
use crate::chain::Order;
use crate::label::{LabelSet, Scheme};
use crate::template::Template;

/// Attributes of one kind, with their weights by position.
pub(crate) type NamedWeights = Vec<(&'static str, Vec<(u32, f64)>)>;

/// A header for `labels` in IOB2, with distinct transition weights.
pub(crate) fn header(labels: &[&str], template: &str, precision: Precision) -> Header {
    let template = Template::parse(template, "t.tpl", &mut |_| unreachable!());
    let k = labels.len();
    let number = |i: usize| (0.7 * i as f64).sin();
    Header {
        labels: LabelSet::try_from(Vec::from_iter(labels.iter().map(|&l| l.to_owned()))).unwrap(),
        labeling: Scheme::Iob2.into(),
        corpus_labeling: Scheme::Iob2.into(),
        columns: CorpusColumns {
            names: vec!["word".to_owned(), "ner".to_owned()],
            label: LabelSource::Column(1),
            ..CorpusColumns::default()
        },
        template: Some(template.unwrap()),
        order: Order::One,
        label_weights: LabelWeights {
            transitions: (0..k * k).map(number).collect(),
            start: (k..2 * k).map(number).collect(),
            end: (2 * k..3 * k).map(number).collect(),
        },
        precision,
        provenance: Provenance {
            version: "1.2.3".to_owned(),
            date: None,
            files: vec![FileRecord {
                role: FileRole::Train,
                name: "a.conll".to_owned(),
                bytes: Some(3),
                sentences: Some(7),
                xxh3: "0".to_owned(),
            }],
            sentences: 7,
            tokens: 77,
            options: "{}".to_owned(),
        },
        tables: Default::default(),
    }
}

/// A model with these weights.
pub(crate) fn model(header: Header, nodes: &NamedWeights, edges: &NamedWeights) -> Model {
    let (k, precision) = (header.labels.len(), header.precision);
    let fill = |mut table: TableBuilder, weights: &NamedWeights| {
        for (name, weights) in weights {
            let pushed = table.push(name.as_bytes(), weights.iter().copied());
            pushed.unwrap();
        }
        table
    };
    let nodes = fill(TableBuilder::new(AttributeKind::Node, k, precision), nodes);
    let edges = fill(TableBuilder::new(AttributeKind::Edge, k, precision), edges);
    Model::build(header, [nodes, edges]).unwrap()
}

pub(crate) const LABELS: [&str; 3] = ["O", "B-X", "I-X"];

/// Most attributes have weights for all labels.
fn dense_nodes() -> NamedWeights {
    vec![
        ("word[0]=a", vec![(0, 0.1), (1, -0.2), (2, 1e-3)]),
        ("word[0]=b", vec![(0, 1.5), (1, 2.5), (2, -3.5)]),
        ("word[0]=ü", vec![(1, 1.0 / 3.0), (2, -0.75)]),
        ("", vec![(0, 7.0), (2, 8.0)]),
    ]
}

/// Few attributes have weights for more than one label.
fn sparse_nodes() -> NamedWeights {
    vec![
        ("word[0]=a", vec![(0, 0.1)]),
        ("word[0]=b", vec![(2, -3.5)]),
        ("word[0]=ü", vec![(1, 1.0 / 3.0)]),
    ]
}

fn dense_edges() -> NamedWeights {
    let all =
        |factor: f64| (0..9).map(move |position| (position, factor * f64::from(position + 1)));
    vec![("edge:word[0]=a", all(0.1).collect()), ("edge:word[0]=c", all(-0.7).collect())]
}

fn sparse_edges() -> NamedWeights {
    vec![("edge:word[0]=a", vec![(1, 0.1), (8, 0.9)]), ("edge:word[0]=c", vec![(5, -0.7)])]
}

pub(crate) const PRECISIONS: [Precision; 3] = [Precision::F64, Precision::F32, Precision::F16];

/// A small model with tables of both kinds.
pub(crate) fn small_model() -> Model {
    let header = header(&LABELS, "word\nedge: word", Precision::F32);
    model(header, &dense_nodes(), &sparse_edges())
}

/// The weights of an attribute by position, if the model has it.
fn weights(model: &Model, kind: AttributeKind, name: &str) -> Option<Vec<f64>> {
    let k = model.header().labels.len();
    let mut scores = vec![0.0; if kind == AttributeKind::Node { k } else { k * k }];
    model.add_scores(kind, name.as_bytes(), 1.0, k, &mut scores).unwrap().then_some(scores)
}

#[track_caller]
fn assert_holds(model: &Model, kind: AttributeKind, expected: &NamedWeights) {
    assert_eq!(model.attributes(kind), expected.len());
    for (i, (name, entries)) in expected.iter().enumerate() {
        let found = weights(model, kind, name).expect("the attribute is known");
        let mut stored = vec![0.0; found.len()];
        let precision = model.header().precision;
        for &(position, weight) in entries {
            stored[position as usize] = precision.round(weight);
        }
        assert_eq!(found, stored, "{name}");
        assert_eq!(model.attribute_name(kind, i).unwrap(), name.as_bytes());
    }
}

#[test]
fn every_weight_is_read_back_in_all_precisions_and_encodings() {
    for precision in PRECISIONS {
        // 10 of 12 weights of nodes are not 0: with 8 bytes each, the sparse encoding is smaller.
        let dense = if precision == Precision::F64 { 10 } else { 12 };
        for (nodes, edges, stored) in [
            (dense_nodes(), dense_edges(), [dense, 18]),
            (sparse_nodes(), sparse_edges(), [3, 3]),
            (sparse_nodes(), NamedWeights::new(), [3, 0]),
            (NamedWeights::new(), dense_edges(), [0, 18]),
        ] {
            let model = model(header(&LABELS, "word", precision), &nodes, &edges);
            let found = [AttributeKind::Node, AttributeKind::Edge].map(|kind| model.weights(kind));
            assert_eq!(found, stored);
            assert_holds(&model, AttributeKind::Node, &nodes);
            assert_holds(&model, AttributeKind::Edge, &edges);
            model.verify().unwrap();
        }
    }
}

#[test]
fn unknown_attributes_are_unknown() {
    let model = small_model();
    for name in ["word[0]=c", "word[0]=", "w", "edge:word[0]=a"] {
        assert_eq!(weights(&model, AttributeKind::Node, name), None, "{name}");
    }
    assert_eq!(weights(&model, AttributeKind::Edge, "word[0]=a"), None);
}

#[test]
fn many_attributes_are_all_found() {
    let mut table = TableBuilder::new(AttributeKind::Node, 3, Precision::F64);
    for i in 0..2000 {
        let weights = [(i % 3, f64::from(i + 1))];
        table.push(format!("a{i}").as_bytes(), weights).unwrap();
    }
    let edges = TableBuilder::new(AttributeKind::Edge, 3, Precision::F64);
    let model = Model::build(header(&LABELS, "word", Precision::F64), [table, edges]).unwrap();
    for i in 0..2000 {
        let found = weights(&model, AttributeKind::Node, &format!("a{i}")).unwrap();
        assert_eq!(found[i % 3], (i + 1) as f64);
    }
    assert_eq!(weights(&model, AttributeKind::Node, "a2000"), None);
}

#[test]
fn weights_are_scaled_by_the_value_and_strided() {
    let model = small_model();
    let mut nodes = [1.0; 8];
    let name = b"word[0]=b";
    assert!(model.add_scores(AttributeKind::Node, name, 2.0, 8, &mut nodes).unwrap());
    assert_eq!(nodes, [4.0, 6.0, -6.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let mut edges = [0.0; 24];
    let name = b"edge:word[0]=c";
    model.add_scores(AttributeKind::Edge, name, -1.0, 8, &mut edges).unwrap();
    let mut expected = [0.0; 24];
    expected[8 + 2] = f64::from(0.7_f32);
    assert_eq!(edges, expected);
}

#[test]
fn zero_weights_and_attributes_without_others_are_not_stored() {
    let nodes = vec![
        ("none", vec![]),
        ("zero", vec![(0, 0.0), (1, -0.0)]),
        ("tiny", vec![(0, 1e-60)]),
        ("some", vec![(0, 0.0), (1, 2.0)]),
    ];
    let single = model(header(&LABELS, "word", Precision::F32), &nodes, &NamedWeights::new());
    assert_eq!(single.attributes(AttributeKind::Node), 1);
    assert_eq!(single.weights(AttributeKind::Node), 1);
    assert_eq!(weights(&single, AttributeKind::Node, "some"), Some(vec![0.0, 2.0, 0.0]));
    assert_eq!(weights(&single, AttributeKind::Node, "tiny"), None);
    let double = model(header(&LABELS, "word", Precision::F64), &nodes, &NamedWeights::new());
    assert_eq!(weights(&double, AttributeKind::Node, "tiny"), Some(vec![1e-60, 0.0, 0.0]));
}

#[test]
fn a_weight_that_overflows_its_precision_is_an_error() {
    let mut table = TableBuilder::new(AttributeKind::Node, 3, Precision::F32);
    let error = table.push(b"word[0]=a", [(0, 1e39)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "attribute 'word[0]=a' has the weight 1e39, too large to be stored; use a stronger penalty \
         or larger attribute values"
    );
    let mut table = TableBuilder::new(AttributeKind::Node, 3, Precision::F64);
    assert!(table.push(b"word[0]=a", [(0, 1e39)]).is_ok());
    assert!(table.push(b"word[0]=b", [(0, f64::NAN)]).is_err());
}

#[test]
fn the_header_is_read_back() {
    let before = header(&LABELS, "word\nsuffix(2)", Precision::F64);
    let model = model(before.clone(), &dense_nodes(), &sparse_edges());
    let after = Model::from_bytes(model.as_bytes().to_vec()).unwrap();
    let after = after.header();
    assert_eq!(after.labels, before.labels);
    assert_eq!(after.labeling, Scheme::Iob2);
    assert_eq!(after.corpus_labeling, Scheme::Iob2);
    assert_eq!(after.columns, before.columns);
    assert_eq!(after.columns.label_name(), Some("ner"));
    let source = |header: &Header| header.template.as_ref().unwrap().source().to_owned();
    assert_eq!(source(after), source(&before));
    assert_eq!(after.order, Order::One);
    assert_eq!(after.label_weights, before.label_weights);
    assert_eq!(after.precision, Precision::F64);
    assert_eq!(after.provenance, before.provenance);
}

#[test]
fn transitions_that_are_all_0_are_not_stored() {
    let size = |transitions: f64| {
        let mut header = header(&LABELS, "word", Precision::F32);
        header.label_weights.transitions = vec![transitions; 9];
        let model = model(header, &dense_nodes(), &sparse_edges());
        let read = Model::from_bytes(model.as_bytes().to_vec()).unwrap();
        assert_eq!(read.header().label_weights.transitions, [transitions; 9]);
        model.as_bytes().len()
    };
    assert_eq!(size(0.5) - size(0.0), 9 * 8);
}

#[test]
fn a_name_beyond_the_last_is_an_error() {
    let error = small_model().attribute_name(AttributeKind::Node, 4).unwrap_err();
    assert_eq!(error.to_string(), "attribute 4 does not exist: there are 4");
}

#[test]
#[should_panic(expected = "scores are [1 or K][stride]")]
fn scores_of_another_shape_are_rejected() {
    let _ = small_model().add_scores(AttributeKind::Edge, b"edge:word[0]=a", 1.0, 3, &mut [0.0; 3]);
}

#[test]
fn a_configuration_is_recorded_and_changes_nothing_else() {
    let model = small_model();
    let (bytes, fingerprint) = (model.as_bytes().to_owned(), model.fingerprint().unwrap());
    assert_eq!(model.header().provenance.config(), None);
    let options = model.header().provenance.training_options();
    let config = serde_json::json!({"command": "train", "options": {"l2": 0.1}});
    let recorded = model.with_config(&config).unwrap();
    recorded.verify().unwrap();
    assert_eq!(recorded.fingerprint().unwrap(), fingerprint);
    let provenance = &recorded.header().provenance;
    assert_eq!(provenance.config(), Some(config));
    assert_eq!(provenance.training_options(), options);
    assert_holds(&recorded, AttributeKind::Node, &dense_nodes());
    assert_holds(&recorded, AttributeKind::Edge, &sparse_edges());
    // The last one counts.
    let again = recorded.with_config(&serde_json::Value::Null).unwrap();
    assert_eq!(again.header().provenance.config(), Some(serde_json::Value::Null));
    assert!(again.as_bytes().len() > bytes.len());
}
