//! The lattice: potentials, messages and marginals of one sentence; and expected transition counts
//! Σ_t p(y_{t−1} = a, y_t = b): the gradient of the log-partition function with respect to `trans`.

use super::label_pairs::{GROUP, TokenGroup};
use super::products::{add_outer_products, blocks, blocks_mut, by_stride, lanewise};
use super::scores::{LabelMask, Scores};
use super::transitions::Transitions;
use crate::aligned::Aligned;
use crate::interrupt::Interrupt;
use crate::math::{add, add_scaled};
use crate::simd::{self, Kernel};

/// The number representation of the messages of a [`Lattice`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Scaled exponentials.
    #[default]
    Scaled,
    /// Natural logarithms, for sentences that would lose precision in exponentials.
    Log,
}

/// Forward and backward messages of one sentence; a reusable workspace.
///
/// Let `n[t][b]` be the node score including boundary weights and
/// `w[t][a][b] = trans[a][b] + edge[t][a][b]`, with the maxima `n̄[t] = max_b n[t][b]` and
/// `w̄[t] = max_{a,b} w[t][a][b]` (without edge scores the maximum of `trans`, the same for all t).
/// The lattice holds
///
/// ```text
/// ψ[t][b] = exp(n[t][b] − n̄[t])                            node potentials
/// e[t][a][b] = exp(w[t][a][b] − w̄[t])                      edge potentials
/// α[t][b] = ψ[t][b] · Σ_a α[t−1][a] · e[t][a][b] / c[t]    c[t] such that Σ_b α[t][b] = 1
/// β[t][a] = Σ_b e[t+1][a][b] · v[t+1][b]                   β[T−1][a] = 1
/// v[t][b] = ψ[t][b] · β[t][b] / c[t]
/// ```
///
/// from which `p(y_t = b) = α[t][b]·β[t][b]` and
/// `p(y_{t−1} = a, y_t = b) = α[t−1][a]·e[t][a][b]·v[t][b]`. `α[t][b]` is the probability of
/// `y_t = b` given the scores up to t, and `v[0]` is the marginal of the first token. At order 0
/// all e are 1. In [`Mode::Log`] the arrays hold the logarithms of the same quantities; marginals
/// are probabilities in both modes.
///
/// Source: Rabiner, "A tutorial on hidden Markov models", Proc. IEEE 77 (1989), section V.A, for
/// the scaling; Lafferty, McCallum and Pereira, "Conditional random fields", ICML 2001, section 3.
#[derive(Clone, Debug, Default)]
pub struct Lattice {
    pub(super) labels: usize, // K
    pub(super) stride: usize, // S
    pub(crate) tokens: usize, // T of the last sentence
    pub(crate) mode: Mode,
    pub(crate) psi: Aligned,       // [T][S]
    pub(crate) alpha: Aligned,     // [T][S]
    pub(crate) beta: Aligned,      // [T][S]
    pub(crate) suffix: Aligned,    // [T][S] v
    pub(super) marginals: Aligned, // [T][S]
    pub(crate) scale: Vec<f64>,    // [T] c
    pub(super) shift: Vec<f64>,    // [T] n̄[t] + w̄[t]; n̄[0] at t = 0
    pub(crate) edge: Vec<f64>,     // [T][K][S] e; empty without edge scores
    /// Ends inference early, with numbers that mean nothing.
    pub interrupt: Interrupt,
}

impl Lattice {
    /// Sizes the arrays and sets log ψ, log e and their maxima; returns whether all scores are
    /// finite. Labels outside `mask` get log ψ = −∞; with a mask, edge scores may be −∞ too.
    pub(crate) fn prepare(
        &mut self,
        transitions: &Transitions,
        scores: Scores,
        mask: Option<&LabelMask>,
    ) -> bool {
        (self.labels, self.stride) = (transitions.labels(), transitions.stride());
        self.tokens = scores.tokens(transitions);
        if let Some(mask) = mask {
            assert_eq!(mask.rows.len(), scores.node.len(), "masks are [T][S]");
        }
        let rows = self.tokens * self.stride;
        for array in
            [&mut self.psi, &mut self.alpha, &mut self.beta, &mut self.suffix, &mut self.marginals]
        {
            array.resize(rows);
        }
        self.scale.resize(self.tokens, 0.0);
        self.shift.resize(self.tokens, 0.0);
        let mut poison = simd::dispatch(PrepareNodes { lattice: self, transitions, scores, mask });
        if let Some(edge) = scores.edges(transitions) {
            poison += self.prepare_edges(transitions, edge, mask.is_some());
        } else {
            self.edge.clear();
            let later = self.shift.iter_mut().skip(1);
            later.for_each(|shift| *shift += transitions.shift);
        }
        transitions.is_finite && poison == 0.0
    }

