//! Label pairs with weights, where few pairs have one: products in O(K + P) for P pairs, not O(K²).
//!
//! All pairs without a weight have the potential κ = exp(−shift). With the excess
//! d[a][b] = e[a][b] − κ, which is 0 for these,
//!
//! ```text
//! Σ_a x[a]·e[a][b]  = κ·Σ_a x[a]   + Σ_{a → b} x[a]·d[a][b]
//! Σ_a x[a]·e²[a][b] = κ²·Σ_a x[a]  + Σ_{a → b} x[a]·d·(2κ + d)
//! ```
//!
//! where a → b are the pairs with a weight. Nothing is approximated.
//!
//! *Rounding.* Where d < 0, terms cancel. As long as no e[a][b] is below κ/2⁸, the sum of |terms|
//! is at most 2⁹ + 1 times Σ |x|·e, and with squares 2¹⁷ + 1 times Σ |x|·e²: relative errors of
//! about (K + P)·2⁻⁴⁴ and (K + P)·2⁻³⁶ at worst. A label with a smaller e, of a transition weight
//! below −5.5, is *suppressed*: its sums are formed pair by pair, O(K).
//!
//! Memory O(K + P): there is no matrix over all pairs.

use super::products::{across, exponentiate, lane_sum, lanewise, padded};
use crate::math::set_zeros;
use crate::simd::{self, Kernel};

/// Pairs with a potential below this multiple of κ are not formed by subtraction: 2⁻⁸.
const SUPPRESSED: f64 = 1.0 / 256.0;

/// Tokens whose products are summed at once.
pub(crate) const GROUP: usize = 16;

/// The label pairs that have weights, with their scores and potentials.
#[derive(Clone, Debug)]
pub struct LabelPairs {
    pub(crate) labels: usize,
    pub(crate) background: f64,     // κ
    pub(crate) positions: Vec<u32>, // [P] a·S + b, ascending
    /// The pairs of each label a with the labels that follow, in the order of `positions`.
    pub(crate) successors: PairLists,
    /// The pairs of each label b with the labels before it.
    pub(crate) predecessors: PairLists,
    pub(crate) sources: Vec<u32>, // [P] of each pair of `predecessors`, its index in `positions`
}

/// Pairs of each label with others: compressed sparse rows.
#[derive(Clone, Debug)]
pub(crate) struct PairLists {
    ends: Vec<u32>,               // [K]
    pub others: Vec<u32>,         // [P] the other label, ascending
    pub scores: Vec<f64>,         // [P]
    pub potentials: Vec<f64>,     // [P] e
    excess: Vec<f64>,             // [P] d
    pub is_suppressed: Vec<bool>, // [K]
}

impl PairLists {
    /// Creates lists of `pairs` of a label and another, sorted.
    fn new(labels: usize, pairs: &[(u32, u32)]) -> Self {
        let end = |label| pairs.partition_point(|pair| pair.0 <= label) as u32;
        let others: Vec<u32> = pairs.iter().map(|pair| pair.1).collect();
        Self {
            ends: (0..labels as u32).map(end).collect(),
            scores: vec![0.0; others.len()],
            potentials: vec![1.0; others.len()],
            excess: vec![0.0; others.len()],
            others,
            is_suppressed: vec![false; labels],
        }
    }

    /// Updates the excess and what depends on it, for the potentials of the pairs.
    fn update(&mut self, background: f64) {
        let lowest = background * (SUPPRESSED - 1.0);
        for label in 0..self.ends.len() {
            self.is_suppressed[label] = false;
            for i in self.range(label) {
                let d = self.potentials[i] - background;
                self.excess[i] = d;
                self.is_suppressed[label] |= d < lowest;
            }
        }
    }

    /// Returns the indices of the pairs of a label.
    #[inline(always)]
    pub fn range(&self, label: usize) -> std::ops::Range<usize> {
        let start = label.checked_sub(1).map_or(0, |i| self.ends[i]);
        start as usize..self.ends[label] as usize
    }

    /// Returns the value that each of all labels, in order, has with `label`: of `values` `[P]` if
    /// they are a pair, otherwise `absent`.
    #[inline(always)]
    pub fn row(&self, label: usize, values: &[f64], absent: f64) -> impl Iterator<Item = f64> {
        let range = self.range(label);
        let mut pairs = self.others[range.clone()].iter().zip(&values[range]);
        let mut next = pairs.next();
        (0..self.ends.len() as u32).map(move |other| match next {
            Some((&paired, &value)) if paired == other => {
                next = pairs.next();
                value
            }
            _ => absent,
        })
    }

    /// out[i] = first[i] + Σ_j x[j]·e[i, j], with x `[K]`, out `[S]`.
    #[inline(always)]
    pub fn product(&self, background: f64, x: &[f64], first: &[f64], out: &mut [f64]) {
        let x = &x[..self.ends.len()];
        let (whole, rest) = x.as_chunks::<8>();
        let sum = lane_sum::<8>(whole.as_flattened()) + rest.iter().sum::<f64>();
        let all = background * sum;
        out[self.ends.len()..].fill(0.0);
        let mut start = 0;
        for (i, &end) in self.ends.iter().enumerate() {
            let range = start..end as usize;
            start = end as usize;
            out[i] = if self.is_suppressed[i] {
                let e = self.row(i, &self.potentials, background);
                first[i] + e.zip(x).map(|(e, x)| e * x).sum::<f64>()
            } else {
                let mut sums = [first[i] + all, 0.0];
                let (others, excess) = (&self.others[range.clone()], &self.excess[range]);
                let (pairs, last) = others.as_chunks::<2>();
                let (values, last_value) = excess.as_chunks::<2>();
                for (j, d) in pairs.iter().zip(values) {
                    sums[0] = x[j[0] as usize].mul_add(d[0], sums[0]);
                    sums[1] = x[j[1] as usize].mul_add(d[1], sums[1]);
                }
                for (j, d) in last.iter().zip(last_value) {
                    sums[0] = x[*j as usize].mul_add(*d, sums[0]);
                }
                sums[0] + sums[1]
            };
        }
    }
}

