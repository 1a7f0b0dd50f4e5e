//! Checkpoints: a run that resumes from one is the same as one that was never interrupted.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tempfile::TempDir;

use super::watcher::{Data, Moment, Watcher, every_iteration};
use super::*;
use crate::objective::{Penalty, Term, TermInput};
use crate::optim::{Change, Round, StopReason};

const DATA: Data<'_> = Data {
    text: NAMES,
    dev: "Ada/B-PER left/O New/B-LOC York/I-LOC\n\
          Charles/B-PER Somerville/I-PER wrote/O to/O Mary/B-PER\n\
          they/O died/O in/O May/O",
    template: "word\nword[-1]\nshape\n",
};

/// A further L2 penalty of a strength that is halved in rounds of two iterations.
#[derive(Clone, Debug)]
struct Halved([f64; 1], u64, Option<u64>); // strength, first iteration, that of the next

impl Term for Halved {
    fn add(&mut self, input: TermInput<'_>, gradient: &mut [f64]) -> f64 {
        if let Some(first) = self.2.take() {
            *self = Self([self.0[0] / 2.0], first, None);
        }
        Penalty::from(self.0[0]).add(input.theta, gradient)
    }

    fn begin_iteration(&mut self, iteration: u64, _: bool) -> Change {
        self.2 = (iteration >= self.1 + 2).then_some(iteration);
        self.2.map_or(Change::None, |_| Change::Round)
    }

    fn round(&self) -> Option<Round<'_>> {
        Some(Round { first: self.1, numbers: self.0.as_slice().into() })
    }

    fn resume_round(&mut self, round: Round<'static>) {
        *self = Self([round.numbers[0]], round.first, None);
    }
}

/// Trains on [`DATA`].
fn run(
    options: &TrainOptions,
    checkpoints: Option<Checkpoints>,
    watcher: &mut Watcher<'_>,
) -> Trained {
    DATA.train(options, checkpoints, watcher).unwrap()
}

/// A watcher that interrupts training at an iteration.
fn interrupting(at: usize, flag: &AtomicBool) -> Watcher<'_> {
    let moment = Moment { model: 0, iteration: Some(at) };
    Watcher { stop: Some((moment, flag)), ..Watcher::default() }
}

fn all_kinds_of_training() -> Vec<TrainOptions> {
    let base = changed(options(), |o| {
        o.max_iterations = Some(14);
        o.method.warm_up = Some(5);
    });
    let dropout = changed(base.clone(), |o| o.method.noise.dropout = 0.3);
    vec![
        changed(base.clone(), |o| o.method.l1 = 0.05),
        changed(dropout.clone(), |o| o.method.l1 = 0.05),
        changed(dropout.clone(), |o| o.method.noise.kind = NoiseKind::Reweighted(3)),
        changed(dropout.clone().with_term(Halved([0.4], 0, None)), |o| {
            o.method.noise.kind = NoiseKind::Reweighted(3);
        }),
        changed(dropout.clone(), |o| {
            o.method.noise.gradient = Engine::Window(1);
            o.method.warm_up = Some(0);
        }),
        dropout,
        base,
    ]
}

