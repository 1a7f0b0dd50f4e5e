//! Monte-Carlo dropout: an estimate, by sampling, of the penalty that R approximates.
//!
//! In expectation, training on dropped features is training with the penalty E\[A(s̃)\] − A(s),
//! where s are the scores of a sentence, s̃ those of its dropped features, E s̃ = s, and A is the
//! log-partition (Wang et al. 2013, section 2). As in eq. 14, every weight of every feature is
//! dropped independently: of (attribute, label) at a token, of (attribute, label, label), of a
//! transition, of a boundary. Surviving weights are scaled by 1/(1 − δ). The term of a sentence is
//! the mean over S samples of
//!
//! ```text
//! D = ℓ(s̃) − ℓ(s)          ℓ(s) = A(s) − score(y)
//! ```
//!
//! so that likelihood and noise together are the mean loss on data with dropped features. The
//! score of the gold labels y has the same expectation under s̃ and s, so that of D is the penalty.
//! Without gold labels, ℓ is A. With X̃ the features of a sample,
//!
//! ```text
//! ∂D/∂θ = X̃ᵀ·(μ(s̃) − 1_y) − Xᵀ·(μ(s) − 1_y)
//! ```
//!
//! The clean scores are those of a sample in which nothing is dropped.
//!
//! # Dropout masks as a function of counters
//!
//! A mask is a pure function of (seed, iteration, sample, kind of weight, token of the corpus,
//! attribute, member of its class, weight): a path down a tree of SplitMix64 generators
//! ([`random`]), in which the n-th output of one generator seeds its n-th child. Masks are
//! recomputed wherever they are needed and never stored, and depend neither on the order of work
//! nor on the number of threads. Time O(S·(nonzeros of X · K + M·K²)) for M tokens, most of it for
//! random bits.

use std::ops::Range;

use super::buffers::{BlockArrays, LabelSums, take};
use super::noise::NoiseOptions;
use super::problem::Problem;
use super::term::{Term, TermInput};
use crate::chain::{Lattice, Order, ScoreArrays, Scores, Transitions, score};
use crate::data::{SparseRows, Target};
use crate::math::set_zeros;
use crate::optim::Change;
use crate::parallel;
use crate::random;
use crate::score::{Block, FeatureBlock};

/// The state of the noise term.
#[derive(Debug)]
pub(super) struct MonteCarlo {
    noise: NoiseOptions,
    samples: u32,
    seed: u64,
    iteration: u64,
    members: [Vec<u32>; 2],   // class sizes: nodes, edges
    free: Transitions,        // all scores 0: in a sample, tokens have transitions of their own
    samplers: Vec<Sampler>,   // one per chunk of a block
    derivatives: BlockArrays, // with respect to the scores of a sample
}

/// The kinds of weights: of node attributes, edge attributes, label pairs, first and last labels.
const NODES: usize = 0;
const EDGES: usize = 1;
const PAIRS: usize = 2;
const FIRST: usize = 3;
const LAST: usize = 4;

impl MonteCarlo {
    /// Creates the term with this number of samples.
    pub fn new(
        noise: NoiseOptions,
        samples: u32,
        seed: u64,
        Problem { space, partition, .. }: &Problem,
    ) -> Self {
        // Scales are square roots of integers far below 2⁵⁰, so rounding recovers these.
        let size = |scale: &f64| (scale * scale).round() as u32;
        Self {
            noise,
            samples,
            seed,
            iteration: 0,
            members: space.blocks().map(|block| block.scale.iter().map(size).collect()),
            free: Transitions::new(space.labels(), space.order()),
            samplers: (0..partition.max_block_chunks()).map(|_| Sampler::default()).collect(),
            derivatives: BlockArrays::new(partition.max_block_tokens(), space),
        }
    }
}

