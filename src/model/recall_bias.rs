//! The recall bias in the label weights of a model.

use crate::chain::LabelWeights;
use crate::label::{LabelSet, Labeling};

/// Subtracts the recall bias from the score of the label outside of all spans, at every token
/// (decision 83).
pub fn add_recall_bias(
    bias: f64,
    labels: &LabelSet,
    labeling: &Labeling,
    weights: &mut LabelWeights,
) {
    let Some(outside) = labels.id(labeling.outside()).filter(|_| bias != 0.0) else { return };
    for row in weights.transitions.chunks_exact_mut(labels.len()).chain([&mut weights.start[..]]) {
        row[outside.index()] -= bias;
    }
}