#[test]
fn an_interrupted_run_resumes_to_the_same_bits() {
    let dir = TempDir::new().unwrap();
    for (number, options) in all_kinds_of_training().into_iter().enumerate() {
        let path = dir.path().join(number.to_string());
        let mut whole = Watcher::default();
        let expected = run(&options, None, &mut whole);
        assert!(expected.end.iterations > 9, "{options:?}");
        for at in 0..expected.end.iterations {
            let flag = AtomicBool::new(false);
            let mut watcher = interrupting(at, &flag);
            // By time, only the interrupt writes a checkpoint.
            run(&options, Some(Checkpoints::new(&path)), &mut watcher);
            assert_eq!(watcher.iterations.len(), at + 1);
            if at == 0 {
                assert!(!path.exists()); // there is nothing to resume
                continue;
            }
            assert_eq!(watcher.checkpoints, 1);
            let mut rest = Watcher::default();
            let resumed = run(&options, Some(Checkpoints::new(&path).resume()), &mut rest);
            assert_eq!(rest.resumed, Some((0, at)));
            watcher.iterations.extend(rest.iterations);
            assert_eq!(watcher.iterations, whole.iterations);
            assert!(resumed.model.as_bytes() == expected.model.as_bytes());
            let record = &resumed.model.header().provenance.options;
            assert_eq!(
                record.contains(r#""terms":["Halved([0.4], 0, None)"]"#),
                !options.terms.is_empty()
            );
            let time = expected.end.time;
            assert_eq!(End { time, ..resumed.end }, expected.end);
        }
    }
}

#[test]
fn a_killed_run_resumes_from_the_last_checkpoint_to_the_same_bits() {
    let dir = TempDir::new().unwrap();
    let copy = dir.path().join("copy");
    for (number, options) in all_kinds_of_training().into_iter().enumerate() {
        let path = dir.path().join(number.to_string());
        let mut whole = Watcher::default();
        let expected = run(&options, None, &mut whole);
        let mut watcher = Watcher { copied: Some(path.clone()), ..Watcher::default() };
        run(&options, Some(every_iteration(&path)), &mut watcher);
        assert_eq!(watcher.copies.len(), expected.end.iterations - 1);
        for (moment, bytes) in watcher.copies {
            let at = moment.iteration.unwrap();
            fs::write(&copy, bytes).unwrap();
            let mut rest = Watcher::default();
            let resumed = run(&options, Some(Checkpoints::new(&copy).resume()), &mut rest);
            assert_eq!(rest.resumed, Some((0, at - 1)));
            assert_eq!(rest.iterations, whole.iterations[at..]);
            assert!(resumed.model.as_bytes() == expected.model.as_bytes());
        }
    }
}

#[test]
fn a_run_that_has_ended_resumes_from_its_last_checkpoint_to_the_same_end() {
    let dir = TempDir::new().unwrap();
    let mut converged = 0;
    let patient = all_kinds_of_training().into_iter().map(|options| {
        changed(options, |o| {
            (o.max_iterations, o.patience) = (None, 5);
        })
    });
    for (number, options) in all_kinds_of_training().into_iter().chain(patient).enumerate() {
        let path = dir.path().join(number.to_string());
        let expected = run(&options, Some(every_iteration(&path)), &mut Watcher::default());
        let checkpoints = Some(Checkpoints::new(&path).resume());
        let resumed = run(&options, checkpoints, &mut Watcher::default());
        assert_eq!(resumed.end.iterations, expected.end.iterations, "{options:?}");
        assert_eq!(resumed.end.reason, expected.end.reason, "{options:?}");
        assert!(resumed.model.as_bytes() == expected.model.as_bytes(), "{options:?}");
        let limit = StopReason::MaxIterations;
        converged += usize::from(expected.end.reason != limit);
    }
    assert!(converged >= 4, "{converged} runs ended before the limit");
}

#[test]
fn checkpoints_are_written_as_often_as_requested() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("checkpoint");
    let options = &all_kinds_of_training()[0];
    let count = |interval| {
        let mut watcher = Watcher::default();
        let checkpoints = Checkpoints::new(&path).every(interval);
        let trained = run(options, Some(checkpoints), &mut watcher);
        (watcher.checkpoints, trained.end.iterations)
    };
    let (checkpoints, iterations) = count(CheckpointInterval::Iterations(3));
    assert_eq!(checkpoints, iterations / 3);
    let (checkpoints, iterations) = count(CheckpointInterval::Time(Duration::ZERO));
    assert_eq!(checkpoints, iterations);
    assert_eq!(count(CheckpointInterval::default()).0, 0);
}

#[test]
fn without_a_checkpoint_training_starts_at_the_beginning() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("checkpoint");
    let options = &all_kinds_of_training()[0];
    let expected = run(options, None, &mut Watcher::default());
    let mut watcher = Watcher::default();
    let trained = run(options, Some(every_iteration(&path).resume()), &mut watcher);
    assert_eq!(watcher.resumed, None);
    assert!(trained.model.as_bytes() == expected.model.as_bytes());
}

