//! Transition scores and boundary weights, shared by all sentences of an evaluation.

use serde::{Deserialize, Serialize};

use super::label_pairs::LabelPairs;
use super::label_weights::LabelWeights;
use super::layout::padded;
use crate::ids::LabelId;
use crate::math::exp_at_least;
use crate::simd::{self, Kernel};

/// φ, the lower bound of potentials and messages in scaled exponentials: 2⁻¹⁰⁰⁰.
///
/// `forward_backward.rs` explains why it is needed.
pub(super) const FLOOR: f64 = f64::from_bits((1023 - 1000) << 52);

/// log φ.
const LN_FLOOR: f64 = -1000.0 * std::f64::consts::LN_2;

/// Below this number of labels, work by rows is always faster than by pairs.
const FEW_LABELS: usize = 64;

/// If at most one label pair in this many has a score, work by pairs is faster than by rows.
const SPARSE: usize = 12;

/// The order of the chain: how many preceding labels a label depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Order {
    /// Order 0: tokens are independent (multinomial logistic regression).
    #[serde(rename = "0")]
    Zero,
    /// Order 1: a linear-chain CRF.
    #[serde(rename = "1")]
    One,
}

/// Transition scores and boundary weights, with their potentials.
///
/// Created once, then [updated](Transitions::set) before every evaluation without allocating.
#[derive(Clone, Debug)]
pub struct Transitions {
    labels: usize,
    order: Order,
    scores: Vec<f64>,           // [K][S]
    potentials: Vec<f64>,       // [K][S] exp(scores − shift)
    transposed: Vec<f64>,       // [K][S] potentials at [b][a]
    pub(super) shift: f64,      // the largest score
    start: Vec<f64>,            // [S]
    end: Vec<f64>,              // [S]
    pub(super) floor: Vec<f64>, // [S] φ for labels, 0 in the padding
    pub(super) is_finite: bool, // all scores are finite
    pairs: Option<LabelPairs>,
}

impl Transitions {
    /// Creates transitions between `labels` labels, with all scores 0.
    ///
    /// # Panics
    ///
    /// If `labels` is 0 or above [`LabelId::LIMIT`].
    #[must_use]
    pub fn new(labels: usize, order: Order) -> Self {
        assert!(
            (1..=LabelId::LIMIT).contains(&labels),
            "{labels} labels; expected 1 to {}",
            LabelId::LIMIT
        );
        let stride = padded(labels);
        let mut ones = vec![0.0; labels * stride];
        for row in ones.chunks_exact_mut(stride) {
            row[..labels].fill(1.0);
        }
        let mut floor = vec![0.0; stride];
        floor[..labels].fill(FLOOR);
        Self {
            labels,
            order,
            scores: vec![0.0; labels * stride],
            transposed: ones.clone(),
            potentials: ones,
            shift: 0.0,
            start: vec![0.0; stride],
            end: vec![0.0; stride],
            floor,
            is_finite: true,
            pairs: None,
        }
    }

    /// Creates transitions in which only the pairs at `pairs` a·S + b, ascending, may have scores
    /// other than 0; `None` stands for all. Chooses the faster form: by pairs if few have scores.
    ///
    /// # Panics
    ///
    /// If `labels` is 0 or above [`LabelId::LIMIT`].
    #[must_use]
    pub fn for_pairs(labels: usize, order: Order, pairs: Option<&[u32]>) -> Self {
        match pairs {
            Some(pairs) if Self::is_sparse(labels, order, pairs.len()) => {
                Self::with_pairs(labels, pairs.to_vec())
            }
            _ => Self::new(labels, order),
        }
    }

    /// Returns whether [`for_pairs`](Self::for_pairs) chooses work by pairs, if only `pairs` pairs
    /// may have scores.
    #[must_use]
    pub fn is_sparse(labels: usize, order: Order, pairs: usize) -> bool {
        order == Order::One
            && labels >= FEW_LABELS
            && pairs.saturating_mul(SPARSE) <= labels.saturating_mul(labels)
    }

    /// Creates transitions from the weights of a model.
    ///
    /// # Panics
    ///
    /// If their number of labels is 0 or above [`LabelId::LIMIT`], or their shapes do not agree.
    #[must_use]
    pub fn from_weights(weights: &LabelWeights, order: Order) -> Self {
        let labels = weights.start.len();
        let stride = padded(labels);
        let pairs = weights.transitions.iter().enumerate();
        let pairs = pairs.filter(|(_, w)| **w != 0.0);
        let mut transitions = match Self::is_sparse(labels, order, pairs.clone().count()) {
            true => {
                let positions = pairs.map(|(i, _)| (i / labels * stride + i % labels) as u32);
                Self::with_pairs(labels, positions.collect())
            }
            false => Self::new(labels, order),
        };
        transitions.set(&weights.transitions, &weights.start, &weights.end);
        transitions
    }

