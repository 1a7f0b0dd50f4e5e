//! The objective in parts.

use super::*;
use crate::math::assert_close;
use crate::optim::{LbfgsOptions, LbfgsSettings, Objective, minimize};

const UNLABELED: &str = "they/O met/O Ada/O\nNew/O London/O is/O far/O\nMay/O";

fn corpora() -> TrainingCorpora {
    TrainingCorpora::new(corpus(NAMES)).unlabeled(corpus(UNLABELED))
}

fn sharded(options: &TrainOptions, shards: usize) -> Result<ShardedObjective> {
    let template = template("word\nword[-1]\nedge:shape\n");
    let settings = TrainSettings::new(options.clone())?;
    ShardedObjective::new(corpora(), template, settings, shards)
}

#[test]
fn the_shards_and_the_penalty_sum_to_the_objective() {
    for (dropout, states) in [
        (0.0, States::All),
        (0.4, States::All),
        (0.4, States::Observed),
    ] {
        let options = TrainOptions {
            dropout,
            states: Some(states),
            ..options()
        };
        let mut whole = sharded(&options, 1).unwrap();
        let n = whole.dimension();
        let theta: Vec<f64> = (0..n).map(|i| (0.3 * i as f64).sin()).collect();
        let mut expected = vec![0.0; n];
        let (value, _) = whole.evaluate(&theta, &mut expected);
        assert!(value.is_finite());
        for shards in [2, 3, 20] {
            let mut parts = sharded(&options, shards).unwrap();
            let [mut sum, mut part] = [vec![0.0; n], vec![0.0; n]];
            let mut total = parts.penalty(&theta, &mut sum);
            for mut shard in parts.take_shards() {
                total += shard.evaluate(&theta, &mut part);
                sum.iter_mut().zip(&part).for_each(|(sum, g)| *sum += g);
            }
            assert_close(total, value, 1e-12);
            for (found, expected) in sum.iter().zip(&expected) {
                assert_close(*found, *expected, 1e-10);
            }
        }
    }
}

#[test]
fn minimizing_the_shards_gives_the_model_of_training() {
    let tight = LbfgsOptions {
        gradient_tolerance: 1e-9,
        improvement_tolerance: 0.0,
        ..LbfgsOptions::default()
    };
    let options = TrainOptions {
        lbfgs: tight.clone(),
        ..options()
    };
    let source = "word\nword[-1]\nedge:shape\n";
    let expected = trained(&options, corpus(NAMES), source);
    let mut objective = sharded(&options, 3).unwrap();
    let start = vec![0.0; objective.dimension()];
    let settings = LbfgsSettings::new(tight).unwrap();
    let outcome = minimize(&mut objective, start, None, &settings, None, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let model = objective.into_model(&outcome.x).unwrap();
    for name in names(&expected, AttributeKind::Node) {
        let [found, expected] =
            [&model, &expected].map(|model| weights(model, AttributeKind::Node, &name));
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}

#[test]
fn what_cannot_be_divided_is_named() {
    let error = |options: &TrainOptions, shards| sharded(options, shards).unwrap_err().to_string();
    assert_eq!(error(&options(), 0), "0 shards; expected 1 or more");
    let sampled = TrainOptions {
        noise: NoiseKind::MonteCarlo,
        dropout: 0.3,
        ..options()
    };
    assert_eq!(
        error(&sampled, 2),
        "shards with monte-carlo noise; expected noise with a quadratic regularizer"
    );
    let online = TrainOptions {
        algorithm: Algorithm::Ap(PerceptronOptions::default()),
        l2: None,
        ..options()
    };
    assert_eq!(
        error(&online, 2),
        "shards with algorithm ap; expected lbfgs, the objective of which they compute"
    );
    let warm = TrainOptions {
        warm_start: WarmStart::Online,
        ..options()
    };
    assert_eq!(
        error(&warm, 2),
        "shards with an online warm start; expected none, since their optimizer chooses where to \
         start"
    );
    let error = sharded(&options(), 2).unwrap().into_model(&[0.0]);
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("1 parameters; expected ")
    );
}
