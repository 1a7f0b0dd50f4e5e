//! L2 strengths by how informative a feature is alone.

use std::sync::Arc;

use dropchain::train::{AttributeCorpus, BaseModels, ExtractedCorpora, TrainSettings, TrainingSet};
use dropchain_online::Sgd;

use super::super::training::DocumentPenalty;
use super::super::*;
use super::changed;

fn set(collapse: bool) -> TrainingSet {
    let mut corpus = AttributeCorpus::new();
    for (name, label) in [("a", "X"), ("a", "X"), ("b", "Y"), ("a", "Y"), ("c", "Y")] {
        corpus.push_sentence([[name]], [label]).unwrap();
    }
    let options = changed(ClassifierOptions::train_options(), |o| {
        o.collapse = collapse;
        o.method.l2 = Some(0.5);
    });
    let settings = TrainSettings::new(options).unwrap();
    let settings = settings.with_penalty_rule(Arc::new(DocumentPenalty {
        informativeness: Some(0.1),
        penalizes_bias: true,
    }));
    let extracted =
        ExtractedCorpora::from_attributes(&corpus, None, &settings, &BaseModels::default());
    extracted.unwrap().into_training_set(&settings)
}

#[test]
fn strengths_are_divided_by_log_ratios_of_counts() {
    for collapse in [false, true] {
        let set = set(collapse);
        let penalty = set.penalty(0.5);
        let space = set.space();
        // Of a, b and c: how often they occur with X (of 2 documents) and with Y (of 3).
        for (id, [x, y]) in [[2.0, 1.0], [0.0, 1.0], [0.0, 1.0]].into_iter().enumerate() {
            let class = set.node_classes().class(id as u32) as usize;
            let ratio = ((x + 1.0) / 4.0_f64).ln() - ((y + 1.0) / 5.0_f64).ln();
            let mut labels = 0;
            space.nodes.targets.for_each(class, |_, i| {
                let strength = penalty.strength(space.nodes.range.start + i);
                assert!((strength - 0.5 / (ratio.abs() + 0.1)).abs() < 1e-12);
                labels += 1;
            });
            assert_eq!(labels, 2);
        }
        assert_eq!(penalty.strength(space.dimension() - 1), 0.5);
    }
}

#[test]
fn strengths_by_informativeness_are_those_of_batch_training() {
    let error = |change: fn(&mut ClassifierOptions)| {
        let mut options =
            ClassifierOptions { l2_informativeness: Some(0.1), ..ClassifierOptions::default() };
        change(&mut options);
        ClassifierTrainer::new(options).unwrap_err().to_string()
    };
    for change in [
        (|o: &mut ClassifierOptions| o.l2_informativeness = Some(0.0)) as fn(&mut _),
        |o| o.l2_informativeness = Some(-1.0),
        |o| o.l2_informativeness = Some(f64::NAN),
        |o| o.l2_informativeness = Some(f64::INFINITY),
    ] {
        let error = error(change);
        assert!(error.ends_with("expected a finite number above 0"), "{error}");
    }
    let message = error(|o| o.learner = Some(Arc::new(Sgd::default())));
    assert_eq!(
        message,
        "L2 strengths by informativeness with algorithm sgd; expected batch training of -log p, or \
         strengths that are all alike"
    );
}
