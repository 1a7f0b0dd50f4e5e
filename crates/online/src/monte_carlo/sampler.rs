//! One sample of one chunk of sentences: the divergence D and its derivatives.
//!
//! # Dropout masks as a function of counters
//!
//! A mask is a pure function of (seed, iteration, sample, kind of weight, token of the corpus,
//! attribute, member of its class, weight): a path down a tree of SplitMix64 generators
//! ([`random`]), in which the n-th output of one generator seeds its n-th child. Masks are
//! recomputed wherever they are needed and never stored, and depend neither on the order of work
//! nor on the number of threads.

use std::ops::Range;

use dropchain::chain::{Lattice, Order, ScoreArrays, Scores, Transitions, padded};
use dropchain::math::{add, dot, set_zeros};
use dropchain::noise::HessianProduct;
use dropchain::objective::{LabelSums, TermInput};
use dropchain::random;

/// The inputs that all samplers share.
pub(super) struct SampleContext<'a> {
    pub input: &'a TermInput<'a>,
    pub masks: &'a SampleMasks,
    /// Transitions with all scores 0.
    pub zero_transitions: &'a Transitions,
    /// Class sizes of node and edge attributes.
    pub members: &'a [Vec<u32>; 2],
    /// Rates of single node and edge attributes, where they differ.
    pub rates: [Option<&'a [f64]>; 2],
    /// The factors of D of a labeled and of an unlabeled sentence of weight 1.
    pub factors: [f64; 2],
}

/// Buffers and sums for the sentences of one chunk. Clean scores exclude transitions and
/// boundaries; noised scores include them.
#[derive(Debug, Default)]
pub(super) struct ChunkSampler {
    clean: Lattice,
    noised: Lattice,
    product: HessianProduct,
    nodes: Vec<f64>,            // [T][S] s
    edges: Vec<f64>,            // [T][K][S] s, or empty without edge attributes
    noised_nodes: Vec<f64>,     // [T][S] s̃, then s̃ − s
    noised_edges: Vec<f64>,     // [T][K][S] s̃, then s̃ − s; empty at order 0
    node_derivatives: Vec<f64>, // [T][S] −∇²A·(s̃ − s)
    marginals: [Vec<f64>; 2],   // [K][S] of s, of s̃
    factors: Vec<f64>,          // [weights of a column]
    /// The noise term of the chunk.
    pub value: f64,
    /// Sums of derivatives with respect to label weights.
    pub sums: LabelSums,
}

