//! The memory of a learner, estimated before any of it is allocated.

use super::algorithm::{Algorithm, StepRule};
use super::columns::{Row, Single};
use super::layout::count;
use super::sgd::{OnlineNoise, OnlineNoiseKind};
use crate::extract::{Dataset, SparseRows};
use crate::objective::{NoiseMemory, sentence_memory};
use crate::score::{FeatureBlock, ParameterSpace};

/// Estimates the memory in bytes of a learner, excluding the parameters θ. Time O(nonzeros).
#[must_use]
pub fn learner_memory(
    data: &Dataset,
    space: &ParameterSpace,
    algorithm: &Algorithm,
    noise: Option<&OnlineNoise>,
) -> usize {
    let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
    let [mut slots, mut bytes] = [space.labels().saturating_mul(space.stride()), 0usize];
    for (matrix, block) in matrices {
        let [rows, singles] = count(block);
        slots = slots
            .saturating_add(rows.saturating_mul(block.width()))
            .saturating_add(singles);
        bytes = bytes.saturating_add(columns_memory(data, matrix, block));
        // Places of columns while the matrix is arranged, times of decay, amounts of noise.
        bytes = bytes.saturating_add(16 * block.columns() + 16 * (rows + singles));
    }
    // Weights, sums or squares, and the weights at the start of calibration.
    let arrays = match algorithm {
        Algorithm::Sgd(options) => 2 + usize::from(options.step != StepRule::Decreasing),
        _ => 2,
    };
    let noise = match noise.map(|noise| &noise.kind) {
        Some(OnlineNoiseKind::Quadratic(noise)) => NoiseMemory::Quadratic(noise),
        Some(OnlineNoiseKind::Sampled { .. }) => NoiseMemory::MonteCarlo,
        None => NoiseMemory::None,
    };
    bytes
        .saturating_add(slots.saturating_mul(8 * arrays))
        .saturating_add(slots / 8)
        .saturating_add(32 * data.len())
        .saturating_add(sentence_memory(data, space, noise))
}

/// The memory of a design matrix arranged sentence by sentence.
fn columns_memory(data: &Dataset, matrix: &SparseRows, block: &FeatureBlock) -> usize {
    if matrix.is_empty() {
        return 0;
    }
    let per_value = if matrix.is_binary() { 0 } else { 8 };
    let mut last = vec![0u32; block.columns()]; // the last sentence with each column, plus 1
    let mut bytes = 0;
    for sentence in 0..data.len() {
        for token in data.sentence(sentence) {
            for &column in matrix.row(token).0 {
                let column = column as usize;
                if !block.targets.is_dense(column) {
                    let weights = block.targets.range(column).len();
                    bytes += weights * (size_of::<Single>() + per_value);
                    continue;
                }
                bytes += 4 + per_value;
                if last[column] != sentence as u32 + 1 {
                    last[column] = sentence as u32 + 1;
                    bytes += size_of::<Row>();
                }
            }
        }
    }
    bytes
}