    /// Sets log e and its maxima; returns 0 if all edge scores are finite or masked, else NaN.
    fn prepare_edges(&mut self, transitions: &Transitions, edge: &[f64], is_masked: bool) -> f64 {
        let mut poison = 0.0;
        let size = self.labels * self.stride;
        self.interrupt.resize(&mut self.edge, edge.len());
        let matrices = self.edge.chunks_exact_mut(size).zip(edge.chunks_exact(size));
        for ((matrix, edge), shift) in matrices.zip(&mut self.shift).skip(1) {
            if self.interrupt.is_set() {
                break;
            }
            let mut highest = f64::NEG_INFINITY;
            let from = edge.chunks_exact(self.stride);
            let from = from.zip(transitions.scores().chunks_exact(self.stride));
            for (row, (edge, trans)) in matrix.chunks_exact_mut(self.stride).zip(from) {
                let (row, padding) = row.split_at_mut(self.labels);
                for ((x, edge), trans) in row.iter_mut().zip(edge).zip(trans) {
                    *x = trans + edge;
                }
                padding.fill(f64::NEG_INFINITY);
                highest = highest.max(max_finite(row, &mut poison));
            }
            matrix.iter_mut().for_each(|x| *x -= highest);
            *shift += highest;
        }
        if is_masked { 0.0 } else { poison }
    }

    /// Returns A = Σ_t (log c[t] + n̄[t] + w̄[t]).
    pub(crate) fn log_partition(&self) -> f64 {
        let scale = self.scale.iter().zip(&self.shift);
        match self.mode {
            Mode::Scaled => scale.map(|(c, shift)| c.ln() + shift).sum(),
            Mode::Log => scale.map(|(c, shift)| c + shift).sum(),
        }
    }

    /// Returns `p(y_t = b)`, of shape `[T][S]`.
    pub fn node_marginals(&self) -> &[f64] {
        &self.marginals
    }

    /// Writes `μ[a][b] = p(y_{t−1} = a, y_t = b)` to `out` `[K][S]`.
    ///
    /// O(K²) multiplications; in log space as many exponentials. At order 0 the result is the
    /// product of the node marginals.
    ///
    /// # Panics
    ///
    /// If `t` is 0 or not below T, if `out` has the wrong shape, or if `transitions`, which must be
    /// those passed to [`Lattice::forward_backward`], have another number of labels.
    pub fn edge_marginals(&self, transitions: &Transitions, t: usize, out: &mut [f64]) {
        assert!(1 <= t && t < self.tokens, "no edge leads to token {t}");
        assert_eq!(transitions.labels(), self.labels, "other transitions");
        assert_eq!(out.len(), self.labels * self.stride, "marginals are [K][S]");
        let before = &self.alpha[(t - 1) * self.stride..][..self.labels];
        let suffix = &self.suffix[t * self.stride..][..self.stride];
        let (matrix, shift) = self.edge_matrix(transitions, t);
        let rows = out.chunks_exact_mut(self.stride);
        let rows = rows.zip(matrix.chunks_exact(self.stride)).zip(before);
        for ((row, weights), before) in rows {
            let columns = row.iter_mut().zip(weights).zip(suffix);
            match self.mode {
                Mode::Scaled => columns.for_each(|((x, e), v)| *x = before * e * v),
                Mode::Log => columns.for_each(|((x, w), v)| *x = (before + (w - shift) + v).exp()),
            }
        }
    }

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
                sums.groups[0].set(sums.tokens, alpha.iter().copied());
                sums.groups[1].set(sums.tokens, v.iter().copied());
                sums.tokens += 1;
                if sums.tokens == GROUP {
                    sums.add_pending(transitions);
                }
            }
        } else if self.tokens > 1 {
            let stride = self.stride;
            let before = &self.alpha[..self.alpha.len() - stride];
            add_outer_products(stride, before, &self.suffix[stride..], &mut sums.products);
        }
    }

    /// Returns e[t] and 0; in log space w[t] and the shift to subtract from it.
    pub(super) fn edge_matrix<'a>(
        &'a self,
        transitions: &'a Transitions,
        t: usize,
    ) -> (&'a [f64], f64) {
        let size = self.labels * self.stride;
        if !self.edge.is_empty() {
            return (&self.edge[t * size..][..size], 0.0);
        }
        match self.mode {
            Mode::Scaled => (transitions.potentials(), 0.0),
            Mode::Log => (transitions.scores(), transitions.shift),
        }
    }
}

