//! Which pairs of column and class have a weight, and where.

use std::ops::Range;

use rayon::prelude::*;

/// The number of columns that a thread takes.
const BLOCK: usize = 256;

/// The weights of columns, one column after another: those of all F scores, or of some.
#[derive(Clone, Debug)]
pub(super) struct WeightMap {
    columns: usize,
    outputs: usize,
    all: Vec<u32>,           // [F] 0, 1, …
    some: Option<SomePairs>, // else all
}

#[derive(Clone, Debug)]
struct SomePairs {
    ends: Vec<usize>,  // [D]
    classes: Vec<u32>, // of each weight
}

impl WeightMap {
    /// All pairs of so many columns and scores have a weight.
    pub fn all(columns: usize, outputs: usize) -> Self {
        Self { columns, outputs, all: (0..outputs as u32).collect(), some: None }
    }

    /// The pairs that occur have a weight: `classes` are those of a column, ascending.
    pub fn some(outputs: usize, classes: impl Iterator<Item = Vec<u32>>) -> Self {
        let mut some = SomePairs { ends: Vec::new(), classes: Vec::new() };
        for of_column in classes {
            some.classes.extend(of_column);
            some.ends.push(some.classes.len());
        }
        Self { some: Some(some.clone()), ..Self::all(some.ends.len(), outputs) }
    }

    /// Returns the number F of scores.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the number of weights.
    pub fn len(&self) -> usize {
        match &self.some {
            None => self.columns * self.outputs,
            Some(some) => some.classes.len(),
        }
    }

    /// Returns the classes of the weights of a column, and where these are.
    #[inline(always)]
    pub fn column(&self, j: usize) -> (&[u32], Range<usize>) {
        match &self.some {
            None => (&self.all, j * self.outputs..(j + 1) * self.outputs),
            Some(some) => {
                let start = if j == 0 { 0 } else { some.ends[j - 1] };
                let range = start..some.ends[j];
                (&some.classes[range.clone()], range)
            }
        }
    }

    /// Adds factor·w to the scores of a column's classes.
    #[inline(always)]
    pub fn add(&self, j: usize, factor: f64, weights: &[f64], scores: &mut [f64]) {
        let (classes, range) = self.column(j);
        let weights = &weights[range];
        match self.some {
            None => scores.iter_mut().zip(weights).for_each(|(s, w)| *s += factor * w),
            Some(_) => {
                classes.iter().zip(weights).for_each(|(&k, w)| scores[k as usize] += factor * w);
            }
        }
    }

    /// Adds factor·w² to the variances of a column's classes.
    #[inline(always)]
    pub fn add_squares(&self, j: usize, factor: f64, weights: &[f64], variances: &mut [f64]) {
        let (classes, range) = self.column(j);
        for (&k, w) in classes.iter().zip(&weights[range]) {
            variances[k as usize] += factor * w * w;
        }
    }

    /// Calls `visit` with the class and the number of each weight.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize)) {
        for j in 0..self.columns {
            let (classes, range) = self.column(j);
            classes.iter().zip(range).for_each(|(&k, i)| visit(k as usize, i));
        }
    }

    /// Calls `write` in parallel with each column, where its weights are, and its part of
    /// `numbers`, one for each weight.
    pub fn by_column(
        &self,
        mut numbers: &mut [f64],
        write: impl Fn(usize, Range<usize>, &mut [f64]) + Sync,
    ) {
        let mut blocks = Vec::with_capacity(self.columns / BLOCK + 1);
        for first in (0..self.columns).step_by(BLOCK) {
            let last = (first + BLOCK).min(self.columns);
            let length = self.column(last - 1).1.end - self.column(first).1.start;
            let (own, rest) = numbers.split_at_mut(length);
            blocks.push((first..last, own));
            numbers = rest;
        }
        blocks.into_par_iter().for_each(|(columns, mut own)| {
            for j in columns {
                let (_, range) = self.column(j);
                let (part, rest) = own.split_at_mut(range.len());
                write(j, range, part);
                own = rest;
            }
        });
    }
}