impl Term for MonteCarlo {
    fn begin_iteration(&mut self, iteration: u64, _: bool) -> Change {
        let is_new = std::mem::replace(&mut self.iteration, iteration) != iteration;
        if is_new { Change::Samples } else { Change::None }
    }

    fn add(&mut self, input: TermInput<'_>, gradient: &mut [f64]) -> f64 {
        let Self { noise, members, free, samplers, derivatives, .. } = self;
        let TermInput { theta, problem, pass, .. } = input;
        let transitions = &pass.transitions;
        let mut sums = LabelSums::default();
        sums.clear(transitions.pair_numbers(), transitions.stride());
        let factors = noise.factors(problem.totals.weights);
        let key = random::nth(self.seed, self.iteration);
        let dropped = (0..self.samples).map(|n| Some(random::nth(key, u64::from(n))));
        let mut value = 0.0;
        for key in std::iter::once(None).chain(dropped) {
            let share = if key.is_some() { 1.0 / f64::from(self.samples) } else { -1.0 };
            let factors = factors.map(|factor| factor * share);
            let rates = noise.amounts();
            let sample = Sample { problem, theta, transitions, free, key, rates, members, factors };
            for block in &problem.partition.blocks {
                let tokens = problem.chunk_tokens(block);
                let out = derivatives.split(&tokens, &problem.space);
                let work = samplers.iter_mut().zip(&block.chunks).zip(out);
                parallel::for_each(work, |((sampler, chunk), out)| {
                    sampler.run(sample, chunk.clone(), out);
                });
                for sampler in &mut samplers[..tokens.len()] {
                    value += sampler.value;
                    sums.merge(&mut sampler.sums);
                }
                sample.add_gradient(block, derivatives, gradient);
            }
        }
        problem.space.add_label_gradient([&sums.pairs, &sums.first, &sums.last], gradient);
        value
    }
}

/// The parts of a Monte Carlo sample that all its sentences share.
#[derive(Clone, Copy)]
struct Sample<'a> {
    problem: &'a Problem,
    theta: &'a [f64],
    transitions: &'a Transitions,
    free: &'a Transitions,
    /// Of its masks; `None`: nothing is dropped.
    key: Option<u64>,
    /// Noise rates of node attributes and of all other weights.
    rates: [f64; 2],
    members: &'a [Vec<u32>; 2],
    /// The factors of ℓ of a labeled and of an unlabeled sentence of weight 1.
    factors: [f64; 2],
}