/// Sets log ψ and n̄; returns 0 if all node scores are finite, else NaN.
struct PrepareNodes<'a> {
    lattice: &'a mut Lattice,
    transitions: &'a Transitions,
    scores: Scores<'a>,
    mask: Option<&'a LabelMask>,
}

impl Kernel for PrepareNodes<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const SUMS: usize>(self) -> f64 {
        by_stride!(SUMS, self.transitions.stride(), |L, B| self.rows::<L, B>())
    }
}

impl PrepareNodes<'_> {
    #[inline(always)]
    fn rows<const L: usize, const B: usize>(self) -> f64 {
        let Self { lattice, transitions, scores, mask } = self;
        let stride = if B == 0 { transitions.stride() } else { B * L };
        let floor = blocks::<L>(&transitions.floor[..stride]);
        let mut poison = [0.0; L];
        let rows = lattice.psi.chunks_exact_mut(stride).zip(&mut lattice.shift);
        for (t, (row, shift)) in rows.enumerate() {
            scores.copy_node(transitions, t, row);
            for (x, floor) in blocks_mut::<L>(row).iter_mut().zip(floor) {
                *x = lanewise(|j| if floor[j] > 0.0 { x[j] } else { f64::NEG_INFINITY });
                poison = lanewise(|j| poison[j] + if floor[j] > 0.0 { x[j] * 0.0 } else { 0.0 });
            }
            if let Some(mask) = mask {
                add(row, &mask.rows[t * stride..]);
            }
            let mut highest = [f64::NEG_INFINITY; L];
            for x in blocks::<L>(row) {
                highest = lanewise(|j| if x[j] > highest[j] { x[j] } else { highest[j] });
            }
            *shift = highest.into_iter().fold(f64::NEG_INFINITY, f64::max);
            for x in blocks_mut::<L>(row) {
                *x = lanewise(|j| x[j] - *shift);
            }
        }
        poison.iter().sum()
    }
}

/// Returns the maximum of `row`, which may contain −∞; makes `poison` NaN if an element is not
/// finite.
fn max_finite(row: &[f64], poison: &mut f64) -> f64 {
    let mut highest = f64::NEG_INFINITY;
    for &x in row {
        highest = if x > highest { x } else { highest };
        *poison += x * 0.0;
    }
    highest
}

/// Sums of edge marginals over the tokens of any number of sentences.
///
/// Without edge scores the marginal is `α[t−1][a]·e[a][b]·v[t][b]`, where e is the same for all
/// tokens and sentences (notation of [`Lattice`]). So the sum accumulates α·v, one multiply-add per
/// (t, a, b), and [`EdgeSums::finish`] multiplies by e once. Sentences with edge scores or in log
/// space are accumulated separately, as marginals.
///
/// If only some pairs have weights ([`Transitions::with_pairs`]), the sums are those of these
/// pairs, `[P]`, otherwise `[K][S]`.
#[derive(Clone, Debug, Default)]
pub struct EdgeSums {
    products: Vec<f64>,      // [P] or [K][S] Σ α·v, not yet multiplied by e
    marginals: Vec<f64>,     // [P] or [K][S] Σ μ
    scratch: Vec<f64>,       // [K][S], sized when it is first needed
    groups: [TokenGroup; 2], // α and v of tokens whose products are summed next, if [P]
    tokens: usize,           // number of these tokens
}

impl EdgeSums {
    /// Creates sums that are 0, for the labels of `transitions`.
    pub fn new(transitions: &Transitions) -> Self {
        let zeros = vec![0.0; transitions.pair_numbers()];
        let mut groups = <[TokenGroup; 2]>::default();
        if transitions.pairs().is_some() {
            groups.iter_mut().for_each(|group| group.clear(transitions.labels()));
        }
        Self { products: zeros.clone(), marginals: zeros, scratch: Vec::new(), groups, tokens: 0 }
    }

    /// Resets the sums to 0.
    pub fn clear(&mut self) {
        self.products.fill(0.0);
        self.marginals.fill(0.0);
        if self.tokens > 0 {
            self.groups[0].zero();
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
        let Some(pairs) = transitions.pairs().filter(|_| self.tokens > 0) else { return };
        let [alpha, v] = &mut self.groups;
        pairs.add_group(alpha, v, &mut self.products);
        alpha.zero();
        self.tokens = 0;
    }
}
