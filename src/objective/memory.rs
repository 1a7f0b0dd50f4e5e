//! The memory of an objective, estimated before any of it is allocated.
//!
//! What grows with the number of labels K counts several times: each chunk of a block has matrices
//! of its own, 5 without noise and 20 under the default noise, and with edge attributes every
//! token of a block has matrices, too. Where few label pairs have weights, chunks have a number per
//! pair instead of matrices. The terms are those of the fields of the workers
//! (`chunk.rs`), of the buffers, and of the copies of the design matrices; the tests compare the
//! sum with what is allocated. (docs/decisions, 30)

use super::buffers::works_by_pairs;
use super::noise::{Noise, NoiseDistribution, NoiseSharing};
use crate::chain::Order;
use crate::extract::{Dataset, SparseRows};
use crate::noise::{Engine, NoiseTerm};
use crate::score::{BlockPartition, ColumnForm, FeatureBlock, ParameterSpace};

/// The noise term, which determines the buffers.
#[derive(Clone, Copy, Debug)]
pub enum NoiseMemory<'a> {
    /// No noise.
    None,
    /// A term that is computed.
    Analytic(&'a Noise),
    /// Sampling.
    MonteCarlo,
}

/// Estimates the memory in bytes of the objective on `data`, excluding the parameters and their
/// gradient. Time O(nonzeros).
#[must_use]
pub fn required_memory(data: &Dataset, space: &ParameterSpace, noise: NoiseMemory<'_>) -> usize {
    let shape = Shape::new(data, space);
    let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
    let mut bytes = 0usize;
    for (matrix, block) in matrices {
        bytes = bytes
            .saturating_add(shape.transpose(matrix, block))
            .saturating_add(totals(data, matrix, block))
            .saturating_add(forward_memory(matrix, block));
        if let NoiseMemory::MonteCarlo = noise {
            bytes = bytes.saturating_add(shape.columns(matrix, block, |_| true));
        }
    }
    bytes.saturating_add(8usize.saturating_mul(shape.numbers(noise)))
}

/// Estimates the memory in bytes of evaluating one sentence at a time, with and without noise.
#[must_use]
pub fn sentence_memory(data: &Dataset, space: &ParameterSpace, noise: NoiseMemory<'_>) -> usize {
    let shape = Shape::new(data, space);
    let [longest, entries] =
        [&shape.longest, &shape.entries].map(|counts| counts.iter().copied().max().unwrap_or(0));
    let pairs = space.labels().saturating_mul(space.stride());
    let row = space.stride().saturating_add(space.edges.used_width());
    // Of two chains 4 each, weights, variances, sums; scores, variances and their derivatives.
    let numbers = (pairs.saturating_mul(12))
        .saturating_add(longest.saturating_mul(row).saturating_mul(3))
        .saturating_add(shape.worker(NoiseMemory::None, None, longest, entries))
        .saturating_add(shape.worker(noise, None, longest, entries));
    numbers.saturating_mul(8)
}

/// Estimates the memory in bytes of the product of `matrix` with the weights of `block`, which
/// copies both if the block has weights for some labels only.
#[must_use]
pub fn forward_memory(matrix: &SparseRows, block: &FeatureBlock) -> usize {
    let targets = &block.targets;
    if !targets.is_observed() {
        return 0;
    }
    let per_value = if matrix.is_binary() { 0 } else { 8 };
    let mut dense_columns = 0;
    let entries: Vec<usize> = (0..targets.columns())
        .map(|column| match targets.form(column) {
            ColumnForm::Dense => {
                dense_columns += 1;
                4 + per_value
            }
            ColumnForm::Listed => 4 + per_value,
            ColumnForm::Sparse => targets.range(column).len() * (8 + per_value),
        })
        .collect();
    let mut bytes = 24 * matrix.len() + 16 * targets.weights();
    bytes += 8 * dense_columns * (1 + targets.width());
    for row in 0..matrix.len() {
        let columns = matrix.row(row).0.iter();
        bytes += columns
            .map(|&column| entries[column as usize])
            .sum::<usize>();
    }
    bytes
}

/// Whether labels share the masks of node attributes.
fn is_shared(noise: NoiseMemory<'_>) -> bool {
    matches!(noise, NoiseMemory::Analytic(noise) if noise.sharing == NoiseSharing::Inputs)
}

/// The numbers of marginals of ½ of a block, which Gaussian scores have.
fn shared_rows(noise: NoiseMemory<'_>, tokens: usize, stride: usize) -> usize {
    match noise {
        NoiseMemory::Analytic(noise) if noise.term.expectation().is_some() => tokens * stride,
        _ => 0,
    }
}

