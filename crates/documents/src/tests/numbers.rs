//! Regressions.

use super::*;
use dropchain::kernel::optim::StopReason;
use dropchain::kernel::random::uniform;

const LOSSES: [Loss; 3] = [Loss::Squared, Loss::Poisson, Loss::Insensitive { epsilon: 0.3 }];

/// `count` sparse documents of `features` features, the third of which is constant, with counts
/// that depend on some of them.
fn documents(count: u64, features: u64) -> Vec<Instance> {
    let document = |n: u64| {
        let value = |j: u64| match (uniform(7, n * features + j), j) {
            (_, 2) => 1.5,
            (u, _) if u < 0.4 => 2.0 * u + j as f64 / 7.0,
            _ => 0.0,
        };
        let score: f64 = (0..features).map(|j| value(j) / (j + 2) as f64).sum();
        let y = (score + uniform(11, n)).floor();
        let entries = (0..features).map(|j| (format!("f{j}"), value(j)));
        Instance::from_features(entries.filter(|(_, x)| *x != 0.0)).with_label(y.to_string())
    };
    (0..count).map(document).collect()
}

fn options(loss: Loss, l2: f64, l1: f64) -> DocumentOptions {
    let mut options = DocumentOptions::numbers();
    options.loss = loss;
    (options.strengths.l2, options.strengths.l1) = (Some(l2), l1);
    options.learning.tolerance = Some(1e-13);
    options
}

/// The objective by its definition; `w` are weights by name, with the bias.
fn objective(
    documents: &[Instance],
    (w, bias): (&std::collections::BTreeMap<String, f64>, f64),
    options: &DocumentOptions,
) -> f64 {
    let rate = options.dropout() / (1.0 - options.dropout());
    let losses = documents.iter().map(|document| {
        let InstanceContent::Features(features) = &document.content else { unreachable!() };
        let y: f64 = document.label.as_ref().unwrap().parse().unwrap();
        let products = features.iter().map(|(name, x)| x * w.get(name).unwrap_or(&0.0));
        let f = bias + products.clone().sum::<f64>();
        let variance = rate * products.map(|x| x * x).sum::<f64>();
        match options.loss {
            Loss::Poisson => f.exp() * (1.0 + 0.5 * variance) - y * f,
            Loss::Insensitive { epsilon } => ((y - f).abs() - epsilon).max(0.0),
            _ => (y - f).powi(2) + variance,
        }
    });
    let (l2, l1) = (options.l2(), options.strengths.l1);
    losses.sum::<f64>() + w.values().map(|w| l2 * w * w + l1 * w.abs()).sum::<f64>()
}

#[test]
fn no_weight_nearby_has_a_lower_objective() {
    for (count, features) in [(40, 6), (12, 30)] {
        let documents = documents(count, features);
        for loss in LOSSES {
            for (dropout, l1) in [(0.0, 0.0), (0.4, 0.0), (0.0, 1.0), (0.4, 1.0)] {
                if matches!(loss, Loss::Insensitive { .. }) && dropout > 0.0 {
                    continue; // a bound, which has tests of its own
                }
                let mut options = options(loss, 0.2, l1);
                options.strengths.dropout = Some(dropout);
                let trained = train(documents.clone(), &options).unwrap();
                let (w, bias) = (weights(&trained.model), trained.model.biases()[0]);
                let lowest = objective(&documents, (&w, bias), &options);
                let what = format!("{loss:?} {dropout} {l1} {features}");
                // The weights of a model have single precision.
                let found = trained.end.objective;
                assert!(
                    (found - lowest).abs() < 1e-6 * lowest.abs().max(1.0),
                    "{what}: {found} {lowest}"
                );
                let names: Vec<String> = (0..features).map(|j| format!("f{j}")).collect();
                for h in [1e-3, -1e-3] {
                    let other = objective(&documents, (&w, bias + h), &options);
                    assert!(other > lowest - 1e-6 * lowest.abs().max(1.0), "{what}");
                    for name in &names {
                        let mut w = w.clone();
                        *w.entry(name.clone()).or_insert(0.0) += h;
                        let other = objective(&documents, (&w, bias), &options);
                        assert!(other > lowest - 1e-6 * lowest.abs().max(1.0), "{what} {name}");
                    }
                }
            }
        }
    }
}

