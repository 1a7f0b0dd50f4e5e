//! Tests of regression.

use super::super::*;
use crate::MemoryLimit;
use crate::random::uniform;
use crate::train::Loss;

const SVR: Loss = Loss::Insensitive { epsilon: 0.1 };

/// y = 3 + 2·a − b, with some features missing and a few wild numbers.
fn documents(wild: bool) -> Vec<Result<Instance, crate::Error>> {
    let document = |i: u64| {
        let [a, b, c] = [0, 1, 2].map(|k| uniform(5, 3 * i + k));
        let y = 3.0 + 2.0 * a - b + if wild && i % 20 == 0 { 100.0 } else { 0.0 };
        let features = [("a", a), ("b", b), ("c", c)];
        Ok(Instance::from_features(features).with_label(y.to_string()))
    };
    (0..100).map(document).collect()
}

fn options(loss: Loss, dropout: f64) -> RegressionOptions {
    RegressionOptions {
        loss,
        dropout,
        l2: 1e-3,
        ..RegressionOptions::default()
    }
}

#[test]
fn lines_are_found_and_wild_numbers_move_least_squares_alone() {
    let point = Instance::from_features([("a", 0.5), ("b", 0.25), ("unknown", 9.0)]);
    let predict = |loss, wild, dropout| {
        let trained = Regression::train(documents(wild), &options(loss, dropout), None);
        trained.unwrap().predict(&point).unwrap()
    };
    for (loss, wild) in [(SVR, false), (SVR, true), (Loss::Squared, false)] {
        let found = predict(loss, wild, 0.0);
        assert!((found - 3.75).abs() < 0.1, "{loss:?} {wild}: {found}");
    }
    assert!((predict(Loss::Squared, true, 0.0) - 3.75).abs() > 1.0);
}

#[test]
fn noise_shrinks_the_weights_and_models_come_back_from_json() {
    let train = |dropout| Regression::train(documents(false), &options(SVR, dropout), None);
    let [plain, noisy] = [0.0, 0.8].map(|dropout| train(dropout).unwrap());
    let norm = |r: &Regression| r.weights().values().map(|w| w * w).sum::<f64>();
    assert!(norm(&noisy) < 0.8 * norm(&plain) && norm(&noisy) > 0.0);
    let text = serde_json::to_string(&noisy).unwrap();
    let copy: Regression = serde_json::from_str(&text).unwrap();
    assert_eq!(copy, noisy);
    assert_eq!((copy.loss(), copy.bias()), (SVR, noisy.bias()));
}

#[test]
fn texts_have_the_features_of_classifiers() {
    let options = RegressionOptions {
        features: Some(FeatureOptions::default()),
        l2: 0.01,
        ..RegressionOptions::default()
    };
    let documents = [
        ("good film", "5"),
        ("bad film", "1"),
        ("good", "5"),
        ("bad", "1"),
    ];
    let documents = documents.map(|(text, y)| Ok(Instance::from_text(text).with_label(y)));
    let regression = Regression::train(documents, &options, None).unwrap();
    let y = |text| regression.predict(&Instance::from_text(text)).unwrap();
    assert!(
        y("Good") > 4.0 && y("bad") < 2.0,
        "{} {}",
        y("Good"),
        y("bad")
    );
    assert!(
        regression
            .predict(&Instance::from_features([("a", 1.0)]))
            .is_err()
    );
}

#[test]
fn what_cannot_be_trained_on_is_an_error() {
    let train = |documents: Vec<Instance>, options: &RegressionOptions| {
        let trained = Regression::train(documents.into_iter().map(Ok), options, None);
        trained.unwrap_err().to_string()
    };
    let document = |label: &str| Instance::from_features([("a", 1.0)]).with_label(label);
    let good = options(SVR, 0.0);
    for label in ["x", "nan", "inf", "1e31", ""] {
        let message = train(vec![document(label)], &good);
        assert!(message.contains("expected a number"), "{message}");
    }
    assert!(train(vec![], &good).contains("no documents"));
    let huge = Instance::from_features([("a", 1e31)]).with_label("1");
    assert!(train(vec![huge], &good).contains("the feature a has the value"));
    for (change, expected) in [
        (options(Loss::Logistic, 0.0), "is for classes"),
        (options(SVR, 1.0), "dropout 1; expected"),
        (
            options(Loss::Insensitive { epsilon: -1.0 }, 0.0),
            "epsilon -1",
        ),
        (
            RegressionOptions {
                l2: f64::NAN,
                ..good.clone()
            },
            "L2 strength NaN",
        ),
        (
            RegressionOptions {
                memory: MemoryLimit::Bytes(100),
                ..good.clone()
            },
            "memory",
        ),
    ] {
        let message = train(vec![document("1"), document("2")], &change);
        assert!(message.contains(expected), "{expected}: {message}");
    }
}
