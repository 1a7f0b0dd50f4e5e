//! Whole minimizations: what the tests share.

mod changing;
mod faults;
mod l1;
mod smooth;

use std::ops::ControlFlow;

use super::*;

/// A function given by a closure that writes the gradient and returns the value.
struct Function<F> {
    dimension: usize,
    evaluate: F,
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Objective for Function<F> {
    type Detail = ();

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn evaluate(&mut self, x: &[f64], gradient: &mut [f64]) -> (f64, ()) {
        ((self.evaluate)(x, gradient), ())
    }
}

fn function<F: FnMut(&[f64], &mut [f64]) -> f64>(dimension: usize, evaluate: F) -> Function<F> {
    Function {
        dimension,
        evaluate,
    }
}

/// Only the gradient stops, at `gradient_tolerance`.
fn precise(gradient_tolerance: f64) -> LbfgsSettings {
    let options = LbfgsOptions {
        improvement_tolerance: 0.0,
        gradient_tolerance,
        max_iterations: Some(2000),
        ..LbfgsOptions::default()
    };
    LbfgsSettings::new(options).unwrap()
}

fn run<O: Objective>(
    objective: &mut O,
    x: &[f64],
    l1: Option<&[f64]>,
    settings: &LbfgsSettings,
) -> Outcome<O::Detail> {
    let mut go_on = |_: &Iteration<'_, O::Detail>| ControlFlow::Continue(());
    minimize(objective, x.to_vec(), l1, settings, None, &mut go_on).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max)
}

/// offset + ½ Σ h_i (x_i − m_i)²
fn quadratic(
    h: Vec<f64>,
    m: Vec<f64>,
    offset: f64,
) -> Function<impl FnMut(&[f64], &mut [f64]) -> f64> {
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

/// Numbers in [−1, 1) that look random: a multiplicative generator, the same for ever.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A convex function of `n` variables that couples neighbors.
fn coupled(n: usize) -> Function<impl FnMut(&[f64], &mut [f64]) -> f64> {
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
