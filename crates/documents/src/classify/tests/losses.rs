//! Tests of classifiers that are trained with a loss of y·score.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::super::*;
use super::documents;
use crate::Instance;
use dropchain::model::Precision;
use dropchain::optim::LbfgsOptions;
use dropchain::train::{Iteration, NoiseKind, Observer, ObserverError, TrainOptions};
use dropchain::{Error, Result};

const HINGE: Loss = Loss::Hinge { margin: 1.0 };

fn options(loss: Option<Loss>, dropout: f64) -> ClassifierOptions {
    ClassifierOptions {
        loss,
        train: super::changed(ClassifierOptions::train_options(), |o| {
            o.method.noise.dropout = dropout;
            o.method.l2 = Some(0.2);
            o.precision = Precision::F64;
            o.method.optimizer = LbfgsOptions {
                improvement_tolerance: 1e-12,
                gradient_tolerance: 1e-9,
                ..LbfgsOptions::default()
            };
        }),
        ..ClassifierOptions::default()
    }
}

fn changed(
    loss: Option<Loss>,
    dropout: f64,
    change: impl FnOnce(&mut TrainOptions),
) -> ClassifierOptions {
    let mut options = options(loss, dropout);
    change(&mut options.train);
    options
}

fn trainer(options: ClassifierOptions) -> Result<ClassifierTrainer<'static>> {
    ClassifierTrainer::new(options)
}

fn classifier(options: ClassifierOptions, documents: Vec<Instance>) -> Classifier {
    let trainer = trainer(options).unwrap();
    let corpus = trainer.corpus(documents).unwrap();
    trainer.train(&corpus, None, &mut ()).unwrap().classifier
}

fn two_classes() -> Vec<Instance> {
    let documents = documents().into_iter();
    documents.filter(|document| document.label.as_deref() != Some("air")).collect()
}

#[test]
fn without_noise_the_logistic_loss_gives_the_log_linear_model() {
    for boundary in [dropchain::score::Boundary::On, dropchain::score::Boundary::Off] {
        let train = |loss| changed(loss, 0.0, |o| o.boundary = boundary);
        let logistic = classifier(train(Some(Loss::Logistic)), two_classes());
        let softmax = classifier(train(None), two_classes());
        for text in ["red apple", "grey slate", "", "green sky"] {
            let document = Instance::from_text(text);
            let [a, b] = [&logistic, &softmax].map(|c| c.classify(&document).unwrap());
            for (a, b) in a.scores.iter().zip(b.scores) {
                assert!((a - b).abs() < 1e-5, "{text}: {a} {b}");
            }
        }
    }
}

#[test]
fn probabilities_are_a_logistic_function_of_the_score() {
    for loss in [HINGE, Loss::Logistic, Loss::Squared] {
        let classifier = classifier(options(Some(loss), 0.5), two_classes());
        assert_eq!(classifier.header().multiclass, Multiclass::Softmax);
        let document = Instance::from_text("red brick");
        let prediction = classifier.classify(&document).unwrap();
        let [fruit, stone] = &prediction.scores[..] else { panic!() };
        assert!((fruit + stone).abs() < 1e-12);
        let probability = 1.0 / (1.0 + (fruit - stone).exp());
        assert!((prediction.probabilities[1] - probability).abs() < 1e-12);
        assert_eq!(prediction.best(), 1, "{loss:?}");
        assert_eq!(classifier.header().loss, Some(loss));
    }
}

#[test]
fn more_classes_are_each_against_the_rest() {
    let combined = classifier(options(Some(HINGE), 0.5), documents());
    assert_eq!(combined.header().multiclass, Multiclass::OneVsRest);
    let against = documents().into_iter().map(|document| {
        let is_stone = document.label.as_deref() == Some("stone");
        document.with_label(if is_stone { "stone" } else { "other" })
    });
    let alone = classifier(options(Some(HINGE), 0.5), against.collect());
    for text in ["grey brick", "red", "", "unknown sky"] {
        let document = Instance::from_text(text);
        let score = combined.classify(&document).unwrap().scores[1];
        let prediction = alone.classify(&document).unwrap();
        let [other, stone] = &prediction.scores[..] else { panic!() };
        let difference = score - (stone - other);
        assert!(difference.abs() < 1e-4, "{text}: {difference}");
    }
}

