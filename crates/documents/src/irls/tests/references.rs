//! Slow and simple solutions.

use super::Data;

/// Calls `visit` with the probability and the score of a document for every mask of its features,
/// each dropped with probability `rate`. A column with the scale √m stands for m features with
/// masks of their own, of which each has 1/√m of the weight.
fn for_each_mask(data: &Data, n: usize, w: &[f64], rate: f64, mut visit: impl FnMut(f64, f64)) {
    let mut parts = Vec::new();
    for (j, x) in data.rows.entries(n) {
        let scale = data.scales[j as usize];
        let copies = (scale * scale).round() as usize;
        let part = x * w[j as usize] / scale;
        parts.extend(std::iter::repeat_n(part, copies));
    }
    for mask in 0_u32..1 << parts.len() {
        let (mut probability, mut score) = (1.0, data.bias * w[w.len() - 1]);
        for (i, part) in parts.iter().enumerate() {
            if mask >> i & 1 == 1 {
                probability *= 1.0 - rate;
                score += part / (1.0 - rate);
            } else {
                probability *= rate;
            }
        }
        visit(probability, score);
    }
}

/// Returns the expectation of a loss over all masks.
pub(super) fn expected_loss(
    data: &Data,
    n: usize,
    w: &[f64],
    rate: f64,
    loss: impl Fn(f64) -> f64,
) -> f64 {
    let mut sum = 0.0;
    for_each_mask(data, n, w, rate, |probability, score| {
        sum += probability * loss(score);
    });
    sum
}

/// Returns the expectation of a square over all masks.
pub(super) fn second_moment(
    data: &Data,
    n: usize,
    w: &[f64],
    rate: f64,
    difference: impl Fn(f64) -> f64,
) -> f64 {
    expected_loss(data, n, w, rate, |score| difference(score).powi(2))
}

/// Minimizes Σ v·max(0, ℓ − y·w·x) + c·‖w‖² by dual coordinate descent (Hsieh et al., ICML 2008).
pub(super) fn dual_coordinate_descent(data: &Data, margin: f64, l2: f64) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = (0..data.targets.len()).map(|n| data.dense(n)).collect();
    let mut alphas = vec![0.0; rows.len()];
    let mut w = vec![0.0; data.scales.len() + 1];
    for _ in 0..20_000 {
        for (n, x) in rows.iter().enumerate() {
            let y = data.targets[n];
            let most = data.weights[n] / (2.0 * l2);
            let dot = |w: &[f64]| -> f64 { w.iter().zip(x).map(|(w, x)| w * x).sum() };
            let gradient = y * dot(&w) - margin;
            let alpha: f64 = alphas[n] - gradient / dot(x);
            let alpha = alpha.clamp(0.0, most);
            for (w, x) in w.iter_mut().zip(x) {
                *w += (alpha - alphas[n]) * y * x;
            }
            alphas[n] = alpha;
        }
    }
    w
}

/// Solves a system of equations by Gaussian elimination with pivots.
pub(super) fn solve_dense(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for i in 0..size {
        let pivot = (i..size).max_by(|&a, &b| matrix[a][i].abs().total_cmp(&matrix[b][i].abs()));
        let pivot = pivot.unwrap();
        matrix.swap(i, pivot);
        right.swap(i, pivot);
        for row in i + 1..size {
            let factor = matrix[row][i] / matrix[i][i];
            let above = matrix[i].clone();
            for (a, b) in matrix[row].iter_mut().zip(above) {
                *a -= factor * b;
            }
            right[row] -= factor * right[i];
        }
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|j| matrix[i][j] * right[j]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    right
}
