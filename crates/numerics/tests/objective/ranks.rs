//! Sums over ranks.

use super::*;
use dropchain_numerics::error::Error;
use dropchain_numerics::testing::{run_ranks, with_partial_labels, with_weights};

/// Some five blocks.
const LARGE: RandomData = RandomData { sentences: 6_000, longest: 12, ..DATA };

/// Data of many kinds, and the noise on them.
fn cases() -> Vec<(Dataset, ParameterSpace, Option<NoiseOptions>)> {
    let noises = [
        None,
        Some(noise(NoiseKind::Dropout, Engine::Exact)),
        Some(noise(NoiseKind::Dropout, Engine::Message { collapse: true })),
        Some(noise(NoiseKind::Dropout, Engine::Window(1))),
        Some(noise(NoiseKind::Reweighted(2), Engine::Exact)),
    ];
    let mut cases = Vec::new();
    for (i, noise) in noises.into_iter().enumerate() {
        let states = [States::All, States::Observed][i % 2];
        let shape =
            RandomData { binary: i % 2 == 1, edges: if i < 3 { DATA.edges } else { 0 }, ..LARGE };
        let mut numbers = Lcg(i as u64);
        let mut data = shape.build(&mut numbers);
        if i > 0 {
            let unlabeled = data.len() / 3;
            data.labels.truncate(data.sentence(data.len() - unlabeled).start);
        } else {
            data = with_partial_labels(&data, shape.labels, &mut numbers);
        }
        if i < 2 {
            data = with_weights(&data, &[1.0, 0.3, 2.0, 0.7]);
        }
        let options = SpaceOptions { states, label_pairs: states, ..FIRST_ORDER };
        let space = space(&data, &shape, options);
        cases.push((data, space, noise));
    }
    let (data, space, _) = &cases[3];
    cases.push((data.clone(), space.clone(), Some(noise(NoiseKind::Additive, Engine::Exact))));
    cases
}

/// The bits of value and gradient of two evaluations.
fn bits(mut objective: PenalizedLikelihood, noise: Option<NoiseOptions>, scale: f64) -> Vec<u64> {
    if let Some(noise) = noise {
        objective = objective.with_noise(noise);
    }
    let n = objective.dimension();
    let mut bits = Vec::new();
    for seed in [1, 2] {
        let theta: Vec<f64> = Lcg(seed).vector(n).iter().map(|x| scale * x).collect();
        let mut gradient = vec![f64::NAN; n];
        let (value, terms) = objective.evaluate(&theta, &mut gradient);
        let values = [value, terms.log_likelihood, terms.noise, terms.l2];
        assert!(values.iter().chain(&gradient).all(|x| x.is_finite()));
        bits.extend(values.into_iter().chain(gradient).map(f64::to_bits));
    }
    let curvature = objective.inverse_curvature().into_iter().flatten();
    bits.extend(curvature.map(|x| u64::from(x.to_bits())));
    bits
}

#[test]
fn value_and_gradient_have_the_same_bits_for_any_number_of_ranks() {
    for (case, (data, space, noise)) in cases().iter().enumerate() {
        assert!(
            PenalizedLikelihood::new(data, space, 0.1).problem().partition.blocks.len() >= 5,
            "case {case}"
        );
        let whole = bits(PenalizedLikelihood::new(data, space, 0.1), *noise, 1.0);
        for size in [1, 2, 3, 5, 8] {
            let ranks = run_ranks(size, |ranks| {
                bits(PenalizedLikelihood::divided(data, space, 0.1, Some(&ranks)), *noise, 1.0)
            });
            assert!(ranks.iter().all(|bits| *bits == whole), "case {case}, {size} ranks");
        }
    }
}

#[test]
fn ranks_have_about_the_same_number_of_tokens() {
    let (data, space, _) = &cases()[1];
    let tokens = run_ranks(3, |ranks| {
        PenalizedLikelihood::divided(data, space, 0.1, Some(&ranks)).problem().data.tokens()
    });
    assert_eq!(tokens.iter().sum::<usize>(), data.tokens());
    let share = data.tokens() / 3;
    assert!(tokens.iter().all(|n| n.abs_diff(share) < share / 2), "{tokens:?}");
}

/// Derivatives of the noise term that exceed the first limit.
#[test]
fn large_derivatives_are_summed_with_a_higher_limit() {
    let (data, space, noise) = &cases()[1];
    let mut objective = PenalizedLikelihood::new(data, space, 0.1).with_noise(noise.unwrap());
    let theta: Vec<f64> = Lcg(3).vector(space.dimension());
    let theta: Vec<f64> = theta.iter().map(|x| 60.0 * x).collect();
    assert!(objective.exceeds_first_limit(&theta));

    let whole = bits(PenalizedLikelihood::new(data, space, 0.1), *noise, 60.0);
    let ranks = run_ranks(3, |ranks| {
        bits(PenalizedLikelihood::divided(data, space, 0.1, Some(&ranks)), *noise, 60.0)
    });
    assert!(ranks.iter().all(|bits| *bits == whole));
}

/// A rank that cannot be reached.
struct Alone;

impl dropchain_numerics::ranks::Reduce for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        2
    }

    fn sum(&mut self, _: &mut [f64]) -> dropchain_numerics::error::Result<()> {
        Err(Error::Communication("rank 1 has ended".to_owned()))
    }
}

#[test]
fn an_evaluation_without_the_other_ranks_is_nan_and_keeps_the_error() {
    let (data, space, _) = &cases()[1];
    let ranks = Ranks::new(Alone);
    let mut objective = PenalizedLikelihood::divided(data, space, 0.1, Some(&ranks));
    let theta = vec![0.0; space.dimension()];
    let mut gradient = theta.clone();
    assert!(objective.evaluate(&theta, &mut gradient).0.is_nan());
    assert!(gradient.iter().all(|g| g.is_nan()));
    assert_eq!(ranks.take_failure().unwrap().to_string(), "rank 1 has ended");
    assert!(ranks.take_failure().is_none());
}