#[test]
fn development_documents_score_all_classes_together() {
    for (loss, dropout) in [(HINGE, 0.0), (HINGE, 0.5), (Loss::Logistic, 0.3)] {
        let trainer = trainer(options(Some(loss), dropout)).unwrap();
        let corpus = trainer.corpus(documents()).unwrap();
        let texts = ["red sky", "grey brick", "green apple", "blue slate", "slate"];
        let classes = ["air", "stone", "fruit", "stone", "fruit"];
        let dev = texts.map(Instance::from_text).into_iter().zip(classes);
        let dev: Vec<Instance> = dev.map(|(text, class)| text.with_label(class)).collect();
        let dev_corpus = trainer.corpus(dev.clone()).unwrap();
        let mut seen = Objectives::default();
        let trained = trainer.train(&corpus, Some(&dev_corpus), &mut seen).unwrap();
        let [end] = &trained.ends[..] else { panic!() };
        assert_eq!(seen.scored, seen.values.len());
        let classifier = trained.classifier;
        let right = dev.iter().filter(|document| {
            let prediction = classifier.classify(document).unwrap();
            Some(&*classifier.classes()[prediction.best()]) == document.label.as_deref()
        });
        let accuracy = right.count() as f64 / dev.len() as f64;
        assert_eq!(end.dev.unwrap().value(), accuracy, "{loss:?}");
    }
}

/// Keeps the last iteration.
#[derive(Default)]
struct Last(Option<Iteration>);

impl Observer for Last {
    fn iteration(
        &mut self,
        iteration: &Iteration,
    ) -> std::result::Result<ControlFlow<()>, ObserverError> {
        self.0 = Some(iteration.clone());
        Ok(ControlFlow::Continue(()))
    }
}

#[test]
fn what_is_told_of_an_iteration_is_that_of_all_classes() {
    for (loss, dropout) in [(HINGE, 0.5), (Loss::Logistic, 0.0), (Loss::Squared, 0.3)] {
        let options = ClassifierOptions {
            penalizes_bias: true, // of the same evaluations for a class and its rest
            ..options(Some(loss), dropout)
        };
        let trainer = trainer(options).unwrap();
        let last = |documents: Vec<Instance>| {
            let corpus = trainer.corpus(documents).unwrap();
            let mut last = Last::default();
            trainer.train(&corpus, None, &mut last).unwrap();
            last.0.unwrap()
        };
        let all = last(documents());
        let apart = ["fruit", "stone", "air"].map(|class| {
            let against = documents().into_iter().map(|document| {
                let is_own = document.label.as_deref() == Some(class);
                document.with_label(if is_own { "own" } else { "other" })
            });
            last(against.collect())
        });
        let sum = |field: fn(&Iteration) -> f64| apart.iter().map(field).sum::<f64>();
        let is_close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
        assert!(is_close(all.objective, sum(|i| i.objective)), "{loss:?}");
        assert!(is_close(all.noise, sum(|i| i.noise)), "{loss:?}");
        assert!((all.noise > 0.0) == (dropout > 0.0), "{loss:?}");
        assert_eq!(all.evaluations as f64, sum(|i| i.evaluations as f64));
        let numbers = apart.iter().map(|iteration| iteration.number);
        assert_eq!(Some(all.number), numbers.max());
        // The gradients of two classes are ±∂J/∂w.
        let norm = (0.5 * sum(|i| i.gradient_norm * i.gradient_norm)).sqrt();
        assert!(is_close(all.gradient_norm, norm), "{loss:?}");
    }
}

#[test]
fn all_classes_stop_after_the_same_number_of_iterations() {
    let train = changed(Some(HINGE), 0.5, |o| o.max_iterations = Some(2));
    let trainer = trainer(train).unwrap();
    let corpus = trainer.corpus(documents()).unwrap();
    let trained = trainer.train(&corpus, None, &mut ()).unwrap();
    let [end] = &trained.ends[..] else { panic!() };
    assert_eq!((end.iterations, end.reason.name()), (2, "max_iterations"));
    let mut stopped = Objectives { stop_at: Some(1), ..Objectives::default() };
    let trained = trainer.train(&corpus, None, &mut stopped).unwrap();
    let [end] = &trained.ends[..] else { panic!() };
    assert_eq!((end.iterations, end.reason.name()), (1, "interrupted"));
}

#[test]
fn many_classes_have_all_weights() {
    let documents = (0..300).map(|i| {
        let text = format!("w{i} v{}", i % 7);
        Instance::from_text(&text).with_label(format!("c{i}"))
    });
    let documents: Vec<Instance> = documents.collect();
    let classifier = classifier(options(Some(Loss::Squared), 0.1), documents.clone());
    for document in documents.iter().step_by(50) {
        let prediction = classifier.classify(document).unwrap();
        let class = &*classifier.classes()[prediction.best()];
        assert_eq!(Some(class), document.label.as_deref());
    }
}

#[test]
fn collapsed_features_and_single_ones_have_the_same_minimum() {
    for noise in [NoiseKind::Dropout, NoiseKind::Gaussian, NoiseKind::Additive] {
        let train = |collapse| {
            changed(Some(HINGE), 0.4, |o| {
                (o.collapse, o.method.noise.kind) = (collapse, noise);
            })
        };
        let [collapsed, single] = [true, false].map(|c| classifier(train(c), two_classes()));
        for text in ["red apple", "green slate", ""] {
            let document = Instance::from_text(text);
            let [a, b] = [&collapsed, &single].map(|c| c.classify(&document).unwrap());
            let difference = a.scores[0] - b.scores[0];
            assert!(difference.abs() < 1e-4, "{noise:?} {text}: {difference}");
        }
    }
}

