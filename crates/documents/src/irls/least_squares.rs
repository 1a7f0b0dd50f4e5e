//! The step that lowers a quadratic: H·d = −∇Q.
//!
//! Conjugate gradients with a diagonal preconditioner start at d = 0. Each of their iterates
//! minimizes Q over a larger subspace, which contains the last iterate: Q falls with every one of
//! them, and wherever they stop, Q is below its value at the current weights unless that has no
//! gradient. A factorization of H takes (D + 1)³/6 multiplications and is exact.

use std::sync::atomic::{AtomicBool, Ordering};

use super::quadratic::Quadratic;
use super::sums::{dot, sums};

/// A step and what it took.
#[derive(Debug)]
pub(super) struct Step {
    pub direction: Vec<f64>, // [D + 1]
    /// Products with the Hessian.
    pub products: usize,
}

/// Returns the step to the minimum of the quadratic by Cholesky factorization; `None` if H is not
/// positive definite in floating point.
pub(super) fn by_cholesky(quadratic: &Quadratic<'_, '_>) -> Option<Step> {
    let size = quadratic.gradient.len();
    let mut factor = quadratic.hessian();
    factorize(&mut factor, size)?;
    let mut direction: Vec<f64> = quadratic.gradient.iter().map(|g| -g).collect();
    solve_factorized(&factor, size, &mut direction);
    Some(Step {
        direction,
        products: 1,
    })
}

/// Solves L·Lᵀ·x = b, where `vector` is b and becomes x, `[size]`.
pub(crate) fn solve_factorized(factor: &[f64], size: usize, vector: &mut [f64]) {
    for i in 0..size {
        let sum = dot(&factor[i * size..][..i], &vector[..i]);
        vector[i] = (vector[i] - sum) / factor[i * size + i];
    }
    for i in (0..size).rev() {
        vector[i] /= factor[i * size + i];
        let value = vector[i];
        for (x, l) in vector[..i].iter_mut().zip(&factor[i * size..]) {
            *x -= l * value;
        }
    }
}

/// Replaces the lower half of H, `[size][size]`, by L with L·Lᵀ = H; `None` if H is not positive
/// definite in floating point.
pub(crate) fn factorize(matrix: &mut [f64], size: usize) -> Option<()> {
    for i in 0..size {
        let (above, rest) = matrix.split_at_mut(i * size);
        let row = &mut rest[..=i];
        for j in 0..i {
            let other = &above[j * size..][..=j];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let square = row[i] - dot(&row[..i], &row[..i]);
        if !(square > 0.0 && square.is_finite()) {
            return None;
        }
        row[i] = square.sqrt();
    }
    Some(())
}

/// Returns a step by at most `limit` conjugate gradients, until the preconditioned residual is
/// `tolerance` times that at the start, or the flag is set.
pub(super) fn by_conjugate_gradients(
    quadratic: &Quadratic<'_, '_>,
    tolerance: f64,
    limit: usize,
    interrupt: Option<&AtomicBool>,
) -> Step {
    let inverse: Vec<f64> = quadratic
        .hessian_diagonal()
        .into_iter()
        .map(|d| if d > 0.0 { 1.0 / d } else { 1.0 })
        .collect();
    let mut residual: Vec<f64> = quadratic.gradient.iter().map(|g| -g).collect();
    let mut direction = vec![0.0; residual.len()];
    let mut conjugate: Vec<f64> = inverse.iter().zip(&residual).map(|(m, r)| m * r).collect();
    let mut square = dot(&residual, &conjugate);
    let enough = tolerance * tolerance * square;
    let mut products = 0;
    while products < limit && square > enough {
        let product = quadratic.hessian_product(&conjugate);
        products += 1;
        let curvature = dot(&conjugate, &product);
        if !(curvature > 0.0 && curvature.is_finite()) {
            break;
        }
        let step = square / curvature;
        for ((d, r), (c, p)) in direction
            .iter_mut()
            .zip(&mut residual)
            .zip(conjugate.iter().zip(&product))
        {
            *d += step * c;
            *r -= step * p;
        }
        let last = square;
        [square] = sums(residual.len(), |i| [inverse[i] * residual[i] * residual[i]]);
        for ((c, r), m) in conjugate.iter_mut().zip(&residual).zip(&inverse) {
            *c = m * r + square / last * *c;
        }
        if interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            break;
        }
    }
    Step {
        direction,
        products,
    }
}
