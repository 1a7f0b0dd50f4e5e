//! The memory of training, estimated and checked before it is allocated.
//!
//! What exists is counted as it grows. What training will allocate is estimated from the sizes that
//! determine it: entries of the matrices, label pairs, tokens and parameters. (docs/decisions, 30)

use super::origin::Origin;
use super::settings::TrainSettings;
use super::training_set::TrainingSet;
use crate::error::{Error, Result};
use crate::extract::SparseRows;
use crate::memory::MemoryLimit;
use crate::noise::Engine;
use crate::objective::NoiseOptions;
use crate::score::{BlockPartition, ColumnForm, FeatureBlock};

/// Memory of the program itself: its code, threads and small tables.
const PROGRAM: usize = 8_000_000;

/// The reciprocal of the overhead of the allocator: 3 %.
const OVERHEAD: usize = 32;

/// How many times as long as their encoding names are: EWT with the template `chunk`, 5.7.
const NAMES_RATIO: usize = 4;

impl TrainingSet {
    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        // Classes, their scales, and sums over columns.
        let columns = 16 * (self.attributes() + self.space.nodes.columns());
        let origin = self.origin.as_ref().map_or(0, Origin::memory);
        self.extracted.memory() + origin + self.space.memory() + columns
    }

    /// Estimates the memory in bytes of a training run, excluding the training set itself: of
    /// learning, or of building the model from its result, whichever is more.
    pub fn memory_to_train(&self, settings: &TrainSettings) -> usize {
        let learning = settings.learner().memory(self);
        let development = self.extracted.development.as_ref();
        let scorer = development.map_or(0, |dev| dev.memory_to_score(self.space()));
        let precision = settings.options().storage.precision;
        let names = self.extracted.alphabets.memory();
        let weights = self.weights();
        // The tables, then the file beside them. The matrices are freed before.
        let sections =
            weights * (4 + precision.bytes()) + 20 * self.attributes() + names / NAMES_RATIO;
        let model = (2 * sections).saturating_sub(self.data().memory());
        let most = learning.saturating_add(scorer).max(model);
        most.saturating_add(PROGRAM + most / OVERHEAD)
    }

    /// Estimates the memory in bytes of evaluating the objective, excluding the parameters and
    /// their gradient. Time O(nonzeros).
    pub fn memory_to_evaluate(&self, noise: &NoiseOptions) -> usize {
        let (data, space) = (self.data(), self.space());
        let (stride, edge_width) = (space.stride(), space.edges.used_width());
        let partition = BlockPartition::new(data, edge_width.max(stride));
        let chunks = partition.max_block_chunks();
        let tokens = partition.max_block_tokens();
        let longest = (0..data.len()).map(|i| data.sentence(i).len()).max();
        let in_sentences = tokens.min(chunks * longest.unwrap_or(0));
        let is_sampled = noise.is_on() && noise.kind.is_sampled();
        let is_by_pair = !noise.is_on() || (noise.gradient == Engine::Exact && !is_sampled);
        let all_pairs = space.labels() * stride;
        let pairs = (space.sparse_pairs().filter(|_| is_by_pair)).unwrap_or(all_pairs);
        // Numbers that a worker has per label pair, per score and per edge score.
        let [per_pair, per_score, per_edge] = match (noise.is_on(), data.partial_tokens() > 0) {
            (false, false) => [5, 5, 1],
            (false, true) => [9, 11, 2],
            (true, false) => [20, 18, 2],
            (true, true) => [24, 24, 3],
        };
        let numbers = pairs * (per_pair * chunks + 12)
            + in_sentences * (per_score * stride + per_edge * edge_width)
            + if is_sampled { 2 * in_sentences * all_pairs } else { 0 }
            + 4 * tokens * (stride + edge_width);
        let copies = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        8 * numbers + copies.map(|(matrix, block)| copies_of(matrix, block)).iter().sum::<usize>()
    }

    /// Checks that training fits into memory before it is allocated.
    ///
    /// # Errors
    ///
    /// How much is needed, the limit, and what to do.
    pub(super) fn check_memory(&self, settings: &TrainSettings, limit: MemoryLimit) -> Result<()> {
        let held = self.memory();
        let needed = held.saturating_add(self.memory_to_train(settings));
        limit.check(needed as u64, held as u64).map_err(|over| {
            let (weights, labels) = (self.space.dimension(), self.space.labels());
            Error::parameter(format!(
                "training on {weights} weights of {labels} labels: {over}; expected fewer weights \
                 (`states` observed, `min_count` 2), fewer labels or a larger limit (`memory`)"
            ))
        })
    }
}

/// The copies of a matrix by columns and, if only some labels have weights, by rows.
fn copies_of(matrix: &SparseRows, block: &FeatureBlock) -> usize {
    let targets = &block.targets;
    let per_value = if matrix.values.is_none() { 0 } else { 8 };
    let columns = (0..targets.columns()).map(|column| match targets.form(column) {
        ColumnForm::Sparse => 2 * (8 + per_value) * targets.range(column).len(),
        _ if targets.is_observed() => 2 * (6 + per_value),
        _ => 6 + per_value,
    });
    let per_entry: Vec<usize> = columns.collect();
    let entries = (0..matrix.len()).flat_map(|row| matrix.row(row).0);
    let entries: usize = entries.map(|&column| per_entry[column as usize]).sum();
    let by_rows = match targets.is_observed() {
        true => 24 * matrix.len() + 16 * targets.weights(),
        false => 0,
    };
    entries + by_rows + 32 * targets.columns()
}
