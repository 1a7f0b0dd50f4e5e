//! Training by ranks gives the model of training without.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;

use super::watcher::{Ender, Interrupter};
use super::*;
use crate::error::Error;
use crate::optim::StopReason;
use crate::testing::run_ranks;

const TEMPLATE: &str = "word\nword[-1]\nsuffix(2)\n";

fn corpora() -> TrainingCorpora {
    TrainingCorpora::new(synthetic_sentences(3_000, 1))
        .dev(synthetic_sentences(100, 2))
        .unlabeled(synthetic_sentences(1_500, 3))
}

fn bytes(trained: &Trained) -> Vec<u8> {
    trained.model.as_bytes().to_vec()
}

#[test]
fn models_are_those_of_one_process() {
    for (dropout, source) in [(0.0, TEMPLATE), (0.5, TEMPLATE), (0.5, "word\nshape\npredicted\n")] {
        let trainer = Trainer::new(short_options(dropout)).unwrap();
        let expected = trainer.train(corpora(), template(source), &mut ());
        let expected = bytes(&expected.unwrap());
        for size in [1, 2, 3] {
            let models = run_ranks(size, |ranks| {
                let trainer = trainer.clone().ranks(ranks);
                bytes(&trainer.train(corpora(), template(source), &mut ()).unwrap())
            });
            assert!(models.iter().all(|model| *model == expected), "{size} ranks");
        }
    }
}

#[test]
fn a_run_that_one_rank_is_asked_to_end_resumes_with_another_number_of_ranks() {
    let directory = TempDir::new().unwrap();
    let checkpoint = |name: &str| Checkpoints::new(directory.path().join(name));
    let trainer = Trainer::new(short_options(0.5)).unwrap();
    let train = |trainer: &Trainer<'_>, observer: &mut dyn Observer| {
        trainer.train(corpora(), template(TEMPLATE), observer)
    };
    let expected = bytes(&train(&trainer, &mut ()).unwrap());
    let ends = run_ranks(3, |ranks| {
        let request = AtomicBool::new(false);
        let at = if ranks.rank() == 1 { 3 } else { usize::MAX };
        let file = checkpoint(if ranks.rank() == 0 { "run" } else { "other" });
        let trainer = trainer.clone().interrupt(&request).checkpoints(file);
        let mut stop = Interrupter { at, flag: &request };
        train(&trainer.ranks(ranks), &mut stop).unwrap().end
    });
    for end in ends {
        assert_eq!(end.reason, StopReason::Interrupted);
        assert_eq!(end.iterations, 3);
    }
    let exists = |name: &str| Path::exists(&directory.path().join(name));
    assert!(exists("run") && !exists("other"));

    let models = run_ranks(2, |ranks| {
        let file = checkpoint(if ranks.rank() == 0 { "run" } else { "other" });
        let trainer = trainer.clone().checkpoints(file.resume());
        bytes(&train(&trainer.ranks(ranks), &mut ()).unwrap())
    });
    assert!(models.iter().all(|model| *model == expected));
    let alone = trainer.checkpoints(checkpoint("run").resume());
    assert_eq!(bytes(&train(&alone, &mut ()).unwrap()), expected);
}

fn error_of(outcomes: Vec<Result<Trained>>) -> String {
    let messages: Vec<String> =
        (outcomes.into_iter()).map(|outcome| outcome.unwrap_err().to_string()).collect();
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:?}");
    messages[0].clone()
}

#[test]
fn ranks_with_other_data_or_without_any_end_all() {
    let trainer = Trainer::new(short_options(0.0)).unwrap();
    let train = |of_rank: fn(usize) -> Vec<Sentence>| {
        error_of(run_ranks(3, |ranks| {
            let sentences = of_rank(ranks.rank());
            trainer.clone().ranks(ranks).train(sentences, template(TEMPLATE), &mut ())
        }))
    };
    assert_eq!(
        train(|rank| synthetic_sentences(if rank == 2 { 11 } else { 10 }, 1)),
        "rank 2 has other training or development data than rank 0; expected the same on all \
         machines"
    );
    assert_eq!(
        train(|rank| synthetic_sentences(if rank == 1 { 0 } else { 10 }, 1)),
        "rank 1: there are no sentences to train on"
    );
}

#[test]
fn a_rank_whose_observer_fails_ends_all() {
    let trainer = Trainer::new(short_options(0.0)).unwrap();
    let outcomes = run_ranks(2, |ranks| {
        let is_first = ranks.rank() == 0;
        let trainer = trainer.clone().ranks(ranks);
        let mut full = Ender { at: 2, error: Some("no space left") };
        let observer: &mut dyn Observer = if is_first { &mut full } else { &mut () };
        trainer.train(corpora(), template(TEMPLATE), observer)
    });
    let messages: Vec<Error> = outcomes.into_iter().map(Result::unwrap_err).collect();
    assert_eq!(messages[0].to_string(), "no space left");
    let other = "another rank ended training after iteration 2";
    assert_eq!(messages[1].to_string(), other);
}
