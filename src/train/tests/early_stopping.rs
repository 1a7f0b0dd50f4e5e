//! When training stops: early stopping on development data, limits, interruption.

use std::sync::atomic::AtomicBool;

use super::watcher::{Ender, Interrupter};
use super::*;
use crate::error::Error;
use crate::optim::StopReason;

/// `common` is evidence for Y, `rare` for N; the weight that `rare` gets in the long run is wrong
/// on [`DEV`].
fn overfitting() -> Vec<Sentence> {
    let (yes, no) = ("Y common\n".repeat(12), "N common,rare\n".repeat(4));
    given(&format!("N rare\n{no}{yes}"))
}

const DEV: &str = "Y common\nY common,rare";

fn options() -> TrainOptions {
    changed(super::options(), |o| {
        o.method.l2 = Some(0.01);
        o.patience = 3;
    })
}

fn train_on_overfitting(options: TrainOptions, dev: Option<&str>) -> (Trained, Recorder) {
    let mut recorder = Recorder::default();
    let trainer = Trainer::new(options).unwrap();
    let corpora = TrainingCorpora {
        dev: dev.map(|dev| given(dev).into()),
        ..TrainingCorpora::new(overfitting())
    };
    let trained = trainer.train(corpora, None, &mut recorder);
    (trained.unwrap(), recorder)
}

#[test]
fn training_stops_after_patience_iterations_and_keeps_the_best_model() {
    let (trained, recorder) = train_on_overfitting(options(), Some(DEV));
    let scores = recorder.dev_scores();
    // A score counts with those of the four iterations before it; that of the start stands alone.
    let mean = |i: usize| {
        let recent = &scores[i.saturating_sub(4).max(1).min(i)..=i];
        recent.iter().sum::<f64>() / recent.len() as f64
    };
    let means: Vec<f64> = (0..scores.len()).map(mean).collect();
    let highest = means.iter().copied().fold(0.0, f64::max);
    let best = means.iter().position(|&mean| mean == highest).unwrap();
    assert!(0 < best && *means.last().unwrap() < highest, "{scores:?}");
    assert_eq!(trained.end.reason, StopReason::Patience);
    assert_eq!(trained.end.best_iteration, best);
    assert_eq!(trained.end.iterations, best + 3);
    assert_eq!(trained.end.dev, Some(DevScore::Accuracy(scores[best])));
    assert_eq!(recorder.end.as_ref(), Some(&trained.end));
    let until_best = TrainOptions { max_iterations: Some(best), ..options() };
    let (expected, _) = train_on_overfitting(until_best, None);
    for name in names(&trained.model, AttributeKind::Node) {
        let [found, expected] =
            [&trained, &expected].map(|t| weights(&t.model, AttributeKind::Node, &name));
        assert_eq!(found, expected);
    }
}

#[test]
fn patience_does_not_count_while_the_score_is_0() {
    // The only span of the development data needs more than one iteration.
    let mut recorder = Recorder::default();
    let options = TrainOptions { patience: 1, ..super::options() };
    let trainer = Trainer::new(options).unwrap();
    let train = corpus(&format!("{}x/B-X a/O", "a/O b/O c/O\n".repeat(9)));
    let corpora = TrainingCorpora::new(train).dev(corpus("x/B-X a/O"));
    let trained = trainer.train(corpora, template("word"), &mut recorder).unwrap();
    let scores = recorder.dev_scores();
    assert!(scores.len() > 3 && scores[..2] == [0.0, 0.0], "{scores:?}");
    assert_eq!(trained.end.dev, Some(DevScore::F1(1.0)));
}

#[test]
fn if_the_score_stays_0_the_last_iteration_is_kept() {
    let options = TrainOptions { max_iterations: Some(3), ..options() };
    let (trained, recorder) = train_on_overfitting(options, Some("Z common"));
    assert_eq!(recorder.dev_scores(), [0.0; 4]);
    assert_eq!(trained.end.best_iteration, 3);
    let [common, start] = [weights(&trained.model, AttributeKind::Node, b"common"), vec![0.0; 2]];
    assert_ne!(common, start);
}