#[test]
fn standardized_penalties_do_not_depend_on_units() {
    let documents = documents(50, 7);
    let scaled: Vec<Instance> = documents
        .iter()
        .map(|document| {
            let InstanceContent::Features(features) = &document.content else { unreachable!() };
            let entries = features.iter().map(|(name, x)| (name.clone(), 100.0 * x));
            Instance::from_features(entries).with_label(document.label.clone().unwrap())
        })
        .collect();
    for l1 in [0.0, 5.0] {
        let mut options = options(Loss::Squared, 2.0, l1);
        options.learning.standardize = true;
        let [plain, scaled] =
            [&documents, &scaled].map(|d| weights(&train(d.clone(), &options).unwrap().model));
        for (name, a) in &plain {
            let b = 100.0 * scaled[name];
            assert!((a - b).abs() < 1e-5, "{name}: {a} {b}");
        }
    }
}

#[test]
fn minima_that_are_not_unique_and_exact_fits_are_found() {
    let dependent: Vec<Instance> = (0..6)
        .map(|i| {
            let x = f64::from(i);
            Instance::from_features([("a", x), ("b", 2.0 * x)]).with_label(x.to_string())
        })
        .collect();
    let model = train(dependent.clone(), &options(Loss::Squared, 0.0, 0.0)).unwrap().model;
    assert!((model.predict(&dependent[4]).unwrap() - 4.0).abs() < 1e-3);
    let trained = train(documents(6, 30), &options(Loss::Squared, 0.0, 0.0)).unwrap();
    assert_ne!(trained.end.reason, StopReason::LineSearch);
    assert!(trained.end.objective < 1e-8, "{}", trained.end.objective);
}

#[test]
fn models_have_the_same_bits_for_any_number_of_threads() {
    let documents = documents(700, 40);
    for (loss, l1) in LOSSES.into_iter().flat_map(|loss| [(loss, 0.0), (loss, 2.0)]) {
        let mut options = options(loss, 1e-3, l1);
        options.learning.max_iterations = Some(30);
        let run = |threads| in_pool(threads, || train(documents.clone(), &options).unwrap().model);
        assert!(run(1).as_bytes() == run(3).as_bytes(), "{loss:?} {l1}");
    }
}

#[test]
fn limits_and_observers_end_training() {
    for loss in LOSSES {
        let mut options = options(loss, 1e-3, 0.0);
        (options.learning.max_iterations, options.learning.tolerance) = (Some(1), Some(0.0));
        let trained = train(documents(80, 9), &options).unwrap();
        assert_eq!(trained.end.reason, StopReason::MaxIterations, "{loss:?}");
        options.learning.max_iterations = None;
        let trainer = DocumentTrainer::new(options).unwrap();
        let corpus = corpus(documents(80, 9), &trainer);
        let trained = trainer.train(&corpus, None, &mut |event| match event {
            Event::Iteration(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let end = trained.unwrap().end;
        assert_eq!((end.reason, end.iterations), (StopReason::Interrupted, 0), "{loss:?}");
    }
}

#[test]
fn what_cannot_be_trained_on_is_an_error() {
    let features = |x: f64| Instance::from_features([("x", x)]);
    let cases = [
        (Loss::Squared, vec![], "there are no documents"),
        (Loss::Squared, vec![features(1.0).with_label("a")], "found 'a'; expected a number"),
        (Loss::Squared, vec![features(1.0).with_label("nan")], "found 'nan'"),
        (Loss::Squared, vec![features(1e31).with_label("1")], "the feature x has the value 1000"),
        (Loss::Poisson, vec![features(1.0).with_label("-1")], "found -1; expected a number that"),
        (Loss::Poisson, vec![features(1.0).with_label("0")], "all numbers to predict are 0"),
        (Loss::Squared, vec![Instance::from_text("a").with_label("1")], "found a text"),
    ];
    for (loss, documents, expected) in cases {
        let message = train(documents, &options(loss, 1.0, 0.0)).unwrap_err().to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    }
}
