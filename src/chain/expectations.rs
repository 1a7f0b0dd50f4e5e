//! How often each transition is expected: Σ_t p(y_{t−1} = a, y_t = b), the gradient of the
//! log-partition in `trans`.

use super::lattice::{Lattice, Mode};
use super::transitions::Transitions;
use crate::wide::{self, Kernel};

/// Sums of edge marginals over the tokens of any number of sentences.
///
/// Without edge scores the marginal is `α[t−1][a]·e[a][b]·v[t][b]` with an e that is the same for
/// all tokens and sentences (symbols as in [`Lattice`]). So α·v is summed, one multiply-add per
/// (t, a, b), and e multiplied in once, by [`EdgeSums::finish`]. Sentences with edge scores or in
/// log space are summed apart, as marginals.
#[derive(Clone, Debug)]
pub struct EdgeSums {
    products: Vec<f64>,  // [K][S] Σ α·v, to be multiplied by e
    marginals: Vec<f64>, // [K][S] Σ μ
    scratch: Vec<f64>,   // [K][S]
}

impl EdgeSums {
    /// Sums of nothing, for as many labels as `transitions` have.
    #[must_use]
    pub fn new(transitions: &Transitions) -> Self {
        let zeros = vec![0.0; transitions.labels() * transitions.stride()];
        Self {
            products: zeros.clone(),
            marginals: zeros.clone(),
            scratch: zeros,
        }
    }

    /// Starts again from nothing.
    pub fn clear(&mut self) {
        self.products.fill(0.0);
        self.marginals.fill(0.0);
    }

    /// Adds what `other` has summed, of other sentences under the same transitions.
    ///
    /// # Panics
    ///
    /// If `other` is for another number of labels.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.products.len(), other.products.len(), "labels differ");
        add(&mut self.products, &other.products);
        add(&mut self.marginals, &other.marginals);
    }

    /// Writes the sums to `out` `[K][S]`; `transitions` are those of all the sentences.
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
    /// O(TK²) multiply-adds; as many exponentials in log space.
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
        wide::run(Products {
            lattice: self,
            sums: &mut sums.products,
        });
    }

    /// Adds Σ_t α[t−1][a]·v[t][b] to `sums` `[K][S]`.
    ///
    /// Four tokens at a time, so that `sums` are read and written once for four products.
    #[inline(always)]
    fn add_products(&self, stride: usize, sums: &mut [f64]) {
        let Some(edges) = self.tokens.checked_sub(1) else {
            return;
        };
        let (before, after) = (&self.alpha[..edges * stride], &self.suffix[stride..]);
        let fours = before
            .chunks_exact(4 * stride)
            .zip(after.chunks_exact(4 * stride));
        for (before, after) in fours {
            let (v, w) = after.split_at(2 * stride);
            let ((v0, v1), (v2, v3)) = (v.split_at(stride), w.split_at(stride));
            for (a, row) in sums.chunks_exact_mut(stride).enumerate() {
                let [x0, x1, x2, x3] = [0, 1, 2, 3].map(|i| before[i * stride + a]);
                let v = v0.iter().zip(v1).zip(v2).zip(v3);
                for (sum, (((v0, v1), v2), v3)) in row.iter_mut().zip(v) {
                    *sum += (x0 * v0 + x1 * v1) + (x2 * v2 + x3 * v3);
                }
            }
        }
        let rest = edges / 4 * 4 * stride;
        let ones = before[rest..].chunks_exact(stride);
        for (before, after) in ones.zip(after[rest..].chunks_exact(stride)) {
            for (row, x) in sums.chunks_exact_mut(stride).zip(before) {
                for (sum, v) in row.iter_mut().zip(after) {
                    *sum += x * v;
                }
            }
        }
    }
}

/// The expectations of one sentence.
struct Products<'a> {
    lattice: &'a Lattice,
    sums: &'a mut [f64],
}

impl Kernel for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (lattice, sums) = (self.lattice, self.sums);
        // A constant stride lets the compiler unroll the inner loops and drop their bounds checks.
        match lattice.stride {
            8 => lattice.add_products(8, sums),
            16 => lattice.add_products(16, sums),
            24 => lattice.add_products(24, sums),
            32 => lattice.add_products(32, sums),
            stride => lattice.add_products(stride, sums),
        }
    }
}

fn add(sums: &mut [f64], terms: &[f64]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