/// Records objectives.
#[derive(Default)]
struct Objectives {
    values: Vec<f64>,
    scored: usize,
    stop_at: Option<usize>,
}

impl Observer for Objectives {
    fn iteration(
        &mut self,
        iteration: &Iteration,
    ) -> std::result::Result<ControlFlow<()>, ObserverError> {
        let terms = iteration.noise + iteration.l2;
        assert!(terms <= iteration.objective * (1.0 + 1e-12));
        self.values.push(iteration.objective);
        self.scored += usize::from(iteration.dev.is_some());
        Ok(match self.stop_at == Some(iteration.number) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}

#[test]
fn the_bound_falls_and_development_documents_choose_the_iteration() {
    let trainer = trainer(options(Some(HINGE), 0.5)).unwrap();
    let corpus = trainer.corpus(two_classes()).unwrap();
    let mut seen = Objectives::default();
    let trained = trainer.train(&corpus, Some(&corpus), &mut seen).unwrap();
    assert!(seen.values.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-13)));
    assert!(seen.values.len() > 3 && seen.scored == seen.values.len());
    let end = &trained.ends[0];
    assert!(end.dev.is_some() && end.best_iteration <= end.iterations);
    let mut stopped = Objectives { stop_at: Some(2), ..Objectives::default() };
    let trained = trainer.train(&corpus, None, &mut stopped).unwrap();
    assert_eq!((trained.ends[0].iterations, stopped.values.len()), (2, 3));
    assert!(trained.ends[0].has_result());
}

#[test]
fn options_that_do_not_fit_are_named() {
    type Change = fn(&mut ClassifierOptions);
    let error = |change: Change| {
        let mut train = options(Some(HINGE), 0.5);
        change(&mut train);
        trainer(train).unwrap_err().to_string()
    };
    let cases: [(Change, &str); 9] = [
        (|o| o.train.method.l1 = 1.0, "the hinge loss with an L1 penalty; expected --l1 0"),
        (
            |o| {
                o.train.method.noise.kind = NoiseKind::MonteCarlo;
                o.train.method.noise.sampler = Some(dropchain_online::SAMPLER);
            },
            "with noise of this kind",
        ),
        (|o| o.train.method.noise.edge_dropout = None, "with noise on the bias"),
        (|o| o.train.method.warm_up = Some(5), "with a warm-up"),
        (|o| o.train.states = Some(dropchain::train::States::Observed), "--states all"),
        (
            |o| o.learner = Some(Arc::new(dropchain_online::Sgd::default())),
            "with --algorithm sgd; expected --algorithm lbfgs",
        ),
        (|o| o.train.method.optimizer.max_line_search = 3, "with a line search"),
        (|o| o.loss = Some(Loss::Hinge { margin: 0.0 }), "margin 0; expected"),
        (
            |o| o.loss = Some(Loss::Insensitive { epsilon: 0.1 }),
            "the insensitive loss is for numbers",
        ),
    ];
    for (change, expected) in cases {
        let message = error(change);
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn data_that_do_not_fit_are_told() {
    let trainer = trainer(options(Some(HINGE), 0.5)).unwrap();
    let train = |documents: Vec<Instance>| -> Error {
        let corpus = trainer.corpus(documents).unwrap();
        trainer.train(&corpus, None, &mut ()).unwrap_err()
    };
    let one = vec![Instance::from_text("x").with_label("a")];
    let message = train(one).to_string();
    assert!(message.contains("expected two classes"), "{message}");
    let mut unlabeled = two_classes();
    unlabeled.push(Instance::from_text("x"));
    let message = train(unlabeled).to_string();
    let expected = "the hinge loss with unlabeled documents; expected labeled ones";
    assert!(message.contains(expected), "{message}");
    // Documents without features have the bias alone.
    let empty = ["a", "b", "b"].map(|class| Instance::from_text("").with_label(class));
    let classifier = classifier(options(Some(HINGE), 0.5), empty.to_vec());
    let prediction = classifier.classify(&Instance::from_text("")).unwrap();
    assert_eq!(classifier.classes()[prediction.best()], "b");
}

#[test]
fn values_as_large_as_they_may_be_train_or_fail_with_an_error() {
    let options = ClassifierOptions { features: None, ..options(Some(HINGE), 0.5) };
    let trainer = ClassifierTrainer::new(options).unwrap();
    let documents = [("a", 1e30), ("b", -1e30), ("b", 1.0)];
    let documents =
        documents.map(|(class, x)| Instance::from_features([("1", x)]).with_label(class));
    let corpus = trainer.corpus(documents).unwrap();
    if let Ok(trained) = trainer.train(&corpus, None, &mut ()) {
        let classifier = trained.classifier;
        let prediction = classifier.classify(&Instance::from_features([("1", 1.0)])).unwrap();
        assert!(prediction.scores.iter().all(|score| score.is_finite()));
    }
}