#[test]
fn without_development_data_the_last_iteration_is_the_best() {
    let (trained, recorder) = train_on_overfitting(options(), None);
    assert_eq!(trained.end.best_iteration, trained.end.iterations);
    assert_eq!(trained.end.iterations + 1, recorder.iterations.len());
    assert_eq!(trained.end.dev, None);
    assert!(matches!(trained.end.reason, StopReason::Improvement | StopReason::Gradient));
}

#[test]
fn the_terms_add_up_to_the_objective() {
    let options = changed(options(), |o| o.method.l1 = 0.1);
    let (_, recorder) = train_on_overfitting(options, None);
    for iteration in &recorder.iterations {
        let sum = iteration.terms.l2 + iteration.terms.l1 - iteration.terms.log_likelihood;
        assert!((sum - iteration.objective).abs() < 1e-12);
    }
    let last = recorder.iterations.last().unwrap();
    assert!(last.terms.l2 > 0.0 && last.terms.l1 > 0.0 && last.terms.log_likelihood < 0.0);
}

#[test]
fn an_interrupt_keeps_the_weights_reached() {
    for at in [0, 2] {
        let flag = AtomicBool::new(false);
        let trainer = Trainer::new(options()).unwrap().interrupt(&flag);
        let mut observer = Interrupter { at, flag: &flag };
        let trained = trainer.train(overfitting(), None, &mut observer).unwrap();
        assert_eq!(trained.end.reason, StopReason::Interrupted);
        assert_eq!((trained.end.iterations, trained.end.best_iteration), (at, at));
        let until = TrainOptions { max_iterations: Some(at), ..options() };
        let (expected, _) = train_on_overfitting(until, None);
        for name in [&b"common"[..], b"rare"] {
            let [found, expected] =
                [&trained, &expected].map(|t| weights(&t.model, AttributeKind::Node, name));
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn an_observer_that_breaks_keeps_the_weights_reached_with_and_without_warm_up() {
    for (dropout, at) in [(0.0, 2), (0.3, 2), (0.3, 23)] {
        let options = changed(options(), |o| o.method.noise.dropout = dropout);
        let mut ender = Ender { at, error: None };
        let trainer = Trainer::new(options).unwrap();
        let end = trainer.train(overfitting(), None, &mut ender).unwrap().end;
        assert_eq!(end.reason, StopReason::Interrupted);
        assert_eq!((end.iterations, end.best_iteration), (at, at));
    }
}

#[test]
fn an_error_of_the_observer_is_the_error_of_training() {
    let mut ender = Ender { at: 1, error: Some("the disk is full") };
    let trainer = Trainer::new(options()).unwrap();
    let error = trainer.train(overfitting(), None, &mut ender).unwrap_err();
    assert!(matches!(error, Error::Observer(_)));
    assert_eq!(error.to_string(), "the disk is full");
}

#[test]
fn noise_without_development_data_stops_at_three_per_mille() {
    let run = |dropout: f64, tolerance: Option<f64>, has_dev: bool| {
        let options = changed(options(), |o| {
            o.method.noise.dropout = dropout;
            o.method.optimizer.improvement_tolerance = tolerance;
            o.patience = 1000;
        });
        let mut corpora = TrainingCorpora::new(synthetic_sentences(100, 1));
        if has_dev {
            corpora = corpora.dev(synthetic_sentences(10, 2));
        }
        let mut recorder = Recorder::default();
        let trainer = Trainer::new(options).unwrap();
        trainer.train(corpora, template("word\nword[-1]\n"), &mut recorder).unwrap();
        recorder.iterations.iter().map(|i| i.objective).collect::<Vec<_>>()
    };
    let values = run(0.3, None, false);
    let fall = |end: usize| (values[end - 10] - values[end]) / values[end];
    assert!(fall(values.len() - 1) < 3e-3 && fall(values.len() - 2) >= 3e-3);
    // Any other run goes on.
    assert_eq!(values, run(0.3, Some(1e-5), false)[..values.len()]);
    for has_dev in [false, true] {
        assert_eq!(run(0.0, None, has_dev), run(0.0, Some(1e-5), has_dev));
    }
    let whole = run(0.3, None, true);
    assert_eq!(whole, run(0.3, Some(1e-5), true));
    assert!(whole.len() > values.len());
}
