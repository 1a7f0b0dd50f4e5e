//! Training with attributes in files gives the model of training in memory.

use std::path::Path;

use super::*;
use crate::Corpus;
use crate::corpus::ReadOptions;
use crate::error::Error;
use crate::label::Scheme;
use crate::noise::Engine;
use crate::train::spill::SpillOptions;

/// Some parts per corpus.
const PART: usize = 50_000;

fn in_parts(
    trainer: &Trainer<'_>,
    corpora: &TrainingCorpora,
    source: &str,
    directory: &Path,
) -> Result<Trained> {
    let streamed = StreamedCorpora {
        labeled: &corpora.labeled,
        dev: corpora.dev.as_ref(),
        unlabeled: Some(&corpora.unlabeled),
    };
    let spill = SpillOptions {
        directory,
        part: PART,
    };
    trainer.train_in_parts(streamed, Some(template(source)), spill, &mut ())
}

/// Labeled sentences, some with weights, and others.
fn corpora() -> TrainingCorpora {
    let weights = [1.0, 0.3, 2.0].into_iter().cycle();
    let labeled = synthetic_sentences(3_000, 1).into_iter().zip(weights);
    let labeled = labeled.map(|(sentence, weight)| sentence.with_weight(weight).unwrap());
    TrainingCorpora::new(labeled.collect::<Vec<_>>())
        .dev(synthetic_sentences(100, 2))
        .unlabeled(synthetic_sentences(1_500, 3))
}

#[test]
fn models_are_those_of_training_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let observed = TrainOptions {
        states: Some(States::Observed),
        min_count: 3,
        ..short_options(0.5)
    };
    let reweighted = TrainOptions {
        gradient: Engine::Reweighted(2),
        scheme: Scheme::Bioes,
        ..short_options(0.5)
    };
    let separate = TrainOptions {
        collapse: false,
        min_count: 2,
        ..short_options(0.0)
    };
    let l1 = TrainOptions {
        l1: 0.2,
        ..short_options(0.0)
    };
    for (options, source) in [
        (short_options(0.5), "word\nword[-1]\nshape(dan2)\n"),
        (observed, "word\nedge: word\nword[-1]\n"),
        (reweighted, "word l2=3\nedge: word\nsuffix(2) dropout=0.2\n"),
        (separate, "word\nvalue(length)\n"),
        (l1, "word\nvalue(length)\nsuffix(2)\n"),
    ] {
        let trainer = Trainer::new(options).unwrap();
        let mut starts = [(); 2].map(|()| Vec::new());
        let expected = trainer.train(corpora(), template(source), &mut starts[0]);
        let expected = expected.unwrap().model;
        let corpora = corpora();
        let streamed = StreamedCorpora {
            labeled: &corpora.labeled,
            dev: corpora.dev.as_ref(),
            unlabeled: Some(&corpora.unlabeled),
        };
        let spill = SpillOptions {
            directory: directory.path(),
            part: PART,
        };
        let template = Some(template(source));
        let trained = trainer.train_in_parts(streamed, template, spill, &mut starts[1]);
        assert!(
            trained.unwrap().model.as_bytes() == expected.as_bytes(),
            "{source}"
        );
        assert_eq!(starts[0], starts[1]);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

/// Notes the counts that training starts with.
impl Observer for Vec<f64> {
    fn start(&mut self, start: &Start<'_>) {
        let counts = [
            start.sentences,
            start.tokens,
            start.unlabeled_sentences,
            start.dev_sentences,
            start.attributes,
            start.collapsed_attributes,
            start.parameters,
        ];
        self.extend(counts.map(|count| count as f64));
        self.extend([start.active_per_token, start.collapsed_active_per_token]);
    }
}

#[test]
fn a_checkpoint_is_one_of_training_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(directory.path().join("run"));
    let source = "word\nword[-1]\n";
    let trainer = Trainer::new(short_options(0.5)).unwrap();
    let expected = trainer.train(corpora(), template(source), &mut ()).unwrap();
    let short = TrainOptions {
        max_iterations: Some(3),
        ..short_options(0.5)
    };
    let first = Trainer::new(short)
        .unwrap()
        .checkpoints(checkpoints.clone());
    in_parts(&first, &corpora(), source, directory.path()).unwrap();
    let resumed = trainer.checkpoints(checkpoints.resume());
    let resumed = resumed.train(corpora(), template(source), &mut ()).unwrap();
    assert!(resumed.model.as_bytes() == expected.model.as_bytes());
}

#[test]
fn what_needs_all_sentences_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let refused = |options: TrainOptions, source: &str| {
        let trainer = Trainer::new(options).unwrap();
        let error = in_parts(&trainer, &corpora(), source, directory.path());
        error.unwrap_err().to_string()
    };
    let message = |found: &str| {
        format!(
            "{found}: needs all sentences in memory, so their attributes cannot be kept on disk"
        )
    };
    let message_engine = TrainOptions {
        gradient: Engine::Message { collapse: true },
        ..short_options(0.5)
    };
    let discover = TrainOptions {
        discover: true,
        ..short_options(0.5)
    };
    for (options, source, found) in [
        (message_engine, "word\n", "the gradient by messages"),
        (
            discover,
            "word\n",
            "attributes discovered in unlabeled text",
        ),
        (
            short_options(0.5),
            "word\nmention(order)\n",
            "a template that reads documents",
        ),
        (
            short_options(0.5),
            "lexicon(training)\n",
            "a template that learns names, or words while reading",
        ),
    ] {
        assert_eq!(refused(options, source), message(found));
    }
}

#[test]
fn without_sentences_or_a_directory_nothing_is_trained() {
    let directory = tempfile::tempdir().unwrap();
    let trainer = Trainer::new(short_options(0.5)).unwrap();
    let none = TrainingCorpora::new(Corpus::new());
    let error = in_parts(&trainer, &none, "word\n", directory.path()).unwrap_err();
    assert_eq!(error.to_string(), "there are no sentences to train on");
    let missing = directory.path().join("missing");
    let error = in_parts(&trainer, &corpora(), "word\n", &missing).unwrap_err();
    assert!(matches!(error, Error::Io { path, .. } if path == missing));
}

#[test]
fn a_file_that_changes_between_readings_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("train.conll");
    std::fs::write(&path, "Ada B-PER\n").unwrap();
    let mut files = CorpusFiles::new();
    files.add(&[&path], &ReadOptions::default()).unwrap();
    assert_eq!(files.sentences().unwrap().count(), 1);
    std::fs::write(&path, "Ada B-PER\n\nleft O\n").unwrap();
    let error = files.sentences().err().unwrap().to_string();
    assert!(
        error.contains("the file changed while it was being read"),
        "{error}"
    );
    let error = files.add(&["-"], &ReadOptions::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("-: standard input can be read only once")
    );
}
