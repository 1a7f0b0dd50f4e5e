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
            1 => {
                let weights = [f64::NAN, f64::INFINITY, f64::MAX, -0.0, 1e-310];
                let weight = mutator.random.choose(&weights).copied().unwrap_or_default();
                let at = 72 + 20 * mutator.random.below(input.len() / 40);
                overwrite(input, at, &weight.to_le_bytes());
            }
            _ => change_number(mutator, input),
        }
    }
    if mutator.random.below(8) > 0 {
        let length = input.len() as u32;
        overwrite(input, LENGTH_AT, &length.to_le_bytes());
    }
}

/// Replaces an integer by one at a limit, one of the file, or its neighbor. Most integers are
/// aligned to four bytes; the tables of hashes, which are mostly zeros, are not read.
fn change_number(mutator: &mut Mutator, input: &mut [u8]) {
    let integer = |at: usize| {
        let bytes = input.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        u32::from_le_bytes(bytes.unwrap_or_default())
    };
    let positions: Vec<usize> =
        (0..input.len()).step_by(4).filter(|&at| integer(at) != 0).collect();
    let Some(&at) = mutator.random.choose(&positions) else {
        return;
    };
    let length = input.len() as u32;
    let any = integer(mutator.random.below(input.len()) & !3);
    let numbers = [
        0,
        1,
        2,
        3,
        length - 4,
        length,
        0x7fff_ffff,
        u32::MAX,
        any,
        integer(at).wrapping_add(1),
        integer(at).wrapping_sub(1),
        integer(at).wrapping_add(4),
    ];
    let number = mutator.random.choose(&numbers).copied().unwrap_or_default();
    overwrite(input, at, &number.to_le_bytes());
}

/// Overwrites bytes from an offset on, as far as there are any.
fn overwrite(input: &mut [u8], at: usize, bytes: &[u8]) {
    for (byte, new) in input.iter_mut().skip(at).zip(bytes) {
        *byte = *new;
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
    let mut target = Target::new("crfsuite-models", &[]);
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
