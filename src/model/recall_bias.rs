//! The recall bias in the label weights of a model.

use crate::chain::LabelWeights;
use crate::label::{ChunkLabel, LabelSet, Labeling, Scheme};

/// Whether the recall bias is added to the score of a label after `previous`; `None` is the start
/// of the sentence.
///
/// It is added where a span starts, so that it changes how many spans are predicted, not how long
/// they are; in IO, whose labels do not say where spans start, at every token of a span
/// (decision 83).
pub fn has_recall_bias(labeling: &Labeling, previous: Option<&str>, label: &str) -> bool {
    let previous = previous.map_or(ChunkLabel::OUTSIDE, |previous| labeling.chunk(previous));
    is_biased(labeling.scheme, previous, labeling.chunk(label))
}

fn is_biased(scheme: Scheme, previous: ChunkLabel<'_>, label: ChunkLabel<'_>) -> bool {
    label.is_inside() && (scheme == Scheme::Io || label.starts_after(previous))
}

/// Adds the recall bias to the label weights of a model ([`has_recall_bias`]).
pub fn add_recall_bias(
    bias: f64,
    labels: &LabelSet,
    labeling: &Labeling,
    weights: &mut LabelWeights,
) {
    if bias == 0.0 || labels.is_empty() {
        return;
    }
    // Read once, not for each pair.
    let names = labels.names().iter();
    let chunks: Vec<ChunkLabel<'_>> = names.map(|name| labeling.chunk(name)).collect();
    let add = |previous, row: &mut [f64]| {
        for (&label, weight) in chunks.iter().zip(row) {
            if is_biased(labeling.scheme, previous, label) {
                *weight += bias;
            }
        }
    };
    add(ChunkLabel::OUTSIDE, &mut weights.start);
    let rows = weights.transitions.chunks_exact_mut(chunks.len());
    for (&previous, row) in chunks.iter().zip(rows) {
        add(previous, row);
    }
}