/// Interrupts a run at its third iteration.
fn interrupted(options: &TrainOptions, path: &Path) {
    let flag = AtomicBool::new(false);
    let mut watcher = interrupting(3, &flag);
    run(options, Some(Checkpoints::new(path)), &mut watcher);
}

#[test]
fn a_checkpoint_of_other_options_or_data_is_an_error() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("checkpoint");
    let options = all_kinds_of_training().remove(0);
    interrupted(&options, &path);
    let error = |change: fn(&mut TrainOptions), text: &str| {
        let mut options = options.clone();
        change(&mut options);
        let checkpoints = Some(Checkpoints::new(&path).resume());
        let error = Data { text, ..DATA }
            .train(&options, checkpoints, &mut Watcher::default())
            .unwrap_err();
        error.to_string().strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    let changes: [(fn(&mut TrainOptions), _); 3] = [
        (|o| o.method.l2 = Some(0.5), "l2 0.1, this run has 0.5"),
        (|o| o.attributes.min_count = 2, "min-count 1, this run has 2"),
        (|o| o.method.warm_up = Some(6), "warm-up 5, this run has 6"),
    ];
    for (change, difference) in changes {
        let options = "expected the options of the interrupted run";
        assert_eq!(error(change, NAMES), format!("was written with {difference}; {options}"));
    }
    assert_eq!(
        error(|_| {}, &NAMES.replace("far", "near")),
        "was written with other training data, development data or another template; expected \
         those of the interrupted run"
    );
}

#[test]
fn a_run_may_resume_with_another_number_of_iterations() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("checkpoint");
    let options = all_kinds_of_training().remove(1);
    interrupted(&options, &path);
    let fewer = TrainOptions { max_iterations: Some(8), patience: 3, ..options.clone() };
    // The default of the warm-up depends on the maximum: that of the interrupted run counts.
    let defaults = |max_iterations| {
        changed(options.clone(), |o| {
            o.max_iterations = max_iterations;
            o.method.warm_up = None;
        })
    };
    interrupted(&defaults(None), &path);
    let checkpoints = Some(Checkpoints::new(&path).resume());
    let resumed = run(&defaults(Some(24)), checkpoints, &mut Watcher::default());
    let [iterations, warm_up] = [resumed.end.iterations, resumed.end.warm_up];
    assert_eq!((iterations, warm_up), (24, options::Defaults::WARM_UP));
    interrupted(&options, &path);
    let resume = |options| {
        let checkpoints = Some(Checkpoints::new(&path).resume());
        run(options, checkpoints, &mut Watcher::default())
    };
    let expected = run(&fewer, None, &mut Watcher::default());
    assert!(resume(&fewer).model.as_bytes() == expected.model.as_bytes());
    // Fewer than were made: training ends at once.
    let none = changed(options, |o| {
        o.max_iterations = Some(1);
        o.method.warm_up = Some(5);
    });
    assert_eq!(resume(&none).end.iterations, 3);
}

#[test]
fn a_damaged_checkpoint_is_an_error() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("checkpoint");
    let options = all_kinds_of_training().remove(1);
    interrupted(&options, &path);
    let bytes = fs::read(&path).unwrap();
    let error = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let checkpoints = Some(Checkpoints::new(&path).resume());
        DATA.train(&options, checkpoints, &mut Watcher::default()).unwrap_err().to_string()
    };
    let step = bytes.len() / 200;
    for i in (0..bytes.len()).step_by(step.max(1)) {
        let mut flipped = bytes.clone();
        flipped[i] ^= 0x10;
        let message = error(&flipped);
        let expected = if i < 16 { "is not a checkpoint" } else { "does not match its checksum" };
        assert!(message.contains(expected), "{i}: {message}");
    }
    for length in [1, 15, 16, 20, bytes.len() / 2, bytes.len() - 1] {
        let message = error(&bytes[..length]);
        assert!(message.contains("checkpoint"), "{length}: {message}");
    }
}
