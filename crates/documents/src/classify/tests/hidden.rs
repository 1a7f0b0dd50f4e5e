//! Tests of classifiers with hidden units.

use super::super::*;
use super::changed;
use crate::{FeatureOptions, Instance};
use dropchain::model::Precision;
use dropchain::{Error, Result};

const LOSSES: [Loss; 3] = [Loss::Hinge { margin: 1.0 }, Loss::Logistic, Loss::Squared];

/// Documents whose class is not linear in their words: both or neither of two.
fn exclusive() -> Vec<Instance> {
    let mut documents = Vec::new();
    for i in 0..40 {
        for (text, class) in [("a b", "same"), ("", "same"), ("a", "other"), ("b", "other")] {
            let text = format!("{text} x{} y{}", i % 5, i % 7);
            documents.push(Instance::from_text(text).with_label(class));
        }
    }
    documents
}

fn options(loss: Loss, hidden: usize, dropout: f64) -> ClassifierOptions {
    ClassifierOptions {
        features: Some(FeatureOptions {
            words: Some("1..1".parse().unwrap()),
            ..FeatureOptions::default()
        }),
        loss: Some(loss),
        hidden,
        train: changed(ClassifierOptions::train_options(), |o| {
            o.method.noise.dropout = dropout;
            o.method.l2 = Some(0.02);
            o.precision = Precision::F64;
        }),
        ..ClassifierOptions::default()
    }
}

fn train(options: ClassifierOptions, documents: Vec<Instance>) -> Result<Classifier> {
    let trainer = ClassifierTrainer::new(options)?;
    let corpus = trainer.corpus(documents)?;
    Ok(trainer.train(&corpus, None, &mut ())?.classifier)
}

fn accuracy(classifier: &Classifier, documents: &[Instance]) -> f64 {
    let is_right = |document: &&Instance| {
        let best = classifier.classify(document).unwrap().best();
        Some(&classifier.classes()[best]) == document.label.as_ref()
    };
    documents.iter().filter(is_right).count() as f64 / documents.len() as f64
}

#[test]
fn hidden_units_learn_what_is_not_linear() {
    for loss in LOSSES {
        let [linear, hidden] = [0, 4].map(|units| {
            let classifier = train(options(loss, units, 0.0), exclusive()).unwrap();
            accuracy(&classifier, &exclusive())
        });
        assert!(linear < 0.8, "{loss:?}: {linear}");
        assert!(hidden > 0.99, "{loss:?}: {hidden}");
    }
}

#[test]
fn scores_are_the_sum_over_hidden_units() {
    for loss in LOSSES {
        let classifier = train(options(loss, 3, 0.3), exclusive()).unwrap();
        assert_eq!(classifier.classes(), ["same", "other"]);
        assert_eq!(classifier.file().columns(), 3);
        let prediction = classifier.classify(&Instance::from_text("a x1")).unwrap();
        let units = classifier.hidden_units();
        let mut inputs: Vec<f64> = units.iter().map(|unit| unit.bias).collect();
        for row in classifier.file().rows() {
            let (name, weights) = row.unwrap();
            if name == b"w=a" || name == b"w=x1" {
                weights.iter().for_each(|&(k, w)| inputs[k as usize] += w);
            }
        }
        let sigmoid = |u: f64| 1.0 / (1.0 + (-u).exp());
        let terms = units.iter().zip(&inputs);
        let score = classifier.biases()[1] - classifier.biases()[0]
            + terms.map(|(unit, &u)| unit.weight * sigmoid(u)).sum::<f64>();
        assert!((prediction.scores[1] - 0.5 * score).abs() < 1e-9);
        assert!((prediction.scores[0] + 0.5 * score).abs() < 1e-9);
        assert!((prediction.probabilities[1] - sigmoid(score)).abs() < 1e-9);
        assert!((prediction.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn three_classes_have_units_of_their_own() {
    let documents = super::documents();
    let options = ClassifierOptions {
        features: Some(FeatureOptions::default()),
        ..options(Loss::Logistic, 2, 0.3)
    };
    let classifier = train(options, documents.clone()).unwrap();
    assert_eq!(classifier.classes().len(), 3);
    assert_eq!(classifier.header().multiclass, Multiclass::OneVsRest);
    let units = classifier.hidden_units();
    let classes: Vec<&str> = units.iter().map(|unit| unit.class).collect();
    let expected = classifier.classes().iter().flat_map(|class| [class, class]);
    assert_eq!(classes, expected.collect::<Vec<_>>());
    assert!(accuracy(&classifier, &documents) > 0.9);
    let prediction = classifier.classify(&documents[0]).unwrap();
    assert!((prediction.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn the_seed_decides_where_hidden_units_start() {
    let model = |seed: u64| {
        let mut options = options(Loss::Logistic, 3, 0.3);
        options.train.seed = seed;
        train(options, exclusive()).unwrap()
    };
    assert_eq!(model(1).file().as_bytes(), model(1).file().as_bytes());
    assert_ne!(model(1).file().as_bytes(), model(2).file().as_bytes());
}

#[test]
fn development_documents_choose_the_iteration_of_hidden_units() {
    let trainer = ClassifierTrainer::new(options(Loss::Logistic, 4, 0.0)).unwrap();
    let corpus = trainer.corpus(exclusive()).unwrap();
    let trained = trainer.train(&corpus, Some(&corpus), &mut ()).unwrap();
    let end = &trained.ends[0];
    let classifier = trained.classifier;
    let accuracy = accuracy(&classifier, &exclusive());
    assert_eq!(end.dev.unwrap().value(), accuracy);
    assert!(accuracy > 0.99, "{accuracy}");
}

#[test]
fn what_does_not_fit_hidden_units_is_an_error() {
    let fault = |options: ClassifierOptions| match train(options, exclusive()) {
        Err(Error::Parameter(message)) => message,
        other => panic!("{other:?}"),
    };
    let mut without_loss = options(Loss::Logistic, 4, 0.0);
    without_loss.loss = None;
    assert!(fault(without_loss).contains("4 hidden units without a loss"));
    let many = fault(options(Loss::Logistic, 257, 0.0));
    assert!(many.contains("257 hidden units; expected at most 256"), "{many}");
    let mut without_boundary = options(Loss::Logistic, 2, 0.0);
    without_boundary.train.boundary = dropchain::score::Boundary::Off;
    assert!(fault(without_boundary).contains("--boundary on"));
}

#[test]
fn an_output_layer_that_does_not_fit_is_an_error() {
    use super::super::header::ClassifierParts;

    let classifier = train(options(Loss::Logistic, 2, 0.0), exclusive()).unwrap();
    let changes: [fn(&mut ClassifierHeader); 3] = [
        |header| header.outputs.as_mut().unwrap().0[0].weights.push(1.5),
        |header| header.classes.truncate(1),
        |header| header.outputs = Some(OutputLayer::default()),
    ];
    for change in changes {
        let mut parts =
            ClassifierParts::of_file(classifier.header().clone(), classifier.file()).unwrap();
        change(&mut parts.header);
        let error = Classifier::from_bytes(parts.encode().unwrap()).unwrap_err().to_string();
        assert!(error.contains("do not fit its classes"), "{error}");
    }
}
