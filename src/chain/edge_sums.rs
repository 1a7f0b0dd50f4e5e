//! Expected transition counts Σ_t p(y_{t−1} = a, y_t = b): the gradient of the log-partition
//! function with respect to `trans`.

use super::lattice::{Lattice, Mode};
use super::products::add_outer_products;
use super::transitions::Transitions;
use crate::math::{add, add_scaled};
use crate::simd::{self, Kernel};

/// Sums of edge marginals over the tokens of any number of sentences.
///
/// Without edge scores the marginal is `α[t−1][a]·e[a][b]·v[t][b]`, where e is the same for all
/// tokens and sentences (notation of [`Lattice`]). So the sum accumulates α·v, one multiply-add per
/// (t, a, b), and [`EdgeSums::finish`] multiplies by e once. Sentences with edge scores or in log
/// space are accumulated separately, as marginals.
#[derive(Clone, Debug)]
pub struct EdgeSums {
    products: Vec<f64>,  // [K][S] Σ α·v, not yet multiplied by e
    marginals: Vec<f64>, // [K][S] Σ μ
    scratch: Vec<f64>,   // [K][S]
}

impl EdgeSums {
    /// Creates sums that are 0, for the labels of `transitions`.
    #[must_use]
    pub fn new(transitions: &Transitions) -> Self {
        let zeros = vec![0.0; transitions.labels() * transitions.stride()];
        Self {
            products: zeros.clone(),
            marginals: zeros.clone(),
            scratch: zeros,
        }
    }

    /// Resets the sums to 0.
    pub fn clear(&mut self) {
        self.products.fill(0.0);
        self.marginals.fill(0.0);
    }

    /// Adds the sums of other sentences under the same transitions.
    ///
    /// # Panics
    ///
    /// If `other` is for another number of labels.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.products.len(), other.products.len(), "labels differ");
        add(&mut self.products, &other.products);
        add(&mut self.marginals, &other.marginals);
    }

    /// Adds a multiple of the sums of other sentences under the same transitions.
    ///
    /// # Panics
    ///
    /// If `other` is for another number of labels.
    pub fn merge_scaled(&mut self, factor: f64, other: &Self) {
        assert_eq!(self.products.len(), other.products.len(), "labels differ");
        add_scaled(&mut self.products, factor, &other.products);
        add_scaled(&mut self.marginals, factor, &other.marginals);
    }

    /// Writes the sums to `out` `[K][S]`. `transitions` must be those of all the sentences.
    ///
    /// # Panics
    ///
    /// If `out` has the wrong shape or `transitions` have another number of labels.
    pub fn finish(&self, transitions: &Transitions, out: &mut [f64]) {
        let potentials = transitions.potentials();
        assert_eq!(self.products.len(), potentials.len(), "labels differ");
        assert_eq!(self.products.len(), out.len(), "sums are [K][S]");
        let sums = self.products.iter().zip(potentials).zip(&self.marginals);
        for (out, ((product, potential), marginal)) in out.iter_mut().zip(sums) {
            *out = product * potential + marginal;
        }
    }
}

impl Lattice {
    /// Adds Σ_t p(y_{t−1} = a, y_t = b) of the last sentence to `sums`.
    ///
    /// O(TK²) multiply-adds; in log space as many exponentials.
    ///
    /// # Panics
    ///
    /// If `sums` or `transitions` are for another number of labels.
    pub fn add_edge_expectations(&self, transitions: &Transitions, sums: &mut EdgeSums) {
        let size = self.labels * self.stride;
        assert_eq!(sums.products.len(), size, "labels differ");
        if self.mode == Mode::Log || !self.edge.is_empty() {
            for t in 1..self.tokens {
                self.edge_marginals(transitions, t, &mut sums.scratch);
                add(&mut sums.marginals, &sums.scratch);
            }
            return;
        }
        if self.tokens > 1 {
            simd::dispatch(AddEdgeProducts {
                lattice: self,
                sums: &mut sums.products,
            });
        }
    }
}

/// Adds Σ_t α[t−1][a]·v[t][b] of one sentence to `sums` `[K][S]`.
struct AddEdgeProducts<'a> {
    lattice: &'a Lattice,
    sums: &'a mut [f64],
}

impl Kernel for AddEdgeProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Lattice { alpha, stride, .. } = self.lattice;
        let before = &alpha[..alpha.len() - stride];
        let after = &self.lattice.suffix[*stride..];
        add_outer_products(*stride, before, after, self.sums);
    }
}
