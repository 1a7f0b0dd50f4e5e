//! Transition and boundary weights as model parameters, and their scores, which all sentences of an
//! evaluation share.

use std::slice::ChunksExact;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::label_pairs::LabelPairs;
use super::products::{FLOOR, exponentiate, padded};
use crate::aligned::Aligned;
use crate::ids::LabelId;

/// Below this number of labels, work by rows is always faster than by pairs.
const FEW_LABELS: usize = 64;

/// If at most one label pair in this many has a score, work by pairs is faster than by rows.
const SPARSE: usize = 12;

/// The order of the chain: how many preceding labels a label depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Order {
    /// Order 0: tokens are independent (multinomial logistic regression).
    #[serde(rename = "0")]
    Zero,
    /// Order 1: a linear-chain CRF.
    #[default]
    #[serde(rename = "1")]
    One,
}

crate::named!(Order, "order": Zero = "0", One = "1");

/// Transition scores and boundary weights, with their potentials.
///
/// Created once, then [updated](Transitions::set) before every evaluation without allocating.
#[derive(Clone, Debug)]
pub struct Transitions {
    labels: usize,
    order: Order,
    matrices: OnceLock<Matrices>, // computed when first needed
    pub(super) shift: f64,        // the largest score
    start: Vec<f64>,              // [S]
    end: Vec<f64>,                // [S]
    pub(super) floor: Vec<f64>,   // [S] φ for labels, 0 in the padding
    pub(super) is_finite: bool,   // all scores are finite
    pairs: Option<LabelPairs>,
}

/// The transitions between all labels.
#[derive(Clone, Debug)]
struct Matrices {
    scores: Aligned,     // [K][S]
    potentials: Aligned, // [K][S] exp(scores − shift)
    transposed: Aligned, // [K][S] potentials at [b][a]
}