    /// Creates transitions at order 1, of which only the pairs at `positions` a·S + b, ascending,
    /// may have scores other than 0: products take time O(K + P) for P pairs.
    ///
    /// # Panics
    ///
    /// If `labels` is 0 or above [`LabelId::LIMIT`].
    #[must_use]
    pub fn with_pairs(labels: usize, positions: Vec<u32>) -> Self {
        let mut pairs = LabelPairs::new(labels, positions);
        let transitions = Self::new(labels, Order::One);
        pairs.update(&transitions.potentials, 1.0);
        Self {
            pairs: Some(pairs),
            ..transitions
        }
    }

    /// Sets `trans[a][b]` from `trans` `[K][K]`, and the boundary weights from `start` and `end`
    /// `[K]`. An empty slice means all 0. At order 0 `trans` is ignored.
    ///
    /// # Panics
    ///
    /// If a slice has another length.
    pub fn set(&mut self, trans: &[f64], start: &[f64], end: &[f64]) {
        let start = set_row(&mut self.start, start, self.labels);
        let end = set_row(&mut self.end, end, self.labels);
        let trans = self.order == Order::Zero || self.set_matrix(trans);
        self.is_finite = start && end && trans;
    }

    /// Sets the scores and potentials; returns whether all scores are finite.
    fn set_matrix(&mut self, trans: &[f64]) -> bool {
        let (labels, stride) = (self.labels, self.stride());
        if trans.is_empty() {
            self.scores.fill(0.0);
        } else {
            assert_eq!(trans.len(), labels * labels, "transitions are [K][K]");
            let rows = self.scores.chunks_exact_mut(stride);
            for (row, from) in rows.zip(trans.chunks_exact(labels)) {
                row[..labels].copy_from_slice(from);
            }
        }
        self.shift = trans.iter().copied().reduce(f64::max).unwrap_or(0.0);
        if self.pairs.is_some() {
            self.shift = self.shift.max(0.0); // that of the pairs without a weight
        }
        for (x, score) in self.potentials.iter_mut().zip(&self.scores) {
            *x = score - self.shift;
        }
        simd::dispatch(Exponentiate {
            potentials: &mut self.potentials,
            labels,
        });
        for (a, row) in self.potentials.chunks_exact(stride).enumerate() {
            for (b, x) in row[..labels].iter().enumerate() {
                self.transposed[b * stride + a] = *x;
            }
        }
        if let Some(pairs) = &mut self.pairs {
            let mut background = [-self.shift];
            exp_at_least(&mut background, LN_FLOOR);
            pairs.update(&self.potentials, background[0]);
        }
        trans.iter().all(|x| x.is_finite())
    }

    /// Returns the pairs that have scores, if only they do.
    #[must_use]
    pub fn pairs(&self) -> Option<&LabelPairs> {
        self.pairs.as_ref()
    }

    /// Returns the length of sums over label pairs: P if only some pairs have scores, else K·S.
    #[must_use]
    pub fn pair_numbers(&self) -> usize {
        let all = self.scores.len();
        self.pairs.as_ref().map_or(all, LabelPairs::len)
    }

    /// Returns the number of labels K.
    #[must_use]
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns the stride S of rows over labels.
    #[must_use]
    pub fn stride(&self) -> usize {
        padded(self.labels)
    }

    /// Returns the order of the chain.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns `trans[a][b]`, of shape `[K][S]`.
    #[must_use]
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Returns `e[a][b] = exp(trans[a][b] − max trans)`, of shape `[K][S]`; at least 2⁻¹⁰⁰⁰.
    #[must_use]
    pub fn potentials(&self) -> &[f64] {
        &self.potentials
    }

    /// Returns the transpose of [`Transitions::potentials`]: `e[a][b]` at `[b][a]`, of shape
    /// `[K][S]`.
    #[must_use]
    pub fn transposed_potentials(&self) -> &[f64] {
        &self.transposed
    }

    /// Returns `start[b]`, of shape `[S]`.
    #[must_use]
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// Returns `end[a]`, of shape `[S]`.
    #[must_use]
    pub fn end(&self) -> &[f64] {
        &self.end
    }
}

/// Sets a padded row from weights `[K]` or none; returns whether all are finite.
fn set_row(row: &mut [f64], weights: &[f64], labels: usize) -> bool {
    if weights.is_empty() {
        row.fill(0.0);
    } else {
        assert_eq!(weights.len(), labels, "boundary weights are [K]");
        row[..labels].copy_from_slice(weights);
    }
    weights.iter().all(|x| x.is_finite())
}

/// [`exponentiate`] as a SIMD kernel.
struct Exponentiate<'a> {
    potentials: &'a mut [f64],
    labels: usize,
}

impl Kernel for Exponentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        exponentiate(self.potentials, self.labels);
    }
}

/// Exponentiates log-potentials, rounding up to φ; sets the padding to 0.
#[inline(always)]
pub(super) fn exponentiate(potentials: &mut [f64], labels: usize) {
    exp_at_least(potentials, LN_FLOOR);
    for row in potentials.chunks_exact_mut(padded(labels)) {
        row[labels..].fill(0.0);
    }
}
