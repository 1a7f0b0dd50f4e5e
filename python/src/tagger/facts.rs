//! What a model is, as a dict.

use dropchain::Model;
use dropchain::kernel::model::FORMAT_VERSION;
use dropchain::model::{AttributeKind, Order};
use pyo3::prelude::*;
use serde_json::json;

use crate::objects::object;

/// Returns what a model is and how it was trained.
pub fn info<'py>(py: Python<'py>, model: &Model) -> PyResult<Bound<'py, PyAny>> {
    let header = model.header();
    let source = &header.provenance;
    let kinds = [AttributeKind::Node, AttributeKind::Edge];
    let [attributes, edge_attributes] = kinds.map(|kind| model.attributes(kind));
    let weights: usize = kinds.into_iter().map(|kind| model.weights(kind)).sum();
    let info = json!({
        "version": source.version,
        "format": FORMAT_VERSION,
        "bytes": model.as_bytes().len(),
        "scheme": header.labeling.scheme.name(),
        "corpus_scheme": header.corpus_labeling.scheme.name(),
        "labels_read_as": header.corpus_labeling.to_string(),
        "order": u8::from(header.order == Order::One),
        "precision": header.precision.name(),
        "columns": header.columns.names,
        "label": header.columns.label_name(),
        "joined_columns": header.columns.joined_names(),
        "attributes": attributes,
        "edge_attributes": edge_attributes,
        "weights": weights,
        "date": source.date,
        "files": source.files,
        "sentences": source.sentences,
        "tokens": source.tokens,
        "options": source.training_options(),
        "config": source.config(),
        "training": source.training(),
        "recall_bias": header.recall_bias(),
        "labels": header.labels.names(),
    });
    object(py, &info)
}