impl Transitions {
    /// Creates transitions between `labels` labels, with all scores 0.
    ///
    /// # Panics
    ///
    /// If `labels` is 0 or above [`LabelId::LIMIT`].
    pub fn new(labels: usize, order: Order) -> Self {
        const LIMIT: usize = LabelId::LIMIT;
        assert!((1..=LIMIT).contains(&labels), "{labels} labels; expected 1 to {LIMIT}");
        let stride = padded(labels);
        let mut floor = vec![0.0; stride];
        floor[..labels].fill(FLOOR);
        Self {
            labels,
            order,
            matrices: OnceLock::new(),
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
    pub fn from_weights(weights: &LabelWeights, order: Order) -> Self {
        let labels = weights.start.len();
        let stride = padded(labels);
        let pairs = weights.transitions.iter().enumerate().filter(|(_, w)| **w != 0.0);
        let position = |(i, _)| (i / labels * stride + i % labels) as u32;
        let positions: Vec<u32> = pairs.map(position).collect();
        let mut transitions = Self::for_pairs(labels, order, Some(&positions));
        transitions.set(&weights.transitions, &weights.start, &weights.end);
        transitions
    }

    /// Creates transitions at order 1, of which only the pairs at `positions` a·S + b, ascending,
    /// may have scores other than 0: products take time, and the transitions memory, O(K + P) for P
    /// pairs.
    ///
    /// # Panics
    ///
    /// If `labels` is 0 or above [`LabelId::LIMIT`].
    pub fn with_pairs(labels: usize, positions: Vec<u32>) -> Self {
        Self { pairs: Some(LabelPairs::new(labels, positions)), ..Self::new(labels, Order::One) }
    }

    /// Sets `trans[a][b]` from `trans` `[K][K]`, and the boundary weights from `start` and `end`
    /// `[K]`. An empty slice means all 0. At order 0 `trans` is ignored; if only some pairs may
    /// have scores, all others are ignored.
    ///
    /// # Panics
    ///
    /// If a slice has another length.
    pub fn set(&mut self, trans: &[f64], start: &[f64], end: &[f64]) {
        let (labels, stride, order) = (self.labels, self.stride(), self.order);
        let has_shape = trans.is_empty() || trans.len() == labels * labels;
        assert!(order == Order::Zero || has_shape, "transitions are [K][K]");
        if let Some(pairs) = &self.pairs {
            let score = |&position: &u32| {
                let (a, b) = (position as usize / stride, position as usize % stride);
                trans.get(a * labels + b).copied().unwrap_or(0.0)
            };
            let scores: Vec<f64> = pairs.positions.iter().map(score).collect();
            return self.set_pairs(&scores, start, end);
        }
        self.set_boundaries(start, end);
        if order == Order::Zero {
            return;
        }
        self.shift = trans.iter().copied().reduce(f64::max).unwrap_or(0.0);
        let mut matrices = self.matrices.take().unwrap_or_else(|| Matrices::new(labels));
        let rows = matrices.scores.chunks_exact_mut(stride);
        match trans.is_empty() {
            true => rows.for_each(|row| row.fill(0.0)),
            false => rows
                .zip(trans.chunks_exact(labels))
                .for_each(|(row, from)| row[..labels].copy_from_slice(from)),
        }
        matrices.update(labels, self.shift);
        self.matrices = matrices.into();
        self.is_finite &= trans.iter().all(|x| x.is_finite());
    }

    /// Like [`set`](Self::set), but `scores` are those of the [`pairs`](Self::pairs), `[P]`.
    ///
    /// # Panics
    ///
    /// If all pairs may have scores, or a slice has another length.
    pub fn set_pairs(&mut self, scores: &[f64], start: &[f64], end: &[f64]) {
        self.set_boundaries(start, end);
        let pairs = self.pairs.as_mut().expect("some pairs have scores");
        assert_eq!(scores.len(), pairs.len(), "scores of pairs are [P]");
        // Pairs without a weight have the score 0.
        self.shift = scores.iter().copied().fold(0.0, f64::max);
        pairs.set(scores, self.shift);
        self.matrices.take();
        self.is_finite &= scores.iter().all(|x| x.is_finite());
    }

    /// Sets the boundary weights from weights `[K]` or none.
    fn set_boundaries(&mut self, start: &[f64], end: &[f64]) {
        self.is_finite = start.iter().chain(end).all(|x| x.is_finite());
        for (row, weights) in [(&mut self.start, start), (&mut self.end, end)] {
            if weights.is_empty() {
                row.fill(0.0);
            } else {
                assert_eq!(weights.len(), self.labels, "boundary weights are [K]");
                row[..self.labels].copy_from_slice(weights);
            }
        }
    }

    /// Returns the matrices, which are computed if need be.
    fn matrices(&self) -> &Matrices {
        self.matrices.get_or_init(|| {
            let mut matrices = Matrices::new(self.labels);
            if let Some(pairs) = &self.pairs {
                pairs.add_to_matrix(&pairs.successors.scores, &mut matrices.scores);
            }
            matrices.update(self.labels, self.shift);
            matrices
        })
    }

    /// Returns the pairs that have scores, if only they do.
    pub fn pairs(&self) -> Option<&LabelPairs> {
        self.pairs.as_ref()
    }

    /// Returns the length of arrays over label pairs: P if only some pairs have scores, else K·S.
    pub fn pair_numbers(&self) -> usize {
        let all = self.labels * self.stride();
        self.pairs.as_ref().map_or(all, LabelPairs::len)
    }

    /// Returns the scores of label pairs, `[P]` if only some pairs have scores, else `[K][S]`.
    pub fn pair_scores(&self) -> &[f64] {
        self.pairs.as_ref().map_or_else(|| self.scores(), |pairs| &pairs.successors.scores)
    }

    /// Returns the scores of label pairs, like [`pair_scores`](Self::pair_scores), of first labels
    /// and of last labels, `[S]`.
    pub fn label_scores(&self) -> [&[f64]; 3] {
        [self.pair_scores(), &self.start, &self.end]
    }

    /// Returns the potentials of label pairs, `[P]` if only some pairs have scores, else `[K][S]`.
    pub fn pair_potentials(&self) -> &[f64] {
        self.pairs.as_ref().map_or_else(|| self.potentials(), |pairs| &pairs.successors.potentials)
    }

    /// Returns the index of a pair of labels in arrays over label pairs; `None` if it is not among
    /// those that have scores.
    ///
    /// # Panics
    ///
    /// If a label is not below K.
    pub fn pair_index(&self, a: usize, b: usize) -> Option<usize> {
        assert!(b < self.labels, "label {b} of {}", self.labels);
        match &self.pairs {
            Some(pairs) => pairs.index(a, b),
            None => Some(a * self.stride() + b),
        }
    }

    /// Returns `trans[a][b]`.
    ///
    /// # Panics
    ///
    /// If a label is not below K.
    pub fn score(&self, a: usize, b: usize) -> f64 {
        let index = self.pair_index(a, b);
        index.map_or(0.0, |index| self.pair_scores()[index])
    }

    /// Returns the number of labels K.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns the stride S of rows over labels.
    pub fn stride(&self) -> usize {
        padded(self.labels)
    }

    /// Returns the order of the chain.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns `trans[a][b]`, of shape `[K][S]`. If only some pairs have scores, the first call
    /// computes this and the following two matrices.
    pub fn scores(&self) -> &[f64] {
        &self.matrices().scores
    }

    /// Returns `e[a][b] = exp(trans[a][b] − max trans)`, of shape `[K][S]`; at least 2⁻¹⁰⁰⁰.
    pub fn potentials(&self) -> &[f64] {
        &self.matrices().potentials
    }

    /// Returns the transpose of [`Transitions::potentials`]: `e[a][b]` at `[b][a]`, of shape
    /// `[K][S]`.
    pub fn transposed_potentials(&self) -> &[f64] {
        &self.matrices().transposed
    }

    /// Returns `start[b]`, of shape `[S]`.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// Returns `end[a]`, of shape `[S]`.
    pub fn end(&self) -> &[f64] {
        &self.end
    }
}

impl Matrices {
    /// Creates matrices of scores 0, to be [updated](Self::update).
    fn new(labels: usize) -> Self {
        let [scores, potentials, transposed] =
            [(); 3].map(|()| Aligned::zeros(labels * padded(labels)));
        Self { scores, potentials, transposed }
    }

    /// Updates the potentials for the scores.
    fn update(&mut self, labels: usize, shift: f64) {
        for (x, score) in self.potentials.iter_mut().zip(&*self.scores) {
            *x = score - shift;
        }
        exponentiate(&mut self.potentials);
        let stride = padded(labels);
        for (a, row) in self.potentials.chunks_exact_mut(stride).enumerate() {
            row[labels..].fill(0.0);
            for (b, x) in row[..labels].iter().enumerate() {
                self.transposed[b * stride + a] = *x;
            }
        }
    }
}

/// Transition and boundary weights, unpadded: the parameters that depend on labels alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabelWeights {
    /// Transition weights `[K][K]`, from the label of the row to that of the column.
    pub transitions: Vec<f64>,
    /// Weights of the first label, `[K]`.
    pub start: Vec<f64>,
    /// Weights of the last label, `[K]`.
    pub end: Vec<f64>,
}

impl LabelWeights {
    /// Returns the weights `[K]` of the transitions from each label, `[K][K]` in all.
    pub fn transition_rows(&self) -> ChunksExact<'_, f64> {
        self.transitions.chunks_exact(self.start.len().max(1))
    }
}
