//! Training with and without collapsing gives the same model.

use super::*;
use crate::chain::Order;
use crate::math::assert_close;
use crate::score::States;
use crate::tag::Tagger;

/// Trains with and without collapsing and compares weights, objectives and predicted labels.
#[track_caller]
fn assert_same(options: &TrainOptions, sentences: &[Sentence], source: Option<&str>) {
    let train = |collapse: bool| {
        let options = changed(options.clone(), |o| o.attributes.collapse = collapse);
        let mut recorder = Recorder::default();
        let trainer = Trainer::new(options).unwrap();
        let trained = trainer.train(sentences.to_vec(), source.map(template), &mut recorder);
        (trained.unwrap().model, recorder)
    };
    let ((separate, one), (collapsed, other)) = (train(false), train(true));
    assert_eq!(one.attributes[0], one.attributes[1]);
    assert_eq!(one.attributes[0], other.attributes[0]);
    assert!(other.attributes[1] < other.attributes[0]);
    assert_eq!(one.iterations.len(), other.iterations.len());
    for (x, y) in one.iterations.iter().zip(&other.iterations) {
        // Equal up to the rounding of the L-BFGS history.
        assert_close(y.objective, x.objective, 1e-6);
        assert_close(y.terms.l1, x.terms.l1, 1e-6);
        assert_close(y.optimizer.gradient_norm, x.optimizer.gradient_norm, 1e-4);
    }
    for kind in [AttributeKind::Node, AttributeKind::Edge] {
        for name in names(&separate, kind).iter().chain(&names(&collapsed, kind)) {
            let expected = weights(&separate, kind, name);
            for (found, expected) in weights(&collapsed, kind, name).iter().zip(&expected) {
                assert_close(*found, *expected, 1e-5);
            }
        }
    }
    let [separate, collapsed] = [separate, collapsed].map(Tagger::new);
    for sentence in sentences {
        let labels = |tagger: &Tagger| {
            let tagging = tagger.tag(sentence);
            tagging.unwrap().labels
        };
        assert_eq!(labels(&separate), labels(&collapsed));
    }
}

/// Enough iterations to converge.
fn options(l2: f64, l1: f64) -> TrainOptions {
    changed(super::options(), |o| {
        o.method.l2 = Some(l2);
        o.method.l1 = l1;
        o.max_iterations = Some(25);
    })
}

const PENALTIES: [(f64, f64); 3] = [(0.2, 0.0), (0.0, 0.1), (0.1, 0.05)];

/// Attributes with equal and with different values.
const VALUES: &str = "\
A x:0.5,y:0.5,z:-1;B u:2;A x:0.5,y:0.5
B u:2,v:2,z:0.25;A x:1.5,y:1.5
A z:1;A x:-0.5,y:-0.5;B v:1,w:1
B w:1,v:1;B u:0.5";

#[test]
fn the_model_is_the_same_under_every_penalty() {
    let sources =
        ["word\nword[-1]\nsuffix(2)\nshape", "word\nedge: word\nedge: suffix(2)\nedge: word[-1]"];
    for (l2, l1) in PENALTIES {
        let options = options(l2, l1);
        sources.iter().for_each(|source| assert_same(&options, &corpus(NAMES), Some(source)));
        assert_same(&options, &given(VALUES), None);
    }
}

#[test]
fn the_model_is_the_same_with_observed_states_and_at_order_zero() {
    let source = "word\nsuffix(2)\nedge: word";
    let observed = changed(options(0.1, 0.0), |o| o.structure.states = Some(States::Observed));
    assert_same(&observed, &corpus(NAMES), Some(source));
    let zero = changed(options(0.1, 0.0), |o| o.structure.order = Order::Zero);
    assert_same(&zero, &corpus(NAMES), Some(source));
}
