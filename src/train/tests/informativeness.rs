//! L2 strengths by how informative an attribute is alone.

use super::*;
use crate::chain::Order;
use crate::math::assert_close;
use crate::online::{Algorithm, SgdOptions};

#[test]
fn strengths_are_divided_by_log_ratios_of_counts() {
    for collapse in [false, true] {
        let mut options = options();
        (options.order, options.l2, options.collapse) = (Order::Zero, Some(0.5), collapse);
        options.l2_informativeness = Some(0.1);
        let settings = TrainSettings::new(options).unwrap();
        let corpus = corpus("a/X\na/X\nb/Y\na/Y\nc/Y\n");
        let set = TrainingSet::new(corpus, template("word l2*=2\n"), &settings).unwrap();
        let penalty = set.penalty(0.5);
        let space = set.space();
        // Of a, b and c: how often they occur with X (of 2 tokens) and with Y (of 3).
        for (id, [x, y]) in [[2.0, 1.0], [0.0, 1.0], [0.0, 1.0]].into_iter().enumerate() {
            let class = set.node_classes.class(id as u32) as usize;
            let ratio = ((x + 1.0) / 4.0_f64).ln() - ((y + 1.0) / 5.0_f64).ln();
            let mut labels = 0;
            space.nodes.targets.for_each(class, |_, i| {
                let strength = penalty.strength(space.nodes.range.start + i);
                assert_close(strength, 1.0 / (ratio.abs() + 0.1), 1e-12);
                labels += 1;
            });
            assert_eq!(labels, 2);
        }
        assert_eq!(penalty.strength(space.dimension() - 1), 0.5);
    }
}

#[test]
fn strengths_by_informativeness_are_those_of_batch_training() {
    let error = |change: fn(&mut TrainOptions)| {
        let mut options = options();
        options.l2_informativeness = Some(0.1);
        change(&mut options);
        TrainSettings::new(options).unwrap_err().to_string()
    };
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut options = options();
        options.l2_informativeness = Some(epsilon);
        let error = TrainSettings::new(options).unwrap_err().to_string();
        assert!(
            error.ends_with("expected a finite number above 0"),
            "{error}"
        );
    }
    assert_eq!(
        error(|o| o.algorithm = Algorithm::Sgd(SgdOptions::default())),
        "L2 strengths by informativeness with algorithm sgd; expected batch training of -log p, or \
         strengths that are all alike"
    );
}
