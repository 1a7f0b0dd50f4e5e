//! What the first of two passes predicts, as the second reads it.

use ndarray::Array2;

use super::tagging::{TagOptions, Tagging};
use crate::error::{Error, Result};
use crate::second_pass::{LabelTypes, Prediction};

/// The options that the first pass tags with.
pub(super) const OPTIONS: TagOptions = TagOptions {
    constrain: true,
    marginals: true,
    nbest: 1,
    probability: false,
};

/// Converts a tagging with marginals to the labels of `types`. `names` are the labels of the model:
/// one that was trained on a part of the data has the same, but perhaps not all of them, and in
/// another order.
///
/// # Errors
///
/// [`Error::Parameter`] if there are other labels.
pub(super) fn prediction(
    tagging: Tagging,
    names: &[String],
    types: &LabelTypes,
) -> Result<Prediction> {
    let ids = names.iter().map(|name| types.label_id(name));
    let ids = ids.collect::<Option<Vec<_>>>();
    let ids = ids.ok_or_else(|| Error::parameter("the two passes have different labels"))?;
    let marginals = tagging.marginals.unwrap_or_default();
    let mut all = Array2::zeros((marginals.nrows(), types.labels()));
    for (label, id) in ids.iter().enumerate() {
        all.column_mut(id.index()).assign(&marginals.column(label));
    }
    let labels = tagging.labels.iter().map(|label| ids[label.index()]);
    Ok(Prediction::new(labels.collect(), &all, types))
}