impl LabelPairs {
    /// Creates the pairs at `positions` a·S + b, ascending, of `labels` labels.
    pub(super) fn new(labels: usize, positions: Vec<u32>) -> Self {
        let stride = padded(labels) as u32;
        let after: Vec<_> = positions.iter().map(|p| (p / stride, p % stride)).collect();
        let reversed = |&i: &u32| {
            let (a, b) = after[i as usize];
            (b, a)
        };
        let mut sources: Vec<u32> = (0..positions.len() as u32).collect();
        sources.sort_by_key(reversed);
        let before: Vec<_> = sources.iter().map(reversed).collect();
        Self {
            labels,
            background: 1.0,
            successors: PairLists::new(labels, &after),
            predecessors: PairLists::new(labels, &before),
            sources,
            positions,
        }
    }

    /// Sets the scores, `[P]`, and the potentials exp(score − shift).
    pub(super) fn set(&mut self, scores: &[f64], shift: f64) {
        let mut background = [-shift];
        exponentiate(&mut background);
        [self.background] = background;
        let (after, before) = (&mut self.successors, &mut self.predecessors);
        after.scores.copy_from_slice(scores);
        for (potential, score) in after.potentials.iter_mut().zip(scores) {
            *potential = score - shift;
        }
        exponentiate(&mut after.potentials);
        for (i, &source) in self.sources.iter().enumerate() {
            before.scores[i] = after.scores[source as usize];
            before.potentials[i] = after.potentials[source as usize];
        }
        after.update(self.background);
        before.update(self.background);
    }

    /// Returns the index of a pair in `positions`.
    pub fn index(&self, a: usize, b: usize) -> Option<usize> {
        let range = self.successors.range(a);
        let found = self.successors.others[range.clone()].binary_search(&(b as u32));
        found.ok().map(|i| range.start + i)
    }

    /// Returns the number of pairs P.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Adds the elements of a matrix `[K][S]` at the positions of the pairs to `sums` `[P]`.
    pub(crate) fn add_at_pairs(&self, matrix: &[f64], sums: &mut [f64]) {
        for (sum, &position) in sums.iter_mut().zip(&self.positions) {
            *sum += matrix[position as usize];
        }
    }

    /// Adds `sums` `[P]` to the elements of a matrix `[K][S]` at the positions of the pairs.
    pub(crate) fn add_to_matrix(&self, sums: &[f64], matrix: &mut [f64]) {
        for (sum, &position) in sums.iter().zip(&self.positions) {
            matrix[position as usize] += sum;
        }
    }

    /// Adds Σ_m x[a][m]·y[b][m] of each pair (a, b) to `sums` `[P]`, where x and y are groups of
    /// tokens by label, `[K][GROUP]`.
    pub(crate) fn add_group(&self, x: &TokenGroup, y: &TokenGroup, sums: &mut [f64]) {
        simd::dispatch(AddGroup { pairs: self, x, y, sums });
    }
}

/// Rows over labels of up to [`GROUP`] tokens, transposed: `[K][GROUP]`, 0 where there is no token.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenGroup(Vec<f64>);

impl TokenGroup {
    /// Sizes the group for `labels` labels, and clears it.
    pub fn clear(&mut self, labels: usize) {
        set_zeros(&mut self.0, labels * GROUP);
    }

    /// Sets all rows to 0.
    pub fn zero(&mut self) {
        self.0.fill(0.0);
    }

    /// Sets token `m` of the group to a row over labels.
    #[inline(always)]
    pub fn set(&mut self, m: usize, row: impl Iterator<Item = f64>) {
        for (group, x) in self.0.as_chunks_mut::<GROUP>().0.iter_mut().zip(row) {
            group[m] = x;
        }
    }
}

/// The kernel of [`LabelPairs::add_group`].
struct AddGroup<'a> {
    pairs: &'a LabelPairs,
    x: &'a TokenGroup,
    y: &'a TokenGroup,
    sums: &'a mut [f64],
}

impl Kernel for AddGroup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        let lists = &self.pairs.successors;
        let (x, y) = (self.x.0.as_chunks::<GROUP>().0, self.y.0.as_chunks::<GROUP>().0);
        for (a, x) in x[..self.pairs.labels].iter().enumerate() {
            let range = lists.range(a);
            for (&b, sum) in lists.others[range.clone()].iter().zip(&mut self.sums[range]) {
                let mut lanes = [0.0; 8];
                for (x, y) in x.as_chunks::<8>().0.iter().zip(y[b as usize].as_chunks::<8>().0) {
                    lanes = lanewise(|j| x[j].mul_add(y[j], lanes[j]));
                }
                *sum += across(lanes);
            }
        }
    }
}
