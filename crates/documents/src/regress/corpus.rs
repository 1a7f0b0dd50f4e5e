//! Documents as numbers, and the matrix of centered features, which is never formed: X itself stays
//! sparse.

use hashbrown::HashMap;
use rayon::prelude::*;

use super::options::{RegressionLoss, RegressionOptions};
use crate::Instance;
use crate::features::{check_memory, features};
use dropchain::error::{Error, Result};
use dropchain::extract::SparseRows;

/// The largest value of a feature and the largest number to be predicted.
const LARGEST: f64 = 1e30;

/// Documents with the numbers to be predicted: the values of D features of N documents.
#[derive(Clone, Debug, Default)]
pub struct RegressionCorpus {
    numbers: HashMap<String, u32>, // of features
    pub(super) rows: SparseRows,   // [N][D]
    pub(super) targets: Vec<f64>,  // [N]
}

impl RegressionCorpus {
    /// Returns the number of documents.
    pub fn documents(&self) -> usize {
        self.targets.len()
    }

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the names of the features, by number.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = vec![""; self.numbers.len()];
        for (name, &number) in &self.numbers {
            names[number as usize] = name;
        }
        names
    }

    /// Adds a document, whose label is the number.
    pub(super) fn push(&mut self, document: &Instance, options: &RegressionOptions) -> Result<()> {
        let fault = |message: String| Error::input(document.place(), message);
        let label = document.label.as_deref().unwrap_or_default();
        let target = label.trim().parse().ok();
        let target = target.filter(|y: &f64| y.abs() <= LARGEST).ok_or_else(|| {
            fault(format!("found '{label}'; expected a number of at most {LARGEST:e} to predict"))
        })?;
        if options.loss == RegressionLoss::Poisson && target < 0.0 {
            return Err(fault(format!(
                "found {label}; expected a number that is not negative, for the poisson loss"
            )));
        }
        let mut row = Vec::new();
        for &(ref name, value) in features(document, options.features.as_ref())?.iter() {
            if !(-LARGEST..=LARGEST).contains(&value) {
                return Err(fault(format!(
                    "the feature {name} has the value {value}; expected a number of at most \
                     {LARGEST:e}"
                )));
            }
            let next = u32::try_from(self.numbers.len());
            let next = next.map_err(|_| fault("there are more than 2³² features".to_owned()))?;
            let column = *self.numbers.entry_ref(name.as_str()).or_insert(next);
            row.push((column, value));
        }
        self.rows.push_row(&mut row);
        self.targets.push(target);
        check_memory(options.memory, self.memory(), document)
    }

    /// Returns some of the documents, with all features.
    pub(super) fn subset(&self, documents: &[usize]) -> (SparseRows, Vec<f64>) {
        let mut rows = SparseRows::default();
        let mut row = Vec::new();
        for &n in documents {
            row.extend(self.rows.entries(n));
            rows.push_row(&mut row);
            row.clear();
        }
        (rows, documents.iter().map(|&n| self.targets[n]).collect())
    }

    /// Returns the memory usage in bytes; names are estimated.
    pub(super) fn memory(&self) -> usize {
        self.rows.memory() + 8 * self.targets.capacity() + 64 * self.numbers.capacity()
    }
}

/// The smallest number of rows or columns that a thread takes.
const MIN_ROWS: usize = 256;

/// A feature whose centered sum of squares is below this fraction of the sum of squares is
/// constant but for rounding.
const CONSTANT: f64 = 1e-12;

/// X − 1·μᵀ: a row for each document, a column for each feature. Centered features make the bias
/// independent of weights: at the minimum of least squares it is the mean of y.
pub(super) struct Design<'a> {
    pub rows: &'a SparseRows,  // X, [N][D]
    pub columns: SparseRows,   // Xᵀ, [D][N]
    pub means: Vec<f64>,       // [D] μ
    pub raw_squares: Vec<f64>, // [D] Σ_n x²
    pub squares: Vec<f64>,     // [D] Σ_n (x − μ)², 0 for constant features
}

impl<'a> Design<'a> {
    /// Centers the columns of X, of which there are `columns`.
    pub fn new(rows: &'a SparseRows, columns: usize) -> Self {
        let columns = rows.transposed(columns);
        let count = rows.len() as f64;
        let moments = |j: usize| {
            let entries = || columns.entries(j).map(|(_, x)| x);
            let mean = entries().map(|x| x / count).sum::<f64>();
            let raw: f64 = entries().map(|x| x * x).sum();
            let absent = (count - entries().count() as f64).max(0.0);
            let centered: f64 = entries().map(|x| (x - mean) * (x - mean)).sum();
            let centered = centered + absent * mean * mean;
            let is_constant = centered <= CONSTANT * raw;
            (mean, [raw, if is_constant { 0.0 } else { centered }])
        };
        let numbers = (0..columns.len()).into_par_iter().with_min_len(MIN_ROWS);
        let (means, squares): (Vec<f64>, Vec<[f64; 2]>) = numbers.map(moments).unzip();
        Self {
            rows,
            means,
            raw_squares: squares.iter().map(|s| s[0]).collect(),
            squares: squares.iter().map(|s| s[1]).collect(),
            columns,
        }
    }

    /// Returns the memory in bytes that a design takes besides X.
    pub fn memory(rows: &SparseRows, columns: usize) -> usize {
        rows.memory() + 8 * 4 * columns
    }

    /// Returns the number of features D.
    pub fn dimension(&self) -> usize {
        self.means.len()
    }

    /// Returns the bias of features as they are, for a bias of centered features.
    pub fn plain_bias(&self, w: &[f64], bias: f64) -> f64 {
        bias - self.shift(w)
    }

    /// Returns μ·w.
    pub fn shift(&self, w: &[f64]) -> f64 {
        self.means.iter().zip(w).map(|(m, w)| m * w).sum()
    }

    /// Returns w·(x_n − μ) + bias for each document, `[N]`.
    pub fn scores(&self, w: &[f64], bias: f64) -> Vec<f64> {
        let bias = self.plain_bias(w, bias);
        self.by_document(|n| {
            let entries = self.rows.entries(n);
            bias + entries.map(|(j, x)| x * w[j as usize]).sum::<f64>()
        })
    }

    /// Returns Σ_n (x_nj − μ_j)·a_n for each feature, `[D]`.
    pub fn transpose_product(&self, a: &[f64]) -> Vec<f64> {
        let sum: f64 = a.iter().sum();
        self.by_feature(|j| {
            let entries = self.columns.entries(j);
            let product: f64 = entries.map(|(n, x)| x * a[n as usize]).sum();
            product - self.means[j] * sum
        })
    }

    pub fn by_document(&self, number: impl Fn(usize) -> f64 + Sync + Send) -> Vec<f64> {
        let documents = (0..self.rows.len()).into_par_iter();
        documents.with_min_len(MIN_ROWS).map(number).collect()
    }

    pub fn by_feature(&self, number: impl Fn(usize) -> f64 + Sync + Send) -> Vec<f64> {
        let features = (0..self.dimension()).into_par_iter();
        features.with_min_len(MIN_ROWS).map(number).collect()
    }
}
