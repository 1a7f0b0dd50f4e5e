//! Tests of paths and of the choice of a strength.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{documents, options, sparse_documents};
use crate::regress::*;

fn run(loss: RegressionLoss, path: &PathOptions) -> RegressionPath {
    let trainer = RegressionTrainer::new(RegressionOptions { loss, ..options() }).unwrap();
    let documents = sparse_documents(80, 9).into_iter().map(Ok);
    let corpus = trainer.corpus(documents).unwrap();
    trainer.path(&corpus, path, &mut |_| {}).unwrap()
}

#[test]
fn a_path_begins_without_weights_and_explains_ever_more() {
    for loss in [RegressionLoss::Squared, RegressionLoss::Poisson] {
        let path = PathOptions { count: 30, with_weights: true, ..PathOptions::default() };
        let points = run(loss, &path).points;
        assert_eq!(points.len(), 30);
        assert_eq!((points[0].nonzero, points[0].explained.abs() < 1e-9), (0, true));
        assert!(points[1].nonzero > 0, "{loss}");
        assert!((points[29].strength / points[0].strength - 1e-3).abs() < 1e-9);
        for pair in points.windows(2) {
            assert!(pair[0].strength > pair[1].strength);
            assert!(pair[0].explained < pair[1].explained + 1e-9, "{loss}");
            assert!(pair[0].objective > pair[1].objective, "{loss}");
        }
        for point in &points {
            assert_eq!(point.weights.len(), point.nonzero);
            assert_eq!((point.l2, point.l1), (0.0, 2.0 * point.strength));
        }
        let last = &points[29];
        assert!(last.explained > 0.2, "{loss}: {}", last.explained);
        // A point is the minimum that training with its penalties finds.
        let options = RegressionOptions { loss, l1: last.l1, l2: 0.0, ..options() };
        let alone = super::train(sparse_documents(80, 9), &options);
        assert!((alone.objective - last.objective).abs() < 1e-4 * last.objective.abs());
    }
}

#[test]
fn ridges_and_strengths_of_ones_own_have_paths() {
    let path = PathOptions {
        l1_ratio: 0.0,
        strengths: Some(vec![0.1, 10.0, 1.0]),
        ..PathOptions::default()
    };
    let result = run(RegressionLoss::Squared, &path);
    let strengths: Vec<f64> = result.points.iter().map(|point| point.l2).collect();
    assert_eq!(strengths, [10.0, 1.0, 0.1]);
    assert!(result.chosen.is_none() && result.trained.is_none() && !result.interrupted);
}

#[test]
fn folds_choose_a_strength_and_the_model_is_that_of_the_point() {
    let cross_validation = CrossValidation { folds: 5, seed: 1, one_standard_error: false };
    let mut path = PathOptions {
        count: 25,
        with_weights: true,
        cross_validation: Some(cross_validation),
        ..PathOptions::default()
    };
    for loss in [RegressionLoss::Squared, RegressionLoss::Poisson] {
        path.cross_validation = Some(cross_validation);
        let result = run(loss, &path);
        let chosen = result.chosen.unwrap();
        let error = |i: usize| result.points[i].error.unwrap();
        assert!((0..25).all(|i| error(i) >= error(chosen)), "{loss}");
        assert!(chosen > 0, "{loss}: no feature helps");
        let weights = result.trained.unwrap().regression.weights().unwrap();
        let expected: Vec<(String, f64)> =
            result.points[chosen].weights.clone().into_iter().collect();
        let mut weights = weights;
        weights.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(weights.len(), expected.len());
        for ((name, a), (other, b)) in weights.iter().zip(&expected) {
            assert!(name == other && (a - b).abs() < 1e-6 * (1.0 + b.abs()));
        }
        path.cross_validation =
            Some(CrossValidation { one_standard_error: true, ..cross_validation });
        let stronger = run(loss, &path);
        let bound = error(chosen) + result.points[chosen].standard_error.unwrap();
        let first = (0..25).find(|&i| error(i) <= bound).unwrap();
        assert_eq!(stronger.chosen, Some(first), "{loss}");
        assert!(first < chosen, "{loss}: {first} {chosen}");
        path.cross_validation = Some(CrossValidation { seed: 2, ..cross_validation });
        assert_ne!(run(loss, &path).points[5].error, result.points[5].error);
    }
}

#[test]
fn what_has_no_path_is_an_error() {
    let error = |loss, change: fn(&mut PathOptions)| {
        let trainer = RegressionTrainer::new(RegressionOptions { loss, ..options() }).unwrap();
        let corpus = trainer.corpus(documents(false).into_iter().map(Ok)).unwrap();
        let mut path = PathOptions::default();
        change(&mut path);
        let result = trainer.path(&corpus, &path, &mut |_| {});
        result.unwrap_err().to_string()
    };
    type Change = fn(&mut PathOptions);
    let cases: [(Change, &str); 6] = [
        (|p| p.l1_ratio = 1.5, "L1 ratio 1.5; expected"),
        (|p| p.smallest = 0.0, "smallest strength 0; expected"),
        (|p| p.count = 0, "no strengths"),
        (|p| p.strengths = Some(vec![1.0, 0.0]), "strength 0; expected"),
        (
            |p| {
                p.cross_validation =
                    Some(CrossValidation { folds: 1, seed: 1, one_standard_error: false });
            },
            "1 folds of 100 documents; expected at least 2",
        ),
        (
            |p| {
                p.cross_validation =
                    Some(CrossValidation { folds: 101, seed: 1, one_standard_error: false });
            },
            "101 folds",
        ),
    ];
    for (change, expected) in cases {
        let message = error(RegressionLoss::Squared, change);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let message = error(RegressionLoss::Insensitive { epsilon: 0.1 }, |_| {});
    assert!(message.contains("a path with the insensitive loss"), "{message}");
}

/// A trainer that the flag interrupts, with its corpus.
fn interruptible(flag: &AtomicBool) -> (RegressionTrainer<'_>, RegressionCorpus) {
    let trainer =
        RegressionTrainer::new(RegressionOptions { loss: RegressionLoss::Poisson, ..options() });
    let mut trainer = trainer.unwrap();
    trainer.interrupt = Some(flag);
    let documents = sparse_documents(80, 9).into_iter().map(Ok);
    let corpus = trainer.corpus(documents).unwrap();
    (trainer, corpus)
}

#[test]
fn an_interrupt_leaves_no_choice() {
    let flag = AtomicBool::new(true);
    let (trainer, corpus) = interruptible(&flag);
    let result = trainer.path(&corpus, &PathOptions::default(), &mut |_| {}).unwrap();
    assert!(result.interrupted && result.chosen.is_none() && result.trained.is_none());
}

#[test]
fn an_interrupt_among_the_folds_leaves_the_points_without_errors() {
    let flag = AtomicBool::new(false);
    let (trainer, corpus) = interruptible(&flag);
    let path = PathOptions {
        count: 5,
        cross_validation: Some(CrossValidation { folds: 2, seed: 1, one_standard_error: false }),
        ..PathOptions::default()
    };
    // The path itself is a fourth of the work: it, two folds, and the path to the chosen strength.
    let mut observe = |done: f64| flag.store(done > 0.3, Ordering::Relaxed);
    let result = trainer.path(&corpus, &path, &mut observe).unwrap();
    assert!(result.interrupted && result.chosen.is_none() && result.trained.is_none());
    assert_eq!(result.points.len(), 5);
    assert!(result.points.iter().all(|point| point.error.is_none()));
}
