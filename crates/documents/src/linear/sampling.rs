//! Dropout by sampling: what the quadratic noise term approximates.
//!
//! R = (1/S) Σ_s A(f̃_s) − A(f), where features are dropped with rate δ in sample s, and those that
//! remain grow by 1/(1 − δ). There are new masks in every iteration.

use dropchain::kernel::random::{nth, uniform};

/// The masks of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    pub samples: usize,
    rate: f64,
    seed: u64,
    iteration: u64,
    /// Whether all classes share a mask.
    is_shared: bool,
}

impl Sampling {
    pub fn new(samples: usize, rate: f64, seed: u64, is_shared: bool) -> Self {
        Self { samples, rate, seed, iteration: 0, is_shared }
    }

    /// Draws other masks.
    pub fn begin(&mut self, iteration: u64) {
        self.iteration = iteration;
    }

    /// Returns what feature `column` of a document is multiplied by in a sample, for the score of
    /// class `class` of so many. Two classes have one score: the difference of theirs.
    pub fn factor(&self, [document, sample]: [usize; 2], column: usize, class: [usize; 2]) -> f64 {
        let seed = nth(nth(self.seed, self.iteration), (document * self.samples + sample) as u64);
        let kept = |number: usize| {
            let is_kept = uniform(seed, number as u64) > self.rate;
            if is_kept { 1.0 / (1.0 - self.rate) } else { 0.0 }
        };
        match class {
            _ if self.is_shared => kept(column),
            [_, 1] => 0.5 * (kept(2 * column) + kept(2 * column + 1)),
            [class, of] => kept(column * of + class),
        }
    }
}