/// The sums over each column.
fn totals(data: &Dataset, matrix: &SparseRows, block: &FeatureBlock) -> usize {
    let sums = match matrix.is_binary() {
        true => 1 + usize::from(data.is_weighted()),
        false => 3,
    };
    8 * sums * block.columns()
}

/// The sizes that determine the memory.
struct Shape<'a> {
    space: &'a ParameterSpace,
    partition: BlockPartition,
    longest: Vec<usize>, // [workers] tokens of the longest sentence of each
    entries: Vec<usize>, // [workers] entries of the largest chunk of each
    has_partial: bool,   // labels
    is_weighted: bool,
}

impl<'a> Shape<'a> {
    fn new(data: &Dataset, space: &'a ParameterSpace) -> Self {
        let width = space.edges.used_width().max(space.stride());
        let partition = BlockPartition::new(data, width);
        let mut longest = vec![0; partition.max_block_chunks()];
        let mut entries = longest.clone();
        for block in &partition.blocks {
            for (i, chunk) in block.chunks.iter().enumerate() {
                let mut count = 0;
                for sentence in chunk.clone() {
                    let tokens = data.sentence(sentence);
                    longest[i] = longest[i].max(tokens.len());
                    count += data.nodes.row_entries(tokens);
                }
                entries[i] = entries[i].max(count);
            }
        }
        Self {
            space,
            partition,
            longest,
            entries,
            has_partial: data.partial_tokens() > 0,
            is_weighted: data.is_weighted(),
        }
    }

    /// The transposed matrix, in which a column has an entry per block it occurs in.
    fn transpose(&self, matrix: &SparseRows, block: &FeatureBlock) -> usize {
        let targets = &block.targets;
        let is_sparse = |column| targets.form(column) == ColumnForm::Sparse;
        let by_column = self.columns(matrix, block, |column| !is_sparse(column));
        let mut sparse = 0;
        if targets.is_observed() {
            let per_weight = if matrix.is_binary() { 8 } else { 16 };
            for row in 0..matrix.len() {
                for &column in matrix.row(row).0 {
                    if is_sparse(column as usize) {
                        sparse += per_weight * targets.range(column as usize).len();
                    }
                }
            }
        }
        by_column + sparse + 8 * block.columns()
    }

    /// The entries of some columns of a matrix, column by column and block by block.
    fn columns(
        &self,
        matrix: &SparseRows,
        block: &FeatureBlock,
        is_included: impl Fn(usize) -> bool,
    ) -> usize {
        let mut last_block = vec![0u32; block.columns()];
        let per_entry = if matrix.is_binary() { 4 } else { 12 };
        let mut bytes = 0;
        for (number, tokens) in self.partition.blocks.iter().map(|b| &b.tokens).enumerate() {
            for row in tokens.clone().take_while(|&row| row < matrix.len()) {
                for &column in matrix.row(row).0 {
                    let column = column as usize;
                    if !is_included(column) {
                        continue;
                    }
                    bytes += per_entry;
                    if last_block[column] != number as u32 + 1 {
                        last_block[column] = number as u32 + 1;
                        bytes += 8;
                    }
                }
            }
        }
        bytes
    }

    /// The numbers (f64) in buffers and workspaces.
    fn numbers(&self, noise: NoiseMemory<'_>) -> usize {
        let space = self.space;
        let stride = space.stride();
        let pairs = space.labels().saturating_mul(stride);
        let edge_width = space.edges.used_width();
        let is_proportional = match noise {
            NoiseMemory::Analytic(noise) => noise.distribution != NoiseDistribution::Additive,
            _ => false,
        };
        // Derivatives of the current and of the next block.
        let buffers = self.partition.blocks.len().min(2) * (1 + usize::from(is_proportional))
            + usize::from(matches!(noise, NoiseMemory::MonteCarlo));
        let tokens = self.partition.max_block_tokens();
        let derivatives = tokens
            .saturating_mul(stride + edge_width)
            .saturating_mul(buffers)
            .saturating_add(match is_shared(noise) {
                true => {
                    let rows = shared_rows(noise, tokens, stride);
                    tokens + rows + space.nodes.targets.weights().div_ceil(8)
                }
                false => 0,
            });
        let sparse = space.sparse_pairs().filter(|_| match noise {
            NoiseMemory::None => true,
            NoiseMemory::Analytic(noise) => works_by_pairs(*noise),
            NoiseMemory::MonteCarlo => false,
        });
        // Of the transitions 3; weights, observed; sums 2; variances. By pairs, of the transitions
        // scores, potentials and excess by first and by second label, and indices.
        let pairs = match sparse {
            None => pairs.saturating_mul(8),
            Some(pairs) => pairs.saturating_mul(12),
        };
        let mut numbers = pairs.saturating_add(derivatives);
        for (&tokens, &entries) in self.longest.iter().zip(&self.entries) {
            let worker = self.worker(noise, sparse, tokens, entries);
            numbers = numbers.saturating_add(worker);
        }
        numbers
    }

