//! Interrupting and resuming: the same iterations and the same result, to the bit.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::changing::{MovingQuadratic, Rounds};
use super::*;
use dropchain_numerics::optim::{SavedState, Start, StateObserver, minimize_from};

/// Counts evaluations, and sets a flag during one of them.
struct Counted<'a, O> {
    objective: O,
    evaluations: usize,
    stop_at: usize,
    flag: &'a AtomicBool,
}

impl<O: Objective> Objective for Counted<'_, O> {
    type Detail = O::Detail;

    fn dimension(&self) -> usize {
        self.objective.dimension()
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, O::Detail) {
        self.evaluations += 1;
        self.flag.store(self.evaluations == self.stop_at, Ordering::Relaxed);
        self.objective.evaluate(x, gradient)
    }

    fn begin_iteration(&mut self, iteration: u64, is_converged: bool) -> Change {
        self.objective.begin_iteration(iteration, is_converged)
    }

    fn rounds(&self) -> Vec<Option<Round<'_>>> {
        self.objective.rounds()
    }

    fn resume_rounds(&mut self, rounds: Vec<Option<Round<'static>>>) {
        self.objective.resume_rounds(rounds);
    }
}

/// Records iterations, and the state when interrupted.
#[derive(Default)]
struct Recorder {
    iterations: Vec<(usize, u64, usize, Vec<u64>)>, // number, value, evaluations, x
    state: Vec<u8>,
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

impl<D: Clone + Serialize> StateObserver<D> for Recorder {
    fn iteration(&mut self, iteration: &Iteration<'_, D>) -> ControlFlow<()> {
        self.iterations.push((
            iteration.number,
            iteration.value.to_bits(),
            iteration.evaluations,
            bits(iteration.x),
        ));
        ControlFlow::Continue(())
    }

    fn state(&mut self, state: &SavedState<'_, D>, is_interrupted: bool) {
        if is_interrupted {
            let config = bincode::config::standard();
            self.state = bincode::serde::encode_to_vec(state, config).unwrap();
        }
    }
}

fn options(max_iterations: usize) -> LbfgsOptions {
    LbfgsOptions { max_iterations: Some(max_iterations), ..LbfgsOptions::default() }
}

/// Interrupts a minimization during each of its evaluations, and resumes it with a new objective.
fn assert_resumes<O: Objective>(create: impl Fn() -> O, start: &[f64], l1: Option<&[f64]>)
where
    O::Detail: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let options = options(40);
    let run = |from: Start<O::Detail>, stop_at: usize, recorder: &mut Recorder| {
        let flag = AtomicBool::new(false);
        let mut objective = Counted { objective: create(), evaluations: 0, stop_at, flag: &flag };
        minimize_from(&mut objective, from, l1, &options, Some(&flag), recorder).unwrap()
    };
    let mut expected = Recorder::default();
    let outcome = run(Start::Point(start.to_vec()), 0, &mut expected);
    assert!(outcome.iterations > 10, "{outcome:?}");
    let mut interrupted = 0;
    for evaluation in 1..outcome.evaluations {
        let mut recorder = Recorder::default();
        let first = run(Start::Point(start.to_vec()), evaluation, &mut recorder);
        if first.stop_reason != StopReason::Interrupted {
            continue; // it ended with this evaluation
        }
        interrupted += 1;
        let config = bincode::config::standard();
        let decoded = bincode::serde::decode_from_slice(&recorder.state, config);
        let (state, _): (SavedState<'static, O::Detail>, usize) = decoded.unwrap();
        let resumed = run(Start::State(Box::new(state)), 0, &mut recorder);
        assert_eq!(recorder.iterations, expected.iterations, "{evaluation}");
        assert_eq!(resumed, outcome, "{evaluation}");
        assert_eq!(bits(&resumed.x), bits(&outcome.x));
    }
    assert!(interrupted > 10);
}

const ROSENBROCK: [f64; 6] = [-1.2, 1.0, 0.5, -0.3, 1.7, 0.1];

#[test]
fn a_minimization_resumes_at_any_evaluation() {
    let create = || function(6, rosenbrock);
    assert_resumes(create, &ROSENBROCK, None);
    assert_resumes(create, &ROSENBROCK, Some(&[1e-2; 6]));
}

#[test]
fn a_minimization_resumes_after_failed_line_searches() {
    // The gradient is wrong by a function of x that oscillates, so that near the minimum line
    // searches fail and the memory is cleared.
    let create = |error: f64| {
        function(6, move |x: &[f64], gradient: &mut [f64]| {
            let value = rosenbrock(x, gradient);
            for (g, x) in gradient.iter_mut().zip(x) {
                *g += error * (1e6 * x).sin();
            }
            value
        })
    };
    let mut restarts = 0;
    for error in [0.1, 0.3, 1.0, 3.0, 10.0] {
        let outcome = run(&mut create(error), &ROSENBROCK, None, &options(40));
        if outcome.iterations > 10 {
            restarts += outcome.restarts;
            assert_resumes(|| create(error), &ROSENBROCK, None);
        }
    }
    assert!(restarts > 0);
}

#[test]
fn an_objective_that_changes_resumes_with_the_same_functions() {
    let create = || MovingQuadratic::new(0.5);
    assert_resumes(create, &[0.0; 5], None);
    assert_resumes(create, &[0.0; 5], Some(&[1e-3; 5]));
}

#[test]
fn an_objective_that_changes_in_rounds_resumes_in_the_same_round() {
    for iterations in [1, 3, 7] {
        let create = || Rounds::new(iterations);
        assert_resumes(create, &[0.0; 5], None);
        assert_resumes(create, &[0.0; 5], Some(&[1e-3; 5]));
    }
}

#[test]
fn a_state_of_another_dimension_is_an_error() {
    let mut recorder = Recorder::default();
    let flag = AtomicBool::new(true);
    let options = LbfgsOptions::default();
    let mut objective = function(6, rosenbrock);
    let start = Start::Point(ROSENBROCK.to_vec());
    let interrupt = Some(&flag);
    minimize_from(&mut objective, start, None, &options, interrupt, &mut recorder).unwrap();
    let decoded = bincode::serde::decode_from_slice(&recorder.state, bincode::config::standard());
    let (state, _): (SavedState<'static, ()>, usize) = decoded.unwrap();
    let mut other = function(5, rosenbrock);
    let start = Start::State(Box::new(state));
    let error = minimize_from(&mut other, start, None, &options, None, &mut recorder);
    assert_eq!(
        error.unwrap_err().to_string(),
        "the state of the optimizer does not fit an objective of 5 variables"
    );
}
