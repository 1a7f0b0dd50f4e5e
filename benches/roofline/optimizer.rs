//! L-BFGS beside its evaluations: what an iteration of the optimizer takes between two of them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dropchain::kernel::objective::{PenalizedLikelihood, Terms};
use dropchain::kernel::optim::{LbfgsOptions, Objective, minimize};

use crate::machine::ByThreads;

/// Iterations that are timed, after those that fill the memory.
const ITERATIONS: usize = 15;

/// An objective that takes the time between evaluations.
struct Timed<'a> {
    objective: &'a mut PenalizedLikelihood,
    end: Option<Instant>,
    is_timed: &'a AtomicBool, // whether an iteration with a full memory began since the last one
    fastest: f64,
}

impl Objective for Timed<'_> {
    type Detail = Terms;

    fn dimension(&self) -> usize {
        self.objective.dimension()
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, Terms) {
        if let (Some(end), true) = (self.end, self.is_timed.swap(false, Ordering::Relaxed)) {
            self.fastest = self.fastest.min(end.elapsed().as_secs_f64());
        }
        let result = self.objective.evaluate(x, gradient);
        self.end = Some(Instant::now());
        result
    }

    fn inverse_curvature(&self) -> Option<Vec<f32>> {
        self.objective.inverse_curvature()
    }
}

/// Returns the number of pairs in the memory, and the seconds of an iteration without evaluation.
pub fn seconds(objective: &mut PenalizedLikelihood) -> (usize, ByThreads) {
    let memory = LbfgsOptions::default().memory;
    let options =
        LbfgsOptions { max_iterations: Some(memory + ITERATIONS), ..LbfgsOptions::default() };
    let seconds = [1, 2].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let is_timed = AtomicBool::new(false);
            let mut timed =
                Timed { objective, end: None, is_timed: &is_timed, fastest: f64::INFINITY };
            let start = vec![0.0; timed.dimension()];
            let outcome = minimize(&mut timed, start, None, &options, None, &mut |iteration| {
                is_timed.store(iteration.number > memory, Ordering::Relaxed);
                ControlFlow::Continue(())
            });
            outcome.unwrap();
            timed.fastest
        })
    });
    (memory, seconds)
}
