//! Model files of CRFsuite, which have no checksums.

use dropchain::Sentence;
use dropchain::model::{AttributeKind, Model};
use dropchain::tag::Tagger;

use super::models::tag;
use crate::harness::Target;
use crate::mutate::Mutator;

/// Offset of the length of a file in its header.
const LENGTH_AT: usize = 4;

/// Changes a few integers or weights, sometimes bytes of any kind, and mostly corrects the length
/// of the file, without which nothing else is read.
fn mutate(mutator: &mut Mutator, input: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..1 << mutator.random.below(3) {
        match mutator.random.below(8) {
            0 => mutator.mutate(input, other),
            _ => mutator.change_number(input),
        }
    }
    let length = (input.len() as u32).to_le_bytes();
    if mutator.random.below(8) > 0 && input.len() >= LENGTH_AT + length.len() {
        input[LENGTH_AT..LENGTH_AT + length.len()].copy_from_slice(&length);
    }
}

/// A sentence of some attributes of a model, with values.
fn sentence(model: &Model) -> Sentence {
    let known = model.attributes(AttributeKind::Node).min(30);
    let names = (0..known).map(|i| model.attribute_name(AttributeKind::Node, i).unwrap());
    let texts = names.filter_map(|name| std::str::from_utf8(name).ok());
    let texts = texts.filter(|name| !name.is_empty());
    let tokens = texts.map(|name| [(name, 0.5), ("unknown", 1.0)]);
    Sentence::from_attributes(tokens).unwrap()
}

#[test]
fn a_model_of_crfsuite_is_an_error_or_a_model_like_any_other() {
    let genuine = include_bytes!("../../../../../tests/data/models/crfsuite.model");
    let mut target = Target::new("crfsuite-models", "");
    target.seeds.push(genuine.to_vec());
    target.mutate = Some(&mutate);
    target.run(|input| {
        let Ok(model) = dropchain_crfsuite::from_bytes(input.to_vec()) else {
            assert!(input != genuine);
            return;
        };
        model.verify().unwrap();
        let header = model.header();
        let weights = &header.label_weights.transitions;
        assert_eq!(weights.len(), header.labels.len() * header.labels.len());
        // It could be saved, and is the same when it is opened again.
        let copy = Model::from_bytes(model.as_bytes().to_vec()).unwrap();
        assert_eq!(copy.fingerprint().unwrap(), model.fingerprint().unwrap());
        let weights = model.node_weights().map(Result::unwrap);
        assert!(weights.flat_map(|(_, row)| row).all(|(_, w)| w.is_finite() && w != 0.0));
        let sentence = sentence(&model);
        tag(&Tagger::new(model), &sentence, input == genuine);
    });
}
