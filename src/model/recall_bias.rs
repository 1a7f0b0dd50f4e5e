//! The recall bias in the label weights of a model.

use crate::chain::LabelWeights;
use crate::label::{LabelSet, Labeling, Scheme};

/// Whether the recall bias is added to the score of a label after `previous`; `None` is the start
/// of the sentence.
///
/// It is added where a span starts, so that it changes how many spans are predicted, not how long
/// they are; in IO, whose labels do not say where spans start, at every token of a span
/// (decision 83).
pub fn has_recall_bias(labeling: &Labeling, previous: Option<&str>, label: &str) -> bool {
    match labeling.scheme {
        Scheme::Io => labeling.chunk(label).is_inside(),
        _ => labeling.starts_span(previous, label),
    }
}

/// Adds the recall bias to the label weights of a model ([`has_recall_bias`]).
pub fn add_recall_bias(
    bias: f64,
    labels: &LabelSet,
    labeling: &Labeling,
    weights: &mut LabelWeights,
) {
    if bias == 0.0 {
        return;
    }
    let names = labels.names();
    let rows = weights.transitions.chunks_exact_mut(names.len());
    let starts = [(None, &mut weights.start[..])].into_iter();
    let pairs = names
        .iter()
        .zip(rows)
        .map(|(name, row)| (Some(name.as_str()), row));
    for (previous, row) in starts.chain(pairs) {
        for (name, weight) in names.iter().zip(row) {
            if has_recall_bias(labeling, previous, name) {
                *weight += bias;
            }
        }
    }
}