impl ChunkSampler {
    /// Evaluates the sentences `chunk`.
    pub fn run(
        &mut self,
        context: &SampleContext<'_>,
        chunk: Range<usize>,
        mut output: [ScoreArrays<'_>; 2],
    ) {
        let TermInput { data, space, transitions, .. } = *context.input;
        let (labels, stride) = (space.labels(), space.stride());
        self.value = 0.0;
        self.sums.clear(transitions.pair_numbers(), stride);
        self.product.begin(transitions);
        for matrix in &mut self.marginals {
            matrix.resize(labels * stride, 0.0);
        }
        let labeled = data.labeled();
        for i in chunk {
            let tokens = data.sentence(i);
            let output = output.each_mut().map(|arrays| arrays.take(tokens.len(), space));
            if !tokens.is_empty() {
                let weight = data.weight(i) * context.factors[usize::from(i >= labeled)];
                self.run_sentence(context, tokens, weight, output);
            }
        }
        if space.order() == Order::One {
            self.product.finish(&mut self.sums.pairs);
        }
    }

    fn run_sentence(
        &mut self,
        context: &SampleContext<'_>,
        tokens: Range<usize>,
        weight: f64,
        [score_derivatives, noised_derivatives]: [ScoreArrays<'_>; 2],
    ) {
        let transitions = context.input.transitions;
        let has_edges = !score_derivatives.edges.is_empty();
        self.write_attribute_scores(context, tokens.clone(), has_edges);
        self.add_label_scores(context, tokens.clone());
        let scores = Scores::new(&self.nodes, &self.edges);
        let clean = self.clean.forward_backward(transitions, scores);
        let scores = Scores::new(&self.noised_nodes, &self.noised_edges);
        let noised = self.noised.forward_backward(context.zero_transitions, scores);
        self.subtract_scores(transitions, tokens.len());
        let first_order = self.differentiate_masked(context, tokens, weight, noised_derivatives);
        self.value += weight * (noised - clean - first_order);
        self.add_hessian_product(transitions, weight, score_derivatives);
    }

    /// Writes the clean and the noised attribute scores.
    fn write_attribute_scores(
        &mut self,
        context: &SampleContext<'_>,
        tokens: Range<usize>,
        has_edges: bool,
    ) {
        let TermInput { data, space, theta, .. } = *context.input;
        let has_chain = space.order() == Order::One;
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        let arrays = [
            (&mut self.nodes, &mut self.noised_nodes, [true, true]),
            (&mut self.edges, &mut self.noised_edges, [has_edges, has_chain]),
        ];
        for (i, (scores, noised, needed)) in arrays.into_iter().enumerate() {
            let (matrix, block) = matrices[i];
            let (targets, width) = (&block.targets, block.width());
            for (array, needed) in [&mut *scores, &mut *noised].into_iter().zip(needed) {
                set_zeros(array, if needed { tokens.len() * width } else { 0 });
            }
            let weights = block.weights(theta);
            let rows = scores.chunks_exact_mut(width);
            let rows = rows.zip(noised.chunks_exact_mut(width));
            for (token, (row, noised)) in tokens.clone().zip(rows) {
                for (column, value) in matrix.entries(token) {
                    let column = column as usize;
                    let weights = &weights[targets.range(column)];
                    let c = block.scale[column] * value;
                    let masks = context.masks.attributes[i];
                    let masks = match context.rates[i] {
                        None => masks,
                        Some(rates) => masks.with_rate(rates[column]),
                    };
                    let members = context.members[i][column];
                    self.factors.resize(weights.len(), 0.0);
                    masks.fill(token, column, members, &mut self.factors);
                    let first = targets.range(column).start;
                    targets.for_each(column, |position, index| {
                        let (w, factor) = (weights[index - first], self.factors[index - first]);
                        row[position] += c * w;
                        noised[position] += c * (w * factor);
                    });
                }
            }
        }
    }

    /// Adds noised transitions and boundary weights to the noised scores.
    fn add_label_scores(&mut self, context: &SampleContext<'_>, tokens: Range<usize>) {
        let transitions = context.zero_transitions;
        let (labels, stride) = (transitions.labels(), transitions.stride());
        let (chain, sample) = (context.input.transitions, context.masks);
        let last = self.noised_nodes.len() - stride;
        for (at, masks, weights) in
            [(0, &sample.start, chain.start()), (last, &sample.end, chain.end())]
        {
            let token = tokens.start + at / stride;
            self.factors.resize(labels, 0.0);
            masks.fill(token, 0, 1, &mut self.factors);
            let row = &mut self.noised_nodes[at..];
            for ((x, w), factor) in row.iter_mut().zip(weights).zip(&self.factors) {
                *x += w * factor;
            }
        }
        self.factors.resize(labels * labels, 0.0);
        let matrices = self.noised_edges.chunks_exact_mut(labels * stride);
        for (token, matrix) in tokens.zip(matrices).skip(1) {
            sample.transitions.fill(token, 0, 1, &mut self.factors);
            let weights = chain.scores().chunks_exact(stride);
            let weights = weights.zip(self.factors.chunks_exact(labels));
            for (row, (weights, factors)) in matrix.chunks_exact_mut(stride).zip(weights) {
                for ((x, w), factor) in row.iter_mut().zip(weights).zip(factors) {
                    *x += w * factor;
                }
            }
        }
    }

    /// Replaces s̃ by s̃ − s.
    fn subtract_scores(&mut self, transitions: &Transitions, tokens: usize) {
        let stride = transitions.stride();
        subtract(&mut self.noised_nodes, &self.nodes);
        subtract(&mut self.noised_nodes, transitions.start());
        let last = (tokens - 1) * stride;
        subtract(&mut self.noised_nodes[last..], transitions.end());
        subtract(&mut self.noised_edges, &self.edges);
        let size = transitions.labels() * stride;
        for matrix in self.noised_edges.chunks_exact_mut(size).skip(1) {
            subtract(matrix, transitions.scores());
        }
    }

    /// Computes the derivatives with respect to noised scores; returns ⟨μ(s), s̃ − s⟩.
    fn differentiate_masked(
        &mut self,
        context: &SampleContext<'_>,
        tokens: Range<usize>,
        weight: f64,
        noised_derivatives: ScoreArrays<'_>,
    ) -> f64 {
        let ScoreArrays { nodes, edges } = noised_derivatives;
        let (transitions, zero) = (context.input.transitions, context.zero_transitions);
        let (labels, stride) = (zero.labels(), zero.stride());
        let marginals = self.clean.node_marginals();
        let mut product = dot(marginals, &self.noised_nodes);
        let pairs = nodes.iter_mut().zip(self.noised.node_marginals());
        for ((out, noised), clean) in pairs.zip(marginals) {
            *out = weight * (noised - clean);
        }
        let last = nodes.len() - stride;
        self.factors.resize(labels, 0.0);
        for (at, masks, sums) in [
            (0, &context.masks.start, &mut self.sums.first),
            (last, &context.masks.end, &mut self.sums.last),
        ] {
            masks.fill(tokens.start + at / stride, 0, 1, &mut self.factors);
            add_masked(&self.factors, &nodes[at..][..stride], sums, labels);
        }
        let size = labels * stride;
        let [clean, noised] = &mut self.marginals;
        self.factors.resize(labels * labels, 0.0);
        for t in 1..self.noised_edges.len() / size {
            self.clean.edge_marginals(transitions, t, clean);
            self.noised.edge_marginals(zero, t, noised);
            product += dot(clean, &self.noised_edges[t * size..][..size]);
            for (noised, clean) in noised.iter_mut().zip(&*clean) {
                *noised = weight * (*noised - clean);
            }
            if !edges.is_empty() {
                edges[t * size..][..size].copy_from_slice(noised);
            }
            let masks = &context.masks.transitions;
            masks.fill(tokens.start + t, 0, 1, &mut self.factors);
            add_masked(&self.factors, noised, &mut self.sums.pairs, labels);
        }
        product
    }

    /// Adds −∇²A(s)·(s̃ − s) to the derivatives with respect to scores.
    fn add_hessian_product(
        &mut self,
        transitions: &Transitions,
        weight: f64,
        score_derivatives: ScoreArrays<'_>,
    ) {
        let ScoreArrays { nodes, edges } = score_derivatives;
        set_zeros(&mut self.node_derivatives, nodes.len());
        let direction = Scores::new(&self.noised_nodes, &self.noised_edges);
        let out = ScoreArrays { nodes: &mut self.node_derivatives, edges };
        self.product.add(transitions, &self.clean, direction, -weight, out);
        add(nodes, &self.node_derivatives);
        let stride = transitions.stride();
        add(&mut self.sums.first, &self.node_derivatives[..stride]);
        add(&mut self.sums.last, &self.node_derivatives[nodes.len() - stride..]);
    }
}

/// Adds the derivatives with respect to noised scores, times the mask factors of their weights, to
/// `sums`. `factors` is `[n][K]`, the others are `[n][S]`.
fn add_masked(factors: &[f64], derivatives: &[f64], sums: &mut [f64], labels: usize) {
    let stride = padded(labels);
    let rows = derivatives.chunks_exact(stride).zip(sums.chunks_exact_mut(stride));
    for (factors, (derivatives, sums)) in factors.chunks_exact(labels).zip(rows) {
        for ((sum, x), factor) in sums.iter_mut().zip(derivatives).zip(factors) {
            *sum += x * factor;
        }
    }
}

fn subtract(numbers: &mut [f64], terms: &[f64]) {
    numbers.iter_mut().zip(terms).for_each(|(x, y)| *x -= y);
}

/// A node in the tree of SplitMix64 generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(pub u64);

impl Key {
    /// Returns the `n`-th child.
    #[inline(always)]
    pub fn at(self, n: u64) -> Self {
        Self(random::nth(self.0, n))
    }
}

/// The masks of all features in one sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleMasks {
    pub attributes: [Masks; 2], // nodes, edges
    pub transitions: Masks,
    pub start: Masks,
    pub end: Masks,
}

impl SampleMasks {
    /// Creates masks with rate `node` for node attributes and `edge` for all other features.
    pub fn new(key: Key, node: f64, edge: f64) -> Self {
        let edges = |kind| Masks::new(key.at(kind), edge);
        Self {
            attributes: [Masks::new(key.at(0), node), edges(1)],
            transitions: edges(2),
            start: edges(3),
            end: edges(4),
        }
    }
}

/// The masks of the weights of one kind, in one sample.
///
/// Each weight takes 32 random bits, so the rate is rounded to a multiple of 2⁻³². Surviving
/// weights are scaled by 1/(1 − the rounded rate): the expectation is exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Masks {
    key: Key,
    threshold: u32, // a weight is dropped if its bits are below this
}

