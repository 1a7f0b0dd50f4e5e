//! Least squares with a ridge in closed form, by Cholesky factorization.
//!
//! The minimum of ‖y − X·w‖² + Σ λ_j·w_j², of centered X and y, is the solution of
//!
//! ```text
//! (XᵀX + Λ)·w = Xᵀy                                  D×D
//! (X·Λ⁻¹·Xᵀ + I)·a = y,    w = Λ⁻¹·Xᵀ·a              N×N, if all λ_j > 0
//! ```
//!
//! Cost: m³/6 multiplications and 8·m² bytes, where m is the number of features or of documents.

use rayon::prelude::*;

use super::design::Design;
use crate::irls::{factorize, solve_factorized};
use dropchain::math::dot;

/// A pivot below this fraction of its diagonal entry is rounding noise: the matrix is singular.
const SINGULAR: f64 = 1e-13;

/// Which of the two systems is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Features,
    Documents,
}

impl System {
    /// Returns the smaller system that can be solved, and its size.
    pub fn of(design: &Design<'_>, l2: &[f64]) -> (Self, usize) {
        let (features, documents) = (design.dimension(), design.rows.len());
        if documents < features && l2.iter().all(|&l2| l2 > 0.0) {
            (Self::Documents, documents)
        } else {
            (Self::Features, features)
        }
    }
}

/// Returns the minimum for the penalties λ and centered y; `None` if it is not unique.
pub(super) fn minimum(design: &Design<'_>, y: &[f64], l2: &[f64]) -> Option<Vec<f64>> {
    match System::of(design, l2) {
        (System::Features, size) => {
            let mut w = design.transpose_product(y);
            solve(gram(design, l2), size, &mut w)?;
            Some(w)
        }
        (System::Documents, size) => {
            let mut a = y.to_vec();
            solve(kernel(design, l2), size, &mut a)?;
            let products = design.transpose_product(&a);
            Some(products.iter().zip(l2).map(|(p, l2)| p / l2).collect())
        }
    }
}

fn solve(mut matrix: Vec<f64>, size: usize, vector: &mut [f64]) -> Option<()> {
    let diagonal: Vec<f64> = (0..size).map(|i| matrix[i * size + i]).collect();
    factorize(&mut matrix, size)?;
    let is_regular = |(i, d): (usize, &f64)| matrix[i * size + i].powi(2) > SINGULAR * d;
    if !diagonal.iter().enumerate().all(is_regular) {
        return None;
    }
    solve_factorized(&matrix, size, vector);
    Some(())
}

/// Returns the lower half of XᵀX + Λ, of centered X.
fn gram(design: &Design<'_>, l2: &[f64]) -> Vec<f64> {
    let size = design.dimension();
    let count = design.rows.len() as f64;
    let mut matrix = vec![0.0; size * size];
    let rows = matrix.par_chunks_mut(size.max(1)).enumerate();
    rows.for_each(|(i, row)| {
        for (n, x) in design.columns.entries(i) {
            let entries = design.rows.entries(n as usize);
            for (j, other) in entries.take_while(|(j, _)| *j as usize <= i) {
                row[j as usize] += x * other;
            }
        }
        for (entry, mean) in row[..i].iter_mut().zip(&design.means) {
            *entry -= count * design.means[i] * mean;
        }
        row[i] = design.squares[i] + l2[i];
    });
    matrix
}

/// Returns the lower half of X·Λ⁻¹·Xᵀ + I, of centered X.
fn kernel(design: &Design<'_>, l2: &[f64]) -> Vec<f64> {
    let size = design.rows.len();
    let scaled: Vec<f64> = design.means.iter().zip(l2).map(|(m, l2)| m / l2).collect();
    let constant = dot(&scaled, &design.means);
    let offsets = design.by_document(|n| {
        let entries = design.rows.entries(n);
        entries.map(|(j, x)| x * scaled[j as usize]).sum()
    });
    let mut matrix = vec![0.0; size * size];
    let rows = matrix.par_chunks_mut(size.max(1)).enumerate();
    rows.for_each(|(n, row)| {
        for (j, x) in design.rows.entries(n) {
            let entries = design.columns.entries(j as usize);
            for (m, other) in entries.take_while(|(m, _)| *m as usize <= n) {
                row[m as usize] += x * other / l2[j as usize];
            }
        }
        for (entry, offset) in row[..=n].iter_mut().zip(&offsets) {
            *entry += constant - offsets[n] - offset;
        }
        row[n] += 1.0;
    });
    matrix
}
