//! Expected transition counts Σ_t p(y_{t−1} = a, y_t = b): the gradient of the log-partition
//! function with respect to `trans`.

use super::label_pairs::{GROUP, TokenGroup};
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
///
/// If only some pairs have weights ([`Transitions::with_pairs`]), the sums are those of these
/// pairs, `[P]`, otherwise `[K][S]`.
#[derive(Clone, Debug)]
pub struct EdgeSums {
    products: Vec<f64>,      // [P] or [K][S] Σ α·v, not yet multiplied by e
    marginals: Vec<f64>,     // [P] or [K][S] Σ μ
    scratch: Vec<f64>,       // [K][S], sized when it is first needed
    groups: [TokenGroup; 2], // α and v of tokens whose products are summed next, if [P]
    tokens: usize,           // number of these tokens
}

impl EdgeSums {
    /// Creates sums that are 0, for the labels of `transitions`.
    #[must_use]
    pub fn new(transitions: &Transitions) -> Self {
        let zeros = vec![0.0; transitions.pair_numbers()];
        let mut groups = <[TokenGroup; 2]>::default();
        if transitions.pairs().is_some() {
            let [alpha, v] = &mut groups;
            alpha.clear(transitions.labels());
            v.clear(transitions.labels());
        }
        Self {
            products: zeros.clone(),
            marginals: zeros,
            scratch: Vec::new(),
            groups,
            tokens: 0,
        }
    }

    /// Resets the sums to 0.
    pub fn clear(&mut self) {
        self.products.fill(0.0);
        self.marginals.fill(0.0);
        if self.tokens > 0 {
            let [alpha, _] = &mut self.groups;
            alpha.zero();
            self.tokens = 0;
        }
    }

    /// Adds a multiple of the sums of other sentences under the same `transitions`.
    ///
    /// # Panics
    ///
    /// If `other` is for another number of labels.
    pub fn merge_scaled(&mut self, factor: f64, other: &mut Self, transitions: &Transitions) {
        assert_eq!(self.products.len(), other.products.len(), "labels differ");
        other.add_pending(transitions);
        add_scaled(&mut self.products, factor, &other.products);
        add_scaled(&mut self.marginals, factor, &other.marginals);
    }

    /// Writes the sums to `out`, `[P]` or `[K][S]`. `transitions` must be those of all the
    /// sentences.
    ///
    /// # Panics
    ///
    /// If `out` has the wrong shape or `transitions` have another number of labels.
    pub fn finish(&mut self, transitions: &Transitions, out: &mut [f64]) {
        let numbers = transitions.pair_numbers();
        assert_eq!(self.products.len(), numbers, "labels differ");
        assert_eq!(numbers, out.len(), "sums are [P] or [K][S]");
        self.add_pending(transitions);
        let sums = self.products.iter().zip(&self.marginals);
        let sums = out.iter_mut().zip(sums);
        for ((out, (product, marginal)), potential) in sums.zip(transitions.pair_potentials()) {
            *out = product * potential + marginal;
        }
    }

    /// Adds the products of pending tokens.
    fn add_pending(&mut self, transitions: &Transitions) {
        let Some(pairs) = transitions.pairs().filter(|_| self.tokens > 0) else {
            return;
        };
        let [alpha, v] = &mut self.groups;
        pairs.add_group(alpha, v, &mut self.products);
        alpha.zero();
        self.tokens = 0;
    }
}

impl Lattice {
    /// Adds Σ_t p(y_{t−1} = a, y_t = b) of the last sentence to `sums`.
    ///
    /// O(TK²) multiply-adds, or O(TK + TP) if only P pairs have weights; in log space as many
    /// exponentials as there are pairs.
    ///
    /// # Panics
    ///
    /// If `sums` or `transitions` are for another number of labels.
    pub fn add_edge_expectations(&self, transitions: &Transitions, sums: &mut EdgeSums) {
        assert_eq!(transitions.labels(), self.labels, "other transitions");
        let numbers = transitions.pair_numbers();
        assert_eq!(sums.products.len(), numbers, "labels differ");
        if self.mode == Mode::Log || !self.edge.is_empty() {
            sums.scratch.resize(self.labels * self.stride, 0.0);
            for t in 1..self.tokens {
                self.edge_marginals(transitions, t, &mut sums.scratch);
                match transitions.pairs() {
                    None => add(&mut sums.marginals, &sums.scratch),
                    Some(pairs) => pairs.add_at_pairs(&sums.scratch, &mut sums.marginals),
                }
            }
            return;
        }
        if transitions.pairs().is_some() {
            let rows = self.alpha.chunks_exact(self.stride);
            for (alpha, v) in rows.zip(self.suffix.chunks_exact(self.stride).skip(1)) {
                sums.groups[0].set(sums.tokens, 1.0, alpha);
                sums.groups[1].set(sums.tokens, 1.0, v);
                sums.tokens += 1;
                if sums.tokens == GROUP {
                    sums.add_pending(transitions);
                }
            }
        } else if self.tokens > 1 {
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