impl Masks {
    /// Creates masks with rate δ < 1.
    pub fn new(key: Key, rate: f64) -> Self {
        let threshold = (rate * 2_f64.powi(32)).round() as u32; // at most u32::MAX
        Self { key, threshold }
    }

    /// Returns the masks with another rate.
    #[inline(always)]
    pub fn with_rate(self, rate: f64) -> Self {
        Self::new(self.key, rate)
    }

    /// Writes the factors of the weights of an attribute at a token of the corpus. A weight of a
    /// class of m `members` stands for m weights that are dropped independently: its factor is
    /// k/(m(1 − δ)) if k survive.
    pub fn fill(&self, token: usize, column: usize, members: u32, factors: &mut [f64]) {
        if self.threshold == 0 {
            return factors.fill(1.0);
        }
        let key = self.key.at(token as u64).at(column as u64);
        let words = factors.len().div_ceil(2) as u64; // per member
        factors.fill(0.0);
        for member in 0..u64::from(members) {
            for (i, pair) in factors.chunks_mut(2).enumerate() {
                let word = key.at(member * words + i as u64).0;
                for (survivors, bits) in pair.iter_mut().zip([word as u32, (word >> 32) as u32]) {
                    *survivors += f64::from(u8::from(bits >= self.threshold));
                }
            }
        }
        let keep = 1.0 - f64::from(self.threshold) * 2_f64.powi(-32);
        let scale = 1.0 / (f64::from(members) * keep);
        factors.iter_mut().for_each(|x| *x *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the deviation of the number of ones among `n` fair coins, in standard deviations.
    fn deviation(ones: u32, n: u32) -> f64 {
        (f64::from(ones) - f64::from(n) / 2.0) / (f64::from(n) / 4.0).sqrt()
    }

    #[test]
    fn every_bit_is_one_half_of_the_time() {
        const N: u32 = 1 << 16;
        // Neighboring counters at each level of a short chain.
        for level in 0..3 {
            let mut ones = [0_u32; 64];
            for n in 0..u64::from(N) {
                let mut path = [5, 6, 7];
                path[level] = n;
                let bits = path.into_iter().fold(Key(1), Key::at).0;
                (0..64).for_each(|i| ones[i] += (bits >> i & 1) as u32);
            }
            for ones in ones {
                assert!(deviation(ones, N).abs() < 5.0, "{ones} of {N}");
            }
        }
    }

    #[test]
    fn neighboring_counters_are_independent() {
        const N: u32 = 1 << 16;
        for level in 0..3 {
            // How often a bit is that of the next counter.
            let mut equal = [0_u32; 64];
            for n in 0..u64::from(N) {
                let [one, next] = [n, n + 1].map(|n| {
                    let mut path = [0, 0, 0];
                    path[level] = n;
                    path.into_iter().fold(Key(0), Key::at).0
                });
                (0..64).for_each(|i| equal[i] += (!(one ^ next) >> i & 1) as u32);
            }
            for equal in equal {
                assert!(deviation(equal, N).abs() < 5.0, "{equal} of {N}");
            }
        }
    }

    #[test]
    fn halves_of_a_word_are_uniform_together() {
        // The top 4 bits of both halves: χ² with 255 degrees of freedom has mean 255 and standard
        // deviation 22.6.
        const N: u32 = 1 << 16;
        let mut counts = [0_u32; 256];
        for n in 0..u64::from(N) {
            let word = Key(7).at(n).0;
            counts[((word >> 28 & 15) << 4 | word >> 60) as usize] += 1;
        }
        let expected = f64::from(N) / 256.0;
        let squares = counts.map(|count| (f64::from(count) - expected).powi(2) / expected);
        let statistic: f64 = squares.iter().sum();
        assert!((statistic - 255.0).abs() < 5.0 * 22.6, "{statistic}");
    }

    /// Mean and variance of the factors of many weights.
    fn moments(rate: f64, members: u32) -> [f64; 2] {
        let masks = Masks::new(Key(3), rate);
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        let mut factors = [0.0; 5];
        for token in 0..100 {
            for column in 0..100 {
                masks.fill(token, column, members, &mut factors);
                sum += factors.iter().sum::<f64>();
                squares += factors.iter().map(|x| x * x).sum::<f64>();
                count += 5.0;
            }
        }
        let mean = sum / count;
        [mean, squares / count - mean * mean]
    }

    #[test]
    fn factors_have_mean_1_and_the_variance_of_dropout() {
        for (rate, members) in [(0.1, 1), (0.5, 1), (0.9, 1), (0.5, 3), (0.2, 7)] {
            let [mean, variance] = moments(rate, members);
            let expected = rate / (1.0 - rate) / f64::from(members);
            let error = (expected / 50_000.0).sqrt();
            assert!((mean - 1.0).abs() < 4.0 * error, "{rate} {members}: {mean}");
            assert!((variance / expected - 1.0).abs() < 0.05, "{rate} {members}: {variance}");
        }
    }

    #[test]
    fn a_rate_of_0_keeps_everything() {
        assert_eq!(moments(0.0, 2), [1.0, 0.0]);
    }

    #[test]
    fn the_highest_rates_give_finite_factors() {
        let mut factors = [0.0; 9];
        for rate in [1.0 - f64::EPSILON, 0.999_999_999] {
            Masks::new(Key(1), rate).fill(0, 0, 1, &mut factors);
            assert!(factors.iter().all(|x| x.is_finite()));
        }
    }
}