impl Sample<'_> {
    /// Writes the factors of the weights of an attribute at a token of the corpus; label pairs,
    /// first and last labels are attribute 0 of their kind. A weight of a class of m members stands
    /// for m weights that are dropped independently: its factor is k/(m(1 − δ)) if k survive.
    ///
    /// Each weight takes 32 random bits, so the rate is rounded to a multiple of 2⁻³². Surviving
    /// weights are scaled by 1/(1 − the rounded rate): the expectation is exact.
    fn fill_mask(&self, kind: usize, token: usize, column: usize, factors: &mut [f64]) {
        let rate = self.rates[kind.min(1)];
        let threshold = (rate * 2_f64.powi(32)).round() as u32; // at most u32::MAX
        let (Some(key), 1..) = (self.key, threshold) else { return factors.fill(1.0) };
        let key = [kind, token, column].into_iter().fold(key, |key, n| random::nth(key, n as u64));
        let members = self.members.get(kind).map_or(1, |members| members[column]);
        let words = factors.len().div_ceil(2) as u64; // per member
        factors.fill(0.0);
        for member in 0..u64::from(members) {
            for (i, pair) in factors.chunks_mut(2).enumerate() {
                let word = random::nth(key, member * words + i as u64);
                for (survivors, bits) in pair.iter_mut().zip([word as u32, (word >> 32) as u32]) {
                    *survivors += f64::from(u8::from(bits >= threshold));
                }
            }
        }
        let keep = 1.0 - f64::from(threshold) * 2_f64.powi(-32);
        let scale = 1.0 / (f64::from(members) * keep);
        factors.iter_mut().for_each(|x| *x *= scale);
    }

    /// Returns the matrix and the weights of node or of edge attributes.
    fn features(&self, kind: usize) -> (&SparseRows, &FeatureBlock) {
        let Problem { data, space, .. } = self.problem;
        ([&*data.nodes, &*data.edges][kind], space.blocks()[kind])
    }

    /// Adds the products of the dropped features of a block with the derivatives to the gradient.
    /// Columns are divided among threads; the sum of each is in the order of tokens.
    fn add_gradient(&self, block: &Block, derivatives: &BlockArrays, gradient: &mut [f64]) {
        for (kind, derivatives) in [&derivatives.nodes, &derivatives.edges].into_iter().enumerate()
        {
            let (matrix, features) = self.features(kind);
            let (targets, columns) = (&features.targets, features.columns());
            let size = columns.div_ceil(4 * rayon::current_num_threads()).max(1);
            let parts = targets.parts(size, features.weights_mut(gradient));
            parallel::for_each(parts, |(part, gradient)| {
                let first = targets.range(part.start).start;
                let mut factors = Vec::new();
                let rows = derivatives.chunks_exact(features.width());
                for (token, row) in block.tokens.clone().zip(rows) {
                    for (column, x) in matrix.entries(token) {
                        let column = column as usize;
                        if !part.contains(&column) {
                            continue;
                        }
                        let range = targets.range(column);
                        factors.resize(range.len(), 0.0);
                        self.fill_mask(kind, token, column, &mut factors);
                        let c = features.scale[column] * x;
                        targets.for_each(column, |position, i| {
                            gradient[i - first] += factors[i - range.start] * (c * row[position]);
                        });
                    }
                }
            });
        }
    }
}

/// Evaluates the sentences of one chunk in one sample.
#[derive(Debug, Default)]
struct Sampler {
    lattice: Lattice,
    nodes: Vec<f64>,     // [T][S] scores, with those of boundaries
    edges: Vec<f64>,     // [T][K][S] scores, with those of transitions; empty at order 0
    marginals: Vec<f64>, // [K][S]
    factors: Vec<f64>,   // of weights
    value: f64,
    sums: LabelSums,
}

impl Sampler {
    /// Evaluates the sentences `chunk`, and writes their derivatives.
    fn run(&mut self, sample: Sample<'_>, chunk: Range<usize>, mut out: ScoreArrays<'_>) {
        let Problem { data, space, .. } = sample.problem;
        self.value = 0.0;
        self.sums.clear(sample.transitions.pair_numbers(), space.stride());
        for i in chunk {
            let tokens = data.sentence(i);
            let mut out = take(&mut out, tokens.len(), space);
            if tokens.is_empty() {
                continue;
            }
            self.write_scores(sample, tokens.clone());
            let weight = data.weight(i) * sample.factors[usize::from(i >= data.labeled())];
            self.differentiate(sample, tokens.start, data.target(i), weight, &mut out);
        }
    }

