//! Training in two passes: what an interrupt leaves, and how training resumes.

use std::fs;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;

use super::watcher::{Data, MODELS, Moment, Watcher, every_iteration};
use super::*;
use crate::optim::StopReason;

const TEMPLATE: &str = "word\nword[-1]\nshape\npredicted\npredicted_word\n";

const DATA: Data<'_> = Data {
    text: NAMES,
    dev: "Ada/B-PER left/O New/B-LOC York/I-LOC\nthey/O died/O in/O May/O",
    template: TEMPLATE,
};

/// Maximum number of iterations of each; those of folds are as many as the first needs.
const MAX_ITERATIONS: usize = 5;

fn two_pass_options() -> TrainOptions {
    changed(options(), |o| {
        o.max_iterations = Some(MAX_ITERATIONS);
        o.method.warm_up = Some(2);
        o.method.noise.dropout = 0.3;
    })
}

/// Trains on [`DATA`].
fn run(
    options: &TrainOptions,
    checkpoints: Option<Checkpoints>,
    watcher: &mut Watcher<'_>,
) -> Trained {
    DATA.train(options, checkpoints, watcher).unwrap()
}

/// The last iteration of a model.
fn last(whole: &[(usize, Iteration)], model: usize) -> usize {
    let mut iterations = whole.iter().filter(|(other, _)| *other == model);
    iterations.next_back().unwrap().1.number
}

/// Moments in models of each kind.
fn moments(whole: &[(usize, Iteration)]) -> Vec<Moment> {
    let of_model = |model| {
        let iterations = (0..=last(whole, model)).map(Some);
        let moment = move |iteration| Moment { model, iteration };
        [None].into_iter().chain(iterations).map(moment)
    };
    [0, 1, 4, MODELS - 1].into_iter().flat_map(of_model).collect()
}

/// Returns the checkpoint at each moment of a run; at the first there is none yet.
fn copies(options: &TrainOptions, dir: &TempDir) -> Vec<(Moment, Vec<u8>)> {
    let path = dir.path().join("checkpoint");
    let mut watcher = Watcher { copied: Some(path.clone()), ..Watcher::default() };
    run(options, Some(every_iteration(&path)), &mut watcher);
    watcher.copies
}

#[test]
fn the_folds_have_noise_in_the_iterations_in_which_the_first_pass_has() {
    let options = changed(two_pass_options(), |o| {
        (o.method.warm_up, o.max_iterations) = (None, Some(20));
    });
    let mut watcher = Watcher::default();
    run(&options, None, &mut watcher);
    let noise = |model| {
        let own = watcher.iterations.iter().filter(move |(m, _)| *m == model);
        own.map(|(_, iteration)| iteration.terms.noise > 0.0)
    };
    let first: Vec<bool> = noise(0).collect();
    assert!(first.contains(&true) && first.contains(&false), "{first:?}");
    let shorter = (1..MODELS - 1).filter(|&fold| noise(fold).count() < first.len());
    assert!(shorter.count() > 0, "the best iteration is not the last");
    for fold in 1..MODELS - 1 {
        assert!(noise(fold).zip(&first).all(|(fold, &first)| fold == first));
    }
}

