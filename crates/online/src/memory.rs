//! The memory of a learner, estimated before any of it is allocated.

use dropchain::extract::{Dataset, SparseRows};
use dropchain::objective::{NoiseMemory, sentence_memory};
use dropchain::score::FeatureBlock;
use dropchain::train::TrainingSet;

use crate::columns::{Row, Single};
use crate::epochs::LearnerSettings;
use crate::layout::count;
use crate::sgd::OnlineNoiseKind;

/// Estimates the memory in bytes of a learner. Time O(nonzeros).
pub(crate) fn memory(set: &TrainingSet, settings: &LearnerSettings) -> usize {
    let (data, space) = (set.data(), set.space());
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
    let noise = match settings.noise.as_ref().map(|noise| &noise.kind) {
        Some(OnlineNoiseKind::Analytic(noise)) => NoiseMemory::Analytic(noise),
        Some(OnlineNoiseKind::Sampled { .. }) => NoiseMemory::MonteCarlo,
        None => NoiseMemory::None,
    };
    // Weights, sums or squares, and the weights at the start of calibration; the parameters, those
    // of the best epoch, the result, and those of calibration.
    bytes
        .saturating_add(slots.saturating_mul(8 * 3))
        .saturating_add(space.dimension().saturating_mul(8 * 4))
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