    /// The numbers of one worker whose longest sentence has `tokens` tokens and whose largest chunk
    /// has `entries` attributes. It works by `sparse` label pairs, if there are any.
    fn worker(
        &self,
        noise: NoiseMemory<'_>,
        sparse: Option<usize>,
        tokens: usize,
        entries: usize,
    ) -> usize {
        let space = self.space;
        let stride = space.stride();
        let edge_width = space.edges.used_width();
        let matrix = space.labels().saturating_mul(stride);
        let pair_count = sparse.unwrap_or(matrix);
        let is_chain = space.order() == Order::One;
        // [K][S]: sums 2, expectations 2 (and a third with edge scores).
        let mut pairs = 4 + usize::from(edge_width > 0);
        let mut rows = 5; // [T][S] of the lattice
        let mut matrices = 1; // [T][K][S] with edge attributes
        let mut extra = 0usize;
        let group = 16 * stride; // of tokens whose products are summed at once
        if sparse.is_some() {
            extra = 2 * group;
        }
        if self.has_partial || self.is_weighted {
            pairs += 3; // expectations of one sentence
        }
        if self.has_partial {
            // A second lattice, with its mask and edges.
            extra = extra.saturating_add(matrix);
            rows += 6;
            matrices += 1;
        }
        match noise {
            NoiseMemory::None => {}
            NoiseMemory::Analytic(noise) => {
                pairs += if sparse.is_some() { 0 } else { 5 };
                // Variances; marginals of Gaussian scores.
                let is_gaussian = usize::from(noise.term.expectation().is_some());
                let is_shared = usize::from(noise.sharing == NoiseSharing::Inputs);
                rows += 1 + is_shared * (1 + is_gaussian);
                matrices += usize::from(noise.distribution != NoiseDistribution::Additive);
                rows += usize::from(noise.distribution == NoiseDistribution::Additive);
                match noise.term {
                    // The fast kernel, or messages if there are edge scores.
                    NoiseTerm::Quadratic(Engine::Adjoint) | NoiseTerm::Reweighted(_)
                        if sparse.is_some() =>
                    {
                        pairs += 12;
                        rows += 1;
                        extra = extra.saturating_add(7 * group);
                    }
                    NoiseTerm::Quadratic(Engine::Adjoint) if is_chain => {
                        pairs += 10;
                        rows += if edge_width == 0 { 12 } else { 1 };
                    }
                    NoiseTerm::Quadratic(Engine::Adjoint)
                    | NoiseTerm::Reweighted(_)
                    | NoiseTerm::GaussianScores(_) => {}
                    NoiseTerm::Quadratic(Engine::Window(_) | Engine::Local) => rows += 2,
                    NoiseTerm::Quadratic(Engine::Message { .. }) => {
                        pairs += 1;
                        extra = extra.saturating_add(self.message_numbers(tokens, entries));
                    }
                }
            }
            NoiseMemory::MonteCarlo => {
                // A second lattice, its edges, the product with the Hessian, and sums.
                extra = extra.saturating_add(matrix.saturating_mul(5 + 2 + 2));
                rows += 5 + 4;
                let noised = if is_chain { 2 * tokens } else { 0 };
                extra = extra.saturating_add(matrix.saturating_mul(noised));
                matrices += 1;
            }
        }
        pair_count
            .saturating_mul(pairs)
            .saturating_add(rows * tokens * stride)
            .saturating_add((matrices * tokens).saturating_mul(edge_width))
            .saturating_add(extra)
    }

    /// The messages of the engine that works on attributes, and their gradient.
    fn message_numbers(&self, tokens: usize, entries: usize) -> usize {
        let (labels, stride) = (self.space.labels(), self.space.stride());
        // The distinct attributes of the longest sentence, at about the mean number per token.
        let mean = entries.div_ceil(256.max(tokens));
        let edges = labels * usize::from(!self.space.edges.is_empty());
        let features = (mean * tokens + labels).saturating_mul(stride * (1 + edges));
        (2 * labels + 3)
            .saturating_mul(features)
            .saturating_add(entries * stride * (1 + edges))
    }
}
