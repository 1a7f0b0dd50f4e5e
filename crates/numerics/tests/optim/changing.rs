//! Objectives that change with every iteration.

use super::*;

/// 100 + ½ Σ (x_i − m_i)², where m is redrawn around `center` in every iteration.
pub(super) struct MovingQuadratic {
    center: f64,
    spread: f64,
    iteration: u64,
    evaluated: Vec<(u64, f64)>, // iteration, x₀
}

impl MovingQuadratic {
    pub(super) fn new(spread: f64) -> Self {
        Self { center: 3.0, spread, iteration: 0, evaluated: Vec::new() }
    }
}

impl Objective for MovingQuadratic {
    type Detail = u64;

    fn dimension(&self) -> usize {
        5
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, u64) {
        self.evaluated.push((self.iteration, x[0]));
        let mut value = 100.0;
        let mut number = numbers(self.iteration * 0x1234_5677);
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = x - (self.center + self.spread * number());
            value += 0.5 * *g * *g;
        }
        (value, self.iteration)
    }

    fn begin_iteration(&mut self, iteration: u64, _: bool) -> Change {
        match std::mem::replace(&mut self.iteration, iteration) == iteration {
            true => Change::None,
            false => Change::Samples,
        }
    }
}

/// ½ Σ (x_i² + 1)·c_i(x) + Σ (x_i − 3)², whose c_i(x) = 1 / (1 + x_i²) are held fixed in a round.
pub(super) struct Rounds {
    iterations: u64,
    iteration: u64,
    first: u64,
    is_due: bool,
    strengths: Vec<f64>,
    pub(super) beginnings: Vec<u64>,
}

impl Rounds {
    pub(super) fn new(iterations: u64) -> Self {
        Self {
            iterations,
            iteration: 0,
            first: 0,
            is_due: true,
            strengths: Vec::new(),
            beginnings: Vec::new(),
        }
    }
}

impl Objective for Rounds {
    type Detail = ();

    fn dimension(&self) -> usize {
        5
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, ()) {
        if self.is_due {
            self.strengths = x.iter().map(|x| 1.0 / (1.0 + x * x)).collect();
            (self.first, self.is_due) = (self.iteration, false);
            self.beginnings.push(self.iteration);
        }
        let mut value = 10.0;
        for (i, ((g, x), c)) in gradient.iter_mut().zip(x).zip(&self.strengths).enumerate() {
            let scale = 10.0_f64.powi(i as i32);
            *g = c * x + 2.0 * scale * (x - 3.0);
            value += 0.5 * c * (x * x + 1.0) + scale * (x - 3.0).powi(2);
        }
        (value, ())
    }

    fn begin_iteration(&mut self, iteration: u64, is_converged: bool) -> Change {
        let age = iteration - self.first;
        self.iteration = iteration;
        self.is_due = age >= self.iterations || is_converged && age > 0;
        if self.is_due { Change::Round } else { Change::None }
    }

    fn rounds(&self) -> Vec<Option<Round<'_>>> {
        vec![Some(Round { first: self.first, numbers: self.strengths.as_slice().into() })]
    }

    fn resume_rounds(&mut self, rounds: Vec<Option<Round<'static>>>) {
        for round in rounds.into_iter().flatten() {
            (self.first, self.iteration) = (round.first, round.first);
            self.strengths = round.numbers.into_owned();
            self.is_due = false;
        }
    }
}

const L1: Option<&[f64]> = Some(&[1e-3; 5]);

#[test]
fn the_optimizer_stops_near_the_mean_of_the_minima() {
    for l1 in [None, L1] {
        let mut objective = MovingQuadratic::new(0.5);
        let outcome = run(&mut objective, &[0.0; 5], l1, &LbfgsOptions::default());
        assert_eq!(outcome.stop_reason, StopReason::Improvement);
        assert!((20..200).contains(&outcome.iterations), "{}", outcome.iterations);
        assert!(outcome.x.iter().all(|x| (x - 3.0).abs() < 1.0));
    }
}

#[test]
fn a_tolerance_of_0_stops_too() {
    let outcome = run(&mut MovingQuadratic::new(0.5), &[0.0; 5], None, &precise(1e-9));
    assert_eq!(outcome.stop_reason, StopReason::Improvement);
    assert!(outcome.iterations < 200);
}

#[test]
fn every_iteration_begins_with_its_own_function_at_the_point_reached() {
    for l1 in [None, L1] {
        let mut objective = MovingQuadratic::new(0.5);
        let mut points = Vec::new();
        let mut observer = |iteration: &Iteration<'_, u64>| {
            points.push((*iteration.detail, iteration.x[0]));
            ControlFlow::Continue(())
        };
        let options = LbfgsOptions { max_iterations: Some(15), ..LbfgsOptions::default() };
        let start = vec![0.0; 5];
        let outcome = minimize(&mut objective, start, l1, &options, None, &mut observer).unwrap();
        assert_eq!(outcome.evaluations, objective.evaluated.len());
        assert_eq!((outcome.stop_reason, points.len()), (StopReason::MaxIterations, 16));
        for (k, pair) in points.windows(2).enumerate() {
            // The accepted point belongs to function k, which started where k − 1 ended.
            assert_eq!(pair[1].0, k as u64);
            let mut evaluated = objective.evaluated.iter();
            let first = evaluated.find(|(iteration, _)| *iteration == k as u64);
            assert_eq!(first, Some(&(k as u64, pair[0].1)));
        }
    }
}

#[test]
fn an_unchanged_function_is_not_reevaluated() {
    let mut still = quadratic(vec![1.0, 10.0], vec![1.0, 2.0], 5.0);
    let outcome = run(&mut still, &[0.0; 2], None, &LbfgsOptions::default());
    assert_eq!(outcome.stop_reason, StopReason::Gradient);
    assert!(outcome.evaluations < 2 * outcome.iterations + 1);
}

#[test]
fn a_function_that_becomes_infinite_stops_the_optimizer() {
    let mut objective = MovingQuadratic::new(f64::MAX);
    let outcome = run(&mut objective, &[0.0; 5], None, &LbfgsOptions::default());
    assert_eq!(outcome.stop_reason, StopReason::NonFinite);
}

/// Solves c·x + 2·scale·(x − 3) = 0 with c = 1 / (1 + x²).
fn fixed_point(scale: f64) -> f64 {
    (0..100).fold(3.0, |x, _| {
        let c = 1.0 / (1.0 + x * x);
        6.0 * scale / (2.0 * scale + c)
    })
}

#[test]
fn rounds_end_at_the_fixed_point_whatever_their_length() {
    for iterations in [1, 3, 20, 1000] {
        let mut objective = Rounds::new(iterations);
        let outcome = run(&mut objective, &[0.0; 5], None, &precise(1e-9));
        for (i, x) in outcome.x.iter().enumerate() {
            let expected = fixed_point(10.0_f64.powi(i as i32));
            assert!((x - expected).abs() < 1e-6, "{iterations}: {x}, {expected}");
        }
        assert!(objective.beginnings.len() > 2);
        // Only a round whose first point needs no step ends the minimization.
        assert_eq!(*objective.beginnings.last().unwrap(), outcome.iterations as u64);
    }
}

#[test]
fn a_round_that_begins_where_the_last_one_did_ends_the_minimization() {
    let mut objective = Rounds::new(20);
    let options = LbfgsOptions { gradient_tolerance: 0.0, ..LbfgsOptions::default() };
    let outcome = run(&mut objective, &[0.0; 5], None, &options);
    assert_eq!(outcome.stop_reason, StopReason::Improvement);
    assert!(outcome.iterations < 200, "{outcome:?}");
}
