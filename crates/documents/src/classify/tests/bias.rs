//! The bias, which has no penalty unless it is asked for.

use dropchain_online::Sgd;

use super::super::*;
use super::changed;
use crate::Instance;
use dropchain::train::Lbfgs;

/// Nine documents of ten are of one class, and their words say nothing of it.
fn documents() -> Vec<Instance> {
    let document = |i: usize| {
        let class = if i.is_multiple_of(10) { "rare" } else { "common" };
        Instance::from_text(["a b", "b c", "c a"][i / 10 % 3]).with_label(class)
    };
    (0..300).map(document).collect()
}

/// The probability of the common class for documents without words, with a strong penalty.
fn common(options: ClassifierOptions) -> f64 {
    let train = changed(options.train, |o| {
        o.method.noise.dropout = 0.0;
        o.method.l2 = Some(1000.0);
    });
    let trainer = ClassifierTrainer::new(ClassifierOptions { train, ..options }).unwrap();
    let corpus = trainer.corpus(documents()).unwrap();
    let classifier = trainer.train(&corpus, None, &mut ()).unwrap().classifier;
    let prediction = classifier.classify(&Instance::from_text("")).unwrap();
    let common = classifier.classes().iter().position(|c| c == "common");
    prediction.probabilities[common.unwrap()]
}

#[test]
fn the_shares_of_classes_do_not_depend_on_the_penalty() {
    let options = ClassifierOptions::default;
    for penalizes_bias in [false, true] {
        let of_loss =
            |loss, hidden| common(ClassifierOptions { loss, hidden, penalizes_bias, ..options() });
        for (loss, hidden) in [(None, 0), (Some(Loss::Logistic), 0), (Some(Loss::Logistic), 2)] {
            let share = of_loss(loss, hidden);
            let expected = if penalizes_bias { 0.5..0.6 } else { 0.899..0.901 };
            assert!(expected.contains(&share), "{loss:?} {hidden}: {share}");
        }
        // The scores of the other losses: the margin, and the mean of y = ±1.
        for (loss, score) in [(Loss::Hinge { margin: 1.0 }, 1.0), (Loss::Squared, 0.8_f64)] {
            let share = of_loss(Some(loss), 0);
            let expected = if penalizes_bias {
                0.5..0.62
            } else {
                let share = 1.0 / (1.0 + (-score).exp());
                share - 2e-3..share + 2e-3
            };
            assert!(expected.contains(&share), "{loss:?}: {share}");
        }
    }
}

#[test]
fn an_l1_penalty_leaves_the_bias_free() {
    let mut options = ClassifierOptions::default();
    options.train.method = Lbfgs { l1: 1000.0, ..options.train.method };
    let share = common(options);
    assert!((0.899..0.901).contains(&share), "{share}");
}

#[test]
fn stochastic_gradient_descent_learns_from_few_documents() {
    let options = ClassifierOptions {
        train: changed(ClassifierOptions::train_options(), |o| {
            o.method.noise.dropout = 0.0;
            o.method.l2 = Some(0.01);
        }),
        learner: Some(Sgd::default().into()),
        ..ClassifierOptions::default()
    };
    let documents = [("good film", "pos"), ("bad film", "neg")];
    let documents = documents.map(|(text, class)| Instance::from_text(text).with_label(class));
    let trainer = ClassifierTrainer::new(options).unwrap();
    let corpus = trainer.corpus(documents.clone()).unwrap();
    let classifier = trainer.train(&corpus, None, &mut ()).unwrap().classifier;
    for document in &documents {
        let prediction = classifier.classify(document).unwrap();
        let best = prediction.best();
        assert_eq!(Some(&classifier.classes()[best]), document.label.as_ref());
        let probability = prediction.probabilities[best];
        assert!(probability > 0.7, "{probability}");
    }
}