    fn write_scores(&mut self, sample: Sample<'_>, tokens: Range<usize>) {
        let Sample { theta, transitions, .. } = sample;
        let (labels, stride) = (transitions.labels(), transitions.stride());
        let size = if transitions.order() == Order::One { labels * stride } else { 0 };
        set_zeros(&mut self.nodes, tokens.len() * stride);
        set_zeros(&mut self.edges, tokens.len() * size);
        let factors = &mut self.factors;
        for (kind, scores) in [(NODES, &mut self.nodes), (EDGES, &mut self.edges)] {
            let (matrix, block) = sample.features(kind);
            let weights = block.weights(theta);
            let rows = scores.chunks_exact_mut(block.width()).filter(|_| !matrix.is_empty());
            for (token, row) in tokens.clone().zip(rows) {
                for (column, value) in matrix.entries(token) {
                    let column = column as usize;
                    let range = block.targets.range(column);
                    factors.resize(range.len(), 0.0);
                    sample.fill_mask(kind, token, column, factors);
                    let c = block.scale[column] * value;
                    block.targets.for_each(column, |position, i| {
                        row[position] += c * (weights[i] * factors[i - range.start]);
                    });
                }
            }
        }
        let last = self.nodes.len() - stride;
        factors.resize(labels, 0.0);
        for (kind, at, weights) in
            [(FIRST, 0, transitions.start()), (LAST, last, transitions.end())]
        {
            sample.fill_mask(kind, tokens.start + at / stride, 0, factors);
            let scores = self.nodes[at..].iter_mut().zip(weights);
            scores.zip(&*factors).for_each(|((x, w), factor)| *x += w * factor);
        }
        factors.resize(labels * labels, 0.0);
        let matrices = self.edges.chunks_exact_mut(size.max(1));
        for (token, matrix) in tokens.zip(matrices).skip(1) {
            sample.fill_mask(PAIRS, token, 0, factors);
            let weights = transitions.scores().chunks_exact(stride);
            let rows = matrix.chunks_exact_mut(stride).zip(weights);
            for ((row, weights), factors) in rows.zip(factors.chunks_exact(labels)) {
                let scores = row.iter_mut().zip(weights);
                scores.zip(factors).for_each(|((x, w), factor)| *x += w * factor);
            }
        }
    }

    /// Adds ℓ, and writes its derivatives with respect to scores.
    fn differentiate(
        &mut self,
        sample: Sample<'_>,
        first: usize,
        target: Target<'_>,
        weight: f64,
        out: &mut ScoreArrays<'_>,
    ) {
        let free = sample.free;
        let (labels, stride) = (free.labels(), free.stride());
        let scores = Scores::new(&self.nodes, &self.edges);
        let mut loss = self.lattice.forward_backward(free, scores, None);
        let mut gold: &[_] = &[];
        if let Target::Gold(path) = target {
            loss -= score(free, scores, path);
            gold = path;
        }
        self.value += weight * loss;
        out.nodes.copy_from_slice(self.lattice.node_marginals());
        let rows = out.nodes.chunks_exact_mut(stride);
        rows.zip(gold).for_each(|(row, label)| row[label.index()] -= 1.0);
        out.nodes.iter_mut().for_each(|x| *x *= weight);
        let last = out.nodes.len() - stride;
        self.factors.resize(labels, 0.0);
        for (kind, at, sums) in
            [(FIRST, 0, &mut self.sums.first), (LAST, last, &mut self.sums.last)]
        {
            sample.fill_mask(kind, first + at / stride, 0, &mut self.factors);
            add_products(&self.factors, &out.nodes[at..], sums);
        }
        let size = labels * stride;
        self.marginals.resize(size, 0.0);
        self.factors.resize(labels * labels, 0.0);
        for t in 1..self.edges.len() / size {
            self.lattice.edge_marginals(free, t, &mut self.marginals);
            if let [a, b] = gold.get(t - 1..=t).unwrap_or_default() {
                self.marginals[a.index() * stride + b.index()] -= 1.0;
            }
            self.marginals.iter_mut().for_each(|x| *x *= weight);
            if !out.edges.is_empty() {
                out.edges[t * size..][..size].copy_from_slice(&self.marginals);
            }
            sample.fill_mask(PAIRS, first + t, 0, &mut self.factors);
            let rows = self.factors.chunks_exact(labels).zip(self.marginals.chunks_exact(stride));
            for ((factors, row), sums) in rows.zip(self.sums.pairs.chunks_exact_mut(stride)) {
                add_products(factors, row, sums);
            }
        }
    }
}

fn add_products(factors: &[f64], derivatives: &[f64], sums: &mut [f64]) {
    let products = factors.iter().zip(derivatives).map(|(factor, x)| factor * x);
    sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
}
