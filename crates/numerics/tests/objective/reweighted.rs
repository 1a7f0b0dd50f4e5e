//! Reweighted noise: its penalty against eq. 14 at the beginning of a round, and within it.

use super::*;
use dropchain_numerics::optim::{Change, Round};

const REWEIGHTED: NoiseOptions = noise(NoiseKind::Reweighted(4), Engine::Exact);

/// All cases, every third with an unlabeled sentence.
fn problems() -> Vec<(Dataset, ParameterSpace)> {
    let problem = |(i, (mut data, space)): (usize, (Dataset, ParameterSpace))| {
        if i % 3 == 0 {
            let labeled = data.sentence(data.len() - 1).start;
            data.labels.truncate(labeled);
        }
        (data, space)
    };
    cases().into_iter().enumerate().map(problem).collect()
}

fn evaluate(objective: &mut PenalizedLikelihood, theta: &[f64]) -> (Terms, Vec<f64>) {
    let mut gradient = vec![f64::NAN; theta.len()];
    let (_, terms) = objective.evaluate(theta, &mut gradient);
    (terms, gradient)
}

#[test]
fn at_the_beginning_of_a_round_the_value_is_that_of_eq_14() {
    for (i, (data, space)) in problems().into_iter().enumerate() {
        let theta = Lcg(i as u64).vector(space.dimension());
        let [exact, found] = [NoiseKind::Dropout, REWEIGHTED.kind].map(|kind| {
            let objective = PenalizedLikelihood::new(&data, &space, 0.1);
            evaluate(&mut objective.with_noise(noise(kind, Engine::Exact)), &theta).0
        });
        assert!(exact.noise > 0.0 || space.labels() == 1);
        assert_close(found.noise, exact.noise, 1e-12);
        assert_close(found.log_likelihood, exact.log_likelihood, 1e-12);
        assert_eq!(found.l2, exact.l2);
    }
}

#[test]
fn within_a_round_the_noise_is_a_weighted_l2_penalty() {
    for (i, (data, space)) in problems().into_iter().enumerate() {
        let plain = || PenalizedLikelihood::new(&data, &space, 0.1);
        let mut objective = plain().with_noise(REWEIGHTED);
        let mut numbers = Lcg(i as u64);
        let [start, theta] = [(); 2].map(|()| numbers.vector(space.dimension()));
        evaluate(&mut objective, &start);
        let strengths = objective.rounds().remove(0).unwrap().numbers.into_owned();
        assert!(strengths.iter().all(|&x| x >= 0.0));
        let (likelihood, gradient) = evaluate(&mut plain(), &theta);
        let (found, found_gradient) = evaluate(&mut objective, &theta);
        assert_eq!(found.log_likelihood, likelihood.log_likelihood);
        let mut penalty = 0.0;
        for i in 0..theta.len() {
            penalty += strengths[i] * theta[i] * theta[i];
            let expected = gradient[i] + 2.0 * strengths[i] * theta[i];
            assert_close(found_gradient[i], expected, 1e-12);
        }
        assert_close(found.noise, penalty, 1e-12);
        let error = check_gradient(&mut objective, &theta, 1e-5);
        assert!(error < 1e-6, "case {i}: {error}");
    }
}

#[test]
fn a_round_lasts_its_iterations_or_until_the_optimizer_converges() {
    let (data, space) = cases().swap_remove(40);
    let mut objective = PenalizedLikelihood::new(&data, &space, 0.1).with_noise(REWEIGHTED);
    let mut numbers = Lcg(3);
    let [first, second] = [(); 2].map(|()| numbers.vector(space.dimension()));
    assert_eq!(objective.rounds(), [None]);
    evaluate(&mut objective, &first);
    let changes: Vec<Change> = (0..=4).map(|i| objective.begin_iteration(i, false)).collect();
    assert_eq!(changes, [[Change::None; 4].as_slice(), &[Change::Round]].concat());
    let old = objective.rounds().remove(0).unwrap().numbers.into_owned();
    evaluate(&mut objective, &second);
    let new = objective.rounds().remove(0).unwrap();
    assert_eq!(new.first, 4);
    assert_ne!(*new.numbers, *old);
    for (i, is_converged) in [(4, true), (4, false), (5, false)] {
        assert_eq!(objective.begin_iteration(i, is_converged), Change::None);
    }
    assert_eq!(objective.begin_iteration(5, true), Change::Round);
}

#[test]
fn a_resumed_round_has_the_same_penalty() {
    let (data, space) = cases().swap_remove(41);
    let objective = || PenalizedLikelihood::new(&data, &space, 0.1).with_noise(REWEIGHTED);
    let mut numbers = Lcg(4);
    let [start, theta] = [(); 2].map(|()| numbers.vector(space.dimension()));
    let mut whole = objective();
    evaluate(&mut whole, &start);
    let round: Round<'static> =
        Round { first: 0, numbers: whole.rounds().remove(0).unwrap().numbers.into_owned().into() };
    let mut resumed = objective();
    resumed.resume_rounds(vec![Some(round)]);
    assert_eq!(evaluate(&mut resumed, &theta), evaluate(&mut whole, &theta));
}

#[test]
fn the_penalty_of_a_class_is_that_of_its_members() {
    for seed in [18, 19] {
        let twins = Twins::new(seed);
        let spaces = twins.spaces(FIRST_ORDER);
        let phi = Lcg(seed).vector(spaces[1].dimension());
        let theta = twins.expanded(&spaces, &phi);
        let strengths = |data: &Dataset, space: &ParameterSpace, point: &[f64]| {
            let mut objective = PenalizedLikelihood::new(data, space, 0.2).with_noise(REWEIGHTED);
            let (terms, _) = evaluate(&mut objective, point);
            (terms.noise, objective.rounds().remove(0).unwrap().numbers.into_owned())
        };
        let (separate, _) = strengths(&twins.separate, &spaces[0], &theta);
        let (collapsed, _) = strengths(&twins.collapsed, &spaces[1], &phi);
        assert_close(collapsed, separate, 1e-12);
    }
}

#[test]
fn the_noise_is_diluted_by_unlabeled_sentences_as_in_eq_11() {
    // λ(ΣR + αΣR(u)) against the two sums on their own, for every kind of noise.
    let noises = [
        noise(NoiseKind::Dropout, Engine::Exact),
        noise(NoiseKind::Gaussian, Engine::Window(0)),
        noise(NoiseKind::Additive, Engine::Message { collapse: true }),
        REWEIGHTED,
    ];
    for (i, (mut data, space)) in cases().into_iter().enumerate() {
        let all = data.len();
        let theta = Lcg(i as u64).vector(space.dimension());
        for noise in noises {
            let value = |data: &Dataset, alpha: f64| {
                let noise = NoiseOptions { unlabeled_weight: alpha, ..noise };
                let objective = PenalizedLikelihood::new(data, &space, 0.1);
                evaluate(&mut objective.with_noise(noise), &theta).0.noise
            };
            let everything = value(&data, 0.0); // all sentences are labeled
            let labels = data.labels.clone();
            let last = data.sentence(all - 1);
            data.labels.truncate(last.start);
            let labeled = value(&data, 0.0);
            let (n, alpha) = ((all - 1) as f64, 0.5);
            let lambda = n / (n + alpha);
            let expected = lambda * (labeled + alpha * (everything - labeled));
            assert_close(value(&data, alpha), expected, 1e-12);
            data.labels = labels;
        }
    }
}
