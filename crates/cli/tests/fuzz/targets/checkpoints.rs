//! Checkpoints of training with a valid checksum but hostile contents.

use std::fs;

use dropchain::train::{CheckpointInterval, Checkpoints, Lbfgs, Trained};
use dropchain::{Corpus, MemoryLimit, Result, Sentence, Template, TrainOptions, Trainer};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use crate::harness::Target;
use crate::mutate::Mutator;

/// Length of the magic bytes and the version, which precede the contents.
const PREAMBLE: usize = 16;

/// Training with L-BFGS and dropout, with OWL-QN, or in two passes.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Dropout,
    L1,
    TwoPasses,
}

const KINDS: [Kind; 3] = [Kind::Dropout, Kind::L1, Kind::TwoPasses];

/// Trains until an iteration.
fn train(kind: Kind, iterations: usize, checkpoints: Option<Checkpoints>) -> Result<Trained> {
    let rows =
        [("Ann Lee left Rome", "B-PER I-PER O B-LOC"), ("York met Bob .", "B-LOC O B-PER O")];
    let corpus: Result<Corpus> = rows
        .map(|(words, labels)| {
            Sentence::from_words(words.split(' ')).with_labels(labels.split(' '))
        })
        .into_iter()
        .collect();
    let options = TrainOptions {
        max_iterations: Some(iterations),
        ..TrainOptions::new(Lbfgs {
            l1: if kind == Kind::L1 { 0.05 } else { 0.0 },
            warm_up: Some(1),
            ..Lbfgs::default()
        })
    };
    let mut trainer = Trainer::new(options)?.memory(MemoryLimit::Bytes(1 << 30));
    if let Some(checkpoints) = checkpoints {
        trainer = trainer.checkpoints(checkpoints);
    }
    let template: Template = match kind {
        Kind::TwoPasses => "word\nshape\npredicted\n".parse()?,
        _ => "word\nshape\n".parse()?,
    };
    trainer.train(corpus?, template, &mut ())
}

/// The checkpoint after some iterations, of the second pass if there are two.
fn checkpoint(dir: &TempDir, kind: Kind) -> Vec<u8> {
    let path = dir.path().join("checkpoint");
    let every = Checkpoints::new(&path).every(CheckpointInterval::Iterations(1));
    // Two passes resume with the same options only.
    let iterations = if kind == Kind::TwoPasses { 8 } else { 4 };
    train(kind, iterations, Some(every)).unwrap();
    fs::read(path).unwrap()
}

/// Resumes training from a checkpoint with these contents.
fn resume(dir: &TempDir, kind: Kind, bytes: &[u8]) -> Result<Trained> {
    let path = dir.path().join("resumed");
    fs::write(&path, bytes).unwrap();
    train(kind, 8, Some(Checkpoints::new(path).resume()))
}

/// Changes the contents and recomputes the checksum.
fn reseal(mutator: &mut Mutator, input: &mut Vec<u8>, other: &[u8]) {
    let end = input.len().saturating_sub(8);
    let Some(contents) = input.get(PREAMBLE..end) else { return };
    let mut contents = contents.to_vec();
    mutator.mutate(&mut contents, other);
    input.truncate(PREAMBLE);
    input.append(&mut contents);
    let sum = xxh3_64(input).to_le_bytes();
    input.extend_from_slice(&sum);
}

#[test]
fn a_hostile_checkpoint_with_a_valid_checksum_is_an_error_or_yields_a_model() {
    let dir = TempDir::new().unwrap();
    for kind in KINDS {
        let mut target = Target::new("sealed-checkpoints", "");
        target.seeds.push(checkpoint(&dir, kind));
        target.mutate = Some(&reseal);
        target.run(|input| {
            if let Ok(resumed) = resume(&dir, kind, input) {
                assert!(resumed.model.verify().is_ok());
            }
        });
    }
}