#[test]
fn an_interrupt_at_any_moment_leaves_a_model_and_resumes_to_the_same_bits() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("checkpoint");
    let options = two_pass_options();
    let mut whole = Watcher::default();
    let expected = run(&options, None, &mut whole);
    assert!(!expected.is_first_pass);
    let first = expected.model.first_pass().unwrap();
    for moment in moments(&whole.iterations) {
        let flag = AtomicBool::new(false);
        let mut watcher = Watcher { stop: Some((moment, &flag)), ..Watcher::default() };
        // By time, only the interrupt and the ends of passes write checkpoints.
        let left = run(&options, Some(Checkpoints::new(&path)), &mut watcher);
        // After the last iteration, an interrupt ends the next model before its first one.
        let (model, made) = match moment.iteration {
            Some(n) if n == last(&whole.iterations, moment.model) => (moment.model + 1, 0),
            made => (moment.model, made.unwrap_or(0)),
        };
        let is_complete = model == MODELS;
        let has_second = is_complete || (model == MODELS - 1 && made > 0);
        assert_eq!(left.is_first_pass, !has_second, "{moment:?}");
        assert_eq!(left.model.first_pass().is_some(), has_second);
        let interrupted = StopReason::Interrupted;
        assert_eq!(left.end.reason == interrupted, !is_complete, "{moment:?}");
        if left.is_first_pass && model > 0 {
            assert!(left.model.as_bytes() == first.as_bytes(), "{moment:?}");
        }
        if is_complete {
            assert!(left.model.as_bytes() == expected.model.as_bytes());
            continue;
        }

        let mut rest = Watcher::default();
        let checkpoints = Checkpoints::new(&path).resume();
        let resumed = run(&options, Some(checkpoints), &mut rest);
        assert!(resumed.model.as_bytes() == expected.model.as_bytes(), "{moment:?}");
        let is_new = (model, made) == (0, 0);
        assert_eq!(rest.resumed, (!is_new).then_some((model, made)));
        let starts_again = |(last, iteration): &(usize, Iteration)| {
            (*last, iteration.number, made) == (model, 0, 0)
        };
        watcher.iterations.retain(|iteration| !starts_again(iteration));
        watcher.iterations.extend(rest.iterations);
        assert_eq!(watcher.iterations, whole.iterations, "{moment:?}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_run_killed_at_any_moment_resumes_from_the_last_checkpoint_to_the_same_bits() {
    let dir = TempDir::new().unwrap();
    let options = two_pass_options();
    let mut whole = Watcher::default();
    let expected = run(&options, None, &mut whole);
    let copy = dir.path().join("copy");
    let mut copies = copies(&options, &dir);
    let moments = moments(&whole.iterations);
    copies.retain(|(moment, _)| moments.contains(moment));
    let of_first = |moment: &&Moment| moment.model == 0 && moment.iteration < Some(2);
    assert_eq!(copies.len(), moments.len() - moments.iter().filter(of_first).count());
    for (moment, bytes) in copies {
        let made = moment.iteration.unwrap_or(0);
        fs::write(&copy, bytes).unwrap();
        let mut rest = Watcher::default();
        let resumed = run(&options, Some(Checkpoints::new(&copy).resume()), &mut rest);
        let before = made.saturating_sub(1);
        assert_eq!(rest.resumed, Some((moment.model, before)), "{moment:?}");
        assert!(resumed.model.as_bytes() == expected.model.as_bytes(), "{moment:?}");
        let earlier = whole.iterations.len() - rest.iterations.len();
        assert_eq!(rest.iterations, whole.iterations[earlier..]);
        assert_eq!(rest.iterations[0].0, moment.model);
    }
}

#[test]
fn a_checkpoint_of_other_options_data_or_passes_is_an_error() {
    let dir = TempDir::new().unwrap();
    let options = two_pass_options();
    let copy = dir.path().join("copy");
    let copies = copies(&options, &dir);
    // Between two passes, and within one.
    for iteration in [None, Some(2)] {
        let moment = Moment { model: 3, iteration };
        let of_moment = copies.iter().find(|(other, _)| *other == moment);
        fs::write(&copy, &of_moment.unwrap().1).unwrap();
        let error = |change: fn(&mut TrainOptions), text: &str, lines: &str| {
            let mut options = options.clone();
            change(&mut options);
            let checkpoints = Some(Checkpoints::new(&copy).resume());
            let data = Data { text, template: lines, ..DATA };
            let error = data.train(&options, checkpoints, &mut Watcher::default());
            let message = error.unwrap_err().to_string();
            let path = format!("{}: ", copy.display());
            message.strip_prefix(&path).unwrap().to_owned()
        };
        assert_eq!(
            error(|o| o.max_iterations = Some(7), NAMES, TEMPLATE),
            "was written with max-iterations 5, this run has 7; expected the options of the \
             interrupted run"
        );
        let other_data = "was written with other training data, development data or another \
                          template; expected those of the interrupted run";
        let text = NAMES.replace("far", "near");
        assert_eq!(error(|_| {}, &text, TEMPLATE), other_data);
        let text = NAMES.replace("far/O", "far/B-LOC");
        assert_eq!(error(|_| {}, &text, TEMPLATE), other_data);
        let lines = TEMPLATE.replace("predicted_word", "predicted_word[1]");
        assert_eq!(error(|_| {}, NAMES, &lines), other_data);
        assert_eq!(
            error(|_| {}, NAMES, "word\n"),
            "was written by training in two passes, this run has one pass; expected the template \
             of the interrupted run"
        );
    }
    let path = dir.path().join("one");
    let one = Data { template: "word\n", ..DATA };
    one.train(&options, Some(every_iteration(&path)), &mut Watcher::default()).unwrap();
    let checkpoints = Some(Checkpoints::new(&path).resume());
    let error = DATA.train(&options, checkpoints, &mut Watcher::default());
    let message = error.unwrap_err().to_string();
    assert!(message.contains("by training in one pass, this run has two"), "{message}");
}
