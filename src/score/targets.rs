//! Which scores a column of the design matrix has weights for.

use std::ops::Range;

use crate::extract::SparseRows;

/// For each column of a design matrix, the scores that it has weights for.
///
/// A token's scores are one row of `height × stride` numbers: one line of labels for node
/// attributes (height 1), K lines for edge attributes (score of the pair (a, b) at a·stride + b).
/// Weights of a column stand together, columns in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    columns: usize,
    labels: usize, // K
    stride: usize, // K padded
    height: usize, // 1 for nodes, K for edges
    observed: Option<Observed>,
}

#[derive(Clone, Debug, PartialEq)]
struct Observed {
    ends: Vec<u64>,   // [columns] end of each column in `places`
    places: Vec<u32>, // place of each weight's score in the token's row of scores
}

impl Targets {
    /// Every column has a weight for every score.
    #[must_use]
    pub fn all(columns: usize, labels: usize, stride: usize, height: usize) -> Self {
        Self {
            columns,
            labels,
            stride,
            height,
            observed: None,
        }
    }

    /// Each column has weights only for the scores that the labels of some token with that column
    /// touch; `place(token)` says which score that is.
    #[must_use]
    pub fn observed(
        columns: usize,
        labels: usize,
        stride: usize,
        height: usize,
        rows: &SparseRows,
        place: impl Fn(usize) -> Option<u32>,
    ) -> Self {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut compacted = 0;
        for token in 0..rows.len() {
            let Some(place) = place(token) else { continue };
            pairs.extend(rows.row(token).0.iter().map(|&column| (column, place)));
            // Frequent columns repeat their pairs without end: sort them out before they pile up.
            if pairs.len() > 2 * compacted + (1 << 20) {
                pairs.sort_unstable();
                pairs.dedup();
                compacted = pairs.len();
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut ends = vec![0u64; columns];
        for &(column, _) in &pairs {
            ends[column as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let places = pairs.into_iter().map(|(_, place)| place).collect();
        Self {
            columns,
            labels,
            stride,
            height,
            observed: Some(Observed { ends, places }),
        }
    }

    /// A single column with weights for the scores at `places`.
    #[must_use]
    pub(super) fn single(labels: usize, stride: usize, height: usize, places: Vec<u32>) -> Self {
        Self {
            columns: 1,
            labels,
            stride,
            height,
            observed: Some(Observed {
                ends: vec![places.len() as u64],
                places,
            }),
        }
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of weights of all columns together.
    #[must_use]
    pub fn weights(&self) -> usize {
        match &self.observed {
            Some(observed) => observed.places.len(),
            None => self.columns * self.labels * self.height,
        }
    }

    /// Length of a token's row of scores.
    #[must_use]
    pub fn width(&self) -> usize {
        self.stride * self.height
    }

    /// Where the weights of a column stand.
    #[must_use]
    pub fn range(&self, column: usize) -> Range<usize> {
        match &self.observed {
            Some(observed) => observed.range(column),
            None => {
                let n = self.labels * self.height;
                column * n..(column + 1) * n
            }
        }
    }

    /// Calls `visit(place, index)` for each weight of a column: the place of its score in a
    /// token's row of scores, and the weight's index.
    pub fn for_each(&self, column: usize, mut visit: impl FnMut(usize, usize)) {
        let range = self.range(column);
        match &self.observed {
            Some(observed) => {
                for i in range {
                    visit(observed.places[i] as usize, i);
                }
            }
            None => {
                for (i, index) in range.enumerate() {
                    let place = i / self.labels * self.stride + i % self.labels;
                    visit(place, index);
                }
            }
        }
    }

    /// Adds a row of X times the weights to a token's row of scores: `scores[p] += Σ_j scale_j · x_j ·
    /// w_j[p]`. Time O(entries of the row · weights of a column).
    pub fn add_scores(
        &self,
        weights: &[f64],
        scale: &[f64],
        (columns, values): (&[u32], Option<&[f64]>),
        scores: &mut [f64],
    ) {
        let coefficient =
            |i: usize, column: u32| scale[column as usize] * values.map_or(1.0, |values| values[i]);
        match &self.observed {
            Some(observed) => {
                for (i, &column) in columns.iter().enumerate() {
                    let c = coefficient(i, column);
                    let range = observed.range(column as usize);
                    let places = &observed.places[range.clone()];
                    for (&place, &w) in places.iter().zip(&weights[range]) {
                        scores[place as usize] += c * w;
                    }
                }
            }
            None => {
                for (i, &column) in columns.iter().enumerate() {
                    let c = coefficient(i, column);
                    let weights = &weights[self.range(column as usize)];
                    let lines = scores.chunks_exact_mut(self.stride);
                    for (line, weights) in lines.zip(weights.chunks_exact(self.labels)) {
                        for (score, &w) in line.iter_mut().zip(weights) {
                            *score += c * w;
                        }
                    }
                }
            }
        }
    }

    /// Adds a multiple of one column's weights, which need not be its own, to a token's row of scores:
    /// `scores[place of i] += c · weights[i]`.
    pub(crate) fn add_weights(&self, column: usize, c: f64, weights: &[f64], scores: &mut [f64]) {
        match &self.observed {
            Some(observed) => {
                let places = &observed.places[observed.range(column)];
                for (&w, &place) in weights.iter().zip(places) {
                    scores[place as usize] += c * w;
                }
            }
            None => {
                let lines = scores.chunks_exact_mut(self.stride);
                for (line, weights) in lines.zip(weights.chunks_exact(self.labels)) {
                    for (score, &w) in line.iter_mut().zip(weights) {
                        *score += c * w;
                    }
                }
            }
        }
    }

    /// Adds a multiple of a row of derivatives (by the scores of one token) to the gradient of
    /// one column's weights: `gradient[i] += c · derivatives[place of i]`.
    pub(crate) fn add_derivatives(
        &self,
        column: usize,
        c: f64,
        derivatives: &[f64],
        gradient: &mut [f64],
    ) {
        match &self.observed {
            Some(observed) => {
                let places = &observed.places[observed.range(column)];
                for (g, &place) in gradient.iter_mut().zip(places) {
                    *g += c * derivatives[place as usize];
                }
            }
            None => {
                let lines = derivatives.chunks_exact(self.stride);
                for (gradient, line) in gradient.chunks_exact_mut(self.labels).zip(lines) {
                    for (g, &d) in gradient.iter_mut().zip(line) {
                        *g += c * d;
                    }
                }
            }
        }
    }

    /// As [`Targets::add_scores`], and adds what noise proportional to the values gives to the
    /// variance of each score: `variances[p] += rate · Σ_j x_j² · w_j[p]²`.
    ///
    /// A class of m attributes has x = 1 and weight φ = √m·θ, so its m·ρ·θ² is ρ·φ²: the scale does
    /// not enter.
    pub fn add_scores_and_variances(
        &self,
        weights: &[f64],
        scale: &[f64],
        (columns, values): (&[u32], Option<&[f64]>),
        rate: f64,
        [scores, variances]: [&mut [f64]; 2],
    ) {
        for (i, &column) in columns.iter().enumerate() {
            let x = values.map_or(1.0, |values| values[i]);
            let (c, v) = (scale[column as usize] * x, rate * x * x);
            let range = self.range(column as usize);
            let weights = &weights[range.clone()];
            match &self.observed {
                Some(observed) => {
                    for (&place, &w) in observed.places[range].iter().zip(weights) {
                        scores[place as usize] += c * w;
                        variances[place as usize] += v * (w * w);
                    }
                }
                None => {
                    let lines = scores
                        .chunks_exact_mut(self.stride)
                        .zip(variances.chunks_exact_mut(self.stride));
                    for ((scores, variances), weights) in
                        lines.zip(weights.chunks_exact(self.labels))
                    {
                        for ((s, variance), &w) in scores.iter_mut().zip(variances).zip(weights) {
                            *s += c * w;
                            *variance += v * (w * w);
                        }
                    }
                }
            }
        }
    }

    /// Adds both kinds of derivatives to the gradient of one column's weights w:
    /// `gradient[i] += c · by_score[place of i] + v · w[i] · by_variance[place of i]`.
    pub(super) fn add_noise_derivatives(
        &self,
        column: usize,
        [c, v]: [f64; 2],
        [by_score, by_variance]: [&[f64]; 2],
        weights: &[f64],
        gradient: &mut [f64],
    ) {
        match &self.observed {
            Some(observed) => {
                let places = &observed.places[observed.range(column)];
                for ((g, &w), &place) in gradient.iter_mut().zip(weights).zip(places) {
                    let place = place as usize;
                    *g += c * by_score[place] + v * w * by_variance[place];
                }
            }
            None => {
                let lines = by_score
                    .chunks_exact(self.stride)
                    .zip(by_variance.chunks_exact(self.stride));
                let weights = weights.chunks_exact(self.labels);
                let rows = gradient.chunks_exact_mut(self.labels).zip(weights);
                for ((gradient, weights), (by_score, by_variance)) in rows.zip(lines) {
                    let terms = weights.iter().zip(by_score).zip(by_variance);
                    for (g, ((&w, &d), &q)) in gradient.iter_mut().zip(terms) {
                        *g += c * d + v * w * q;
                    }
                }
            }
        }
    }

    /// `Σ_j w_j[p]²` over all columns, by place p, `[width]`.
    #[must_use]
    pub fn squares(&self, weights: &[f64]) -> Vec<f64> {
        let mut squares = vec![0.0; self.width()];
        for column in 0..self.columns {
            self.for_each(column, |place, index| {
                squares[place] += weights[index] * weights[index];
            });
        }
        squares
    }

    /// Adds `factor · w_j[p] · derivatives[p]` to the gradient of every weight.
    pub fn add_square_derivatives(
        &self,
        weights: &[f64],
        factor: f64,
        derivatives: &[f64],
        gradient: &mut [f64],
    ) {
        for column in 0..self.columns {
            self.for_each(column, |place, index| {
                gradient[index] += factor * weights[index] * derivatives[place];
            });
        }
    }

    /// Bytes of memory beside the weights.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.observed
            .as_ref()
            .map_or(0, |o| 8 * o.ends.capacity() + 4 * o.places.capacity())
    }
}

impl Observed {
    fn range(&self, column: usize) -> Range<usize> {
        let start = if column == 0 {
            0
        } else {
            self.ends[column - 1]
        };
        start as usize..self.ends[column] as usize
    }
}
