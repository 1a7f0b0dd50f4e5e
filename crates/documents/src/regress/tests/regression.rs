//! Tests of training, predictions and models.

use super::{documents, options, train};
use crate::classify::Classifier;
use crate::regress::*;
use crate::{FeatureOptions, Instance};
use dropchain::MemoryLimit;

const SVR: RegressionLoss = RegressionLoss::Insensitive { epsilon: 0.1 };

#[test]
fn lines_are_found_and_wild_numbers_move_least_squares_alone() {
    let point = Instance::from_features([("a", 0.5), ("b", 0.25), ("unknown", 9.0)]);
    let predict = |loss, wild| {
        let trained = train(documents(wild), &RegressionOptions { loss, ..options() });
        trained.regression.predict(&point).unwrap()
    };
    let squared = RegressionLoss::Squared;
    for (loss, wild) in [(SVR, false), (SVR, true), (squared, false)] {
        let found = predict(loss, wild);
        assert!((found - 3.75).abs() < 0.1, "{loss:?} {wild}: {found}");
    }
    assert!((predict(squared, true) - 3.75).abs() > 1.0);
}

#[test]
fn noise_shrinks_the_weights_of_all_losses() {
    let norm = |loss, noise| {
        let options = RegressionOptions { loss, noise, ..options() };
        let weights = train(documents(false), &options).regression.weights();
        weights.unwrap().iter().map(|(_, w)| w * w).sum::<f64>()
    };
    for loss in [SVR, RegressionLoss::Squared, RegressionLoss::Poisson] {
        let plain = norm(loss, FeatureNoise::None);
        for noise in
            [FeatureNoise::Dropout(0.8), FeatureNoise::Gaussian(4.0), FeatureNoise::Additive(1.0)]
        {
            let noisy = norm(loss, noise);
            let range = 0.0..0.8 * plain;
            assert!(range.contains(&noisy) && noisy > 0.0, "{loss} {noise:?}");
        }
    }
}

#[test]
fn models_come_back_from_their_bytes() {
    for loss in [SVR, RegressionLoss::Squared, RegressionLoss::Poisson] {
        let trained = train(documents(false), &RegressionOptions { loss, ..options() });
        let regression = trained.regression;
        let bytes = regression.file().as_bytes().to_vec();
        let copy = Regression::from_bytes(bytes.clone()).unwrap();
        assert_eq!(copy.header(), regression.header());
        assert_eq!(copy.header().loss, loss);
        assert_eq!(copy.weights().unwrap(), regression.weights().unwrap());
        assert_eq!(copy.header().options["l2"], 1e-3);
        let point = Instance::from_features([("a", 0.5)]);
        let [a, b] = [&copy, &regression].map(|r| r.predict(&point).unwrap());
        assert_eq!(a.to_bits(), b.to_bits());
        let message = Classifier::from_bytes(bytes).unwrap_err().to_string();
        let expected = "a file of another kind (it begins with DROPREG, not DROPCLS)";
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn texts_have_the_features_of_classifiers() {
    let options = RegressionOptions {
        features: Some(FeatureOptions::default()),
        l2: 0.01,
        ..RegressionOptions::default()
    };
    let texts = [("good film", "5"), ("bad film", "1"), ("good", "5"), ("bad", "1")];
    let documents = texts.map(|(text, y)| Instance::from_text(text).with_label(y));
    let regression = train(documents.to_vec(), &options).regression;
    let y = |text| regression.predict(&Instance::from_text(text)).unwrap();
    let found = [y("Good"), y("bad")];
    assert!(found[0] > 4.0 && found[1] < 2.0, "{found:?}");
    let features = Instance::from_features([("a", 1.0)]);
    assert!(regression.predict(&features).is_err());
}

#[test]
fn what_cannot_be_trained_on_is_an_error() {
    let error = |documents: Vec<Instance>, options: &RegressionOptions| {
        let trained = Regression::train(documents.into_iter().map(Ok), options);
        trained.unwrap_err().to_string()
    };
    let document = |label: &str| Instance::from_features([("a", 1.0)]).with_label(label);
    let good = options();
    for label in ["x", "nan", "inf", "1e31", ""] {
        let message = error(vec![document(label)], &good);
        assert!(message.contains("expected a number"), "{message}");
    }
    assert!(error(vec![], &good).contains("no documents"));
    let huge = Instance::from_features([("a", 1e31)]).with_label("1");
    assert!(error(vec![huge], &good).contains("the feature a has the value"));
    let poisson = RegressionOptions { loss: RegressionLoss::Poisson, ..options() };
    assert!(error(vec![document("-1")], &poisson).contains("not negative, for the poisson"));
    assert!(error(vec![document("0")], &poisson).contains("all numbers to predict are 0"));
}

#[test]
fn options_that_do_not_fit_are_named() {
    type Change = fn(&mut RegressionOptions);
    let cases: [(Change, &str); 11] = [
        (|o| o.noise = FeatureNoise::Dropout(1.0), "noise of 1; expected a dropout rate"),
        (|o| o.noise = FeatureNoise::Additive(-1.0), "noise of -1; expected a finite variance"),
        (|o| o.loss = RegressionLoss::Insensitive { epsilon: -1.0 }, "epsilon -1"),
        (|o| o.l2 = f64::NAN, "L2 strength NaN"),
        (|o| o.l1 = -1.0, "L1 strength -1"),
        (|o| o.tolerance = f64::INFINITY, "tolerance inf"),
        (|o| o.memory = MemoryLimit::Bytes(100), "memory"),
        (
            |o| (o.l1, o.loss) = (1.0, SVR),
            "an L1 strength with the insensitive loss and an L1 penalty; expected squared",
        ),
        (
            |o| (o.l1, o.solver) = (1.0, Solver::Cholesky),
            "Cholesky factorization with the squared loss and an L1 penalty",
        ),
        (
            |o| o.solver = Solver::CoordinateDescent,
            "coordinate descent with the squared loss; expected",
        ),
        (
            |o| (o.loss, o.solver) = (SVR, Solver::Lbfgs),
            "a solver with the insensitive loss; expected no choice",
        ),
    ];
    for (change, expected) in cases {
        let mut changed = options();
        change(&mut changed);
        let trained = Regression::train(documents(false).into_iter().map(Ok), &changed);
        let message = trained.unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    }
}
