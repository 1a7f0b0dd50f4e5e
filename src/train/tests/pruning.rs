//! Pruning of small weights.

use super::*;

/// Records the pruning event.
#[derive(Default)]
struct PruningRecorder(Option<Pruned>);

impl Observer for PruningRecorder {
    fn pruned(&mut self, pruned: &Pruned) {
        self.0 = Some(*pruned);
    }
}

fn pruned(threshold: f64, dev: Option<Vec<Sentence>>) -> (Model, Option<Pruned>) {
    let options = changed(options(), |o| o.storage.prune = threshold);
    let mut recorder = PruningRecorder::default();
    let template = template("word\nword[-1]\nedge: word");
    let trainer = Trainer::new(options).unwrap();
    let corpora =
        TrainingCorpora { dev: dev.map(Into::into), ..TrainingCorpora::new(corpus(NAMES)) };
    let trained = trainer.train(corpora, template, &mut recorder);
    (trained.unwrap().model, recorder.0)
}

fn weights(model: &Model) -> usize {
    model.weights(AttributeKind::Node) + model.weights(AttributeKind::Edge)
}

/// The weights of all attributes of a kind, with their names.
fn all(model: &Model, kind: AttributeKind) -> Vec<(Vec<u8>, Vec<f64>)> {
    let row = |name: Vec<u8>| {
        let weights = super::weights(model, kind, &name);
        (name, weights)
    };
    names(model, kind).into_iter().map(row).collect()
}

#[test]
fn weights_below_the_threshold_are_dropped_and_no_others() {
    let (full, none) = pruned(0.0, None);
    assert_eq!(none, None, "no event without a threshold");
    let (small, event) = pruned(0.02, None);
    let event = event.unwrap();
    assert!(event.after < event.before && event.after > 0, "{event:?}");
    for kind in [AttributeKind::Node, AttributeKind::Edge] {
        let mut expected = all(&full, kind);
        for (_, row) in &mut expected {
            for weight in row.iter_mut().filter(|weight| weight.abs() < 0.02) {
                *weight = 0.0;
            }
        }
        expected.retain(|(_, row)| row.iter().any(|&weight| weight != 0.0));
        assert_eq!(all(&small, kind), expected);
    }
    assert!(small.as_bytes().len() < full.as_bytes().len());
}

#[test]
fn transitions_are_not_pruned() {
    let (full, _) = pruned(0.0, None);
    let (small, event) = pruned(1e6, None);
    assert_eq!(event.unwrap().after, 0);
    assert_eq!(weights(&small), 0);
    let weights = |model: &Model| model.header().label_weights.clone();
    assert_eq!(weights(&small), weights(&full));
}

#[test]
fn with_development_data_the_event_has_the_scores_before_and_after() {
    let (_, event) = pruned(1e6, Some(corpus(NAMES)));
    let [before, after] = event.unwrap().dev.unwrap();
    assert_eq!(before, DevScore::F1(1.0));
    assert!(after.value() < 1.0, "{after:?}");
    let (_, event) = pruned(1e-9, Some(corpus(NAMES)));
    assert_eq!(event.unwrap().dev, Some([DevScore::F1(1.0); 2]));
}
