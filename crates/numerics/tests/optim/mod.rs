//! Complete minimizations: shared helpers.

mod changing;
mod faults;
mod l1;
mod lbfgs;
mod line_search;
mod objective;
mod owlqn;
mod resuming;
mod smooth;
mod state;
mod vector;

use std::ops::ControlFlow;

use dropchain_numerics::optim::*;
use dropchain_numerics::testing::Lcg;

/// An objective given by a closure that writes the gradient and returns the value.
struct FnObjective<F> {
    dimension: usize,
    evaluate: F,
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Objective for FnObjective<F> {
    type Detail = ();

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, ()) {
        ((self.evaluate)(x, gradient), ())
    }
}

fn function<F: FnMut(&[f64], &mut [f64]) -> f64>(dimension: usize, evaluate: F) -> FnObjective<F> {
    FnObjective { dimension, evaluate }
}

/// Returns options that stop on the gradient alone, at `gradient_tolerance`.
fn precise(gradient_tolerance: f64) -> LbfgsOptions {
    LbfgsOptions {
        improvement_tolerance: Some(0.0),
        gradient_tolerance,
        max_iterations: Some(2000),
        ..LbfgsOptions::default()
    }
}

fn run<O: Objective>(
    objective: &mut O,
    x: &[f64],
    l1: Option<&[f64]>,
    options: &LbfgsOptions,
) -> Outcome<O::Detail> {
    let mut resume = |_: &Iteration<'_, O::Detail>| ControlFlow::Continue(());
    minimize(objective, x.to_vec(), l1, options, None, &mut resume).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// offset + ½ Σ h_i (x_i − m_i)²
fn quadratic(
    h: Vec<f64>,
    m: Vec<f64>,
    offset: f64,
) -> FnObjective<impl FnMut(&[f64], &mut [f64]) -> f64> {
    function(h.len(), move |x, gradient| {
        let mut value = offset;
        for i in 0..h.len() {
            gradient[i] = h[i] * (x[i] - m[i]);
            value += 0.5 * gradient[i] * (x[i] - m[i]);
        }
        value
    })
}

/// Σ 100 (x_{i+1} − x_i²)² + (1 − x_i)²
fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
    gradient.fill(0.0);
    let mut value = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        value += 100.0 * a * a + b * b;
        gradient[i] -= 400.0 * a * x[i] + 2.0 * b;
        gradient[i + 1] += 200.0 * a;
    }
    value
}

/// Returns a generator of pseudorandom numbers in [−1, 1).
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut lcg = Lcg(seed);
    move || lcg.next()
}

/// A convex function of `n` variables that couples neighbors.
fn coupled(n: usize) -> FnObjective<impl FnMut(&[f64], &mut [f64]) -> f64> {
    function(n, move |x: &[f64], gradient: &mut [f64]| {
        let mut value = 0.0;
        for i in 0..n {
            let left = if i == 0 { 0.0 } else { x[i - 1] };
            let target = ((i * 37) % 101) as f64 / 50.0 - 1.0;
            let a = x[i] - target;
            let b = x[i] - left;
            value += a * a + (b * b).ln_1p();
            let pull = 2.0 * b / (1.0 + b * b);
            gradient[i] = 2.0 * a + pull;
            if i > 0 {
                gradient[i - 1] -= pull;
            }
        }
        value
    })
}
