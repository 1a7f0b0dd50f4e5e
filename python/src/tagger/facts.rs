//! Contents of a model as dicts.

use dropchain::Model;
use dropchain::kernel::model::FORMAT_VERSION;
use dropchain::model::{AttributeKind, Order};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::json;

use super::model::PyTagger;
use crate::error::exception;
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

/// Returns the weights of the attributes of tokens.
pub fn weights<'py>(py: Python<'py>, tagger: &PyTagger) -> PyResult<Bound<'py, PyDict>> {
    let weights = PyDict::new(py);
    for item in tagger.inner.model().node_weights() {
        let (name, row) = item.map_err(exception)?;
        let name = PyString::new(py, &String::from_utf8_lossy(name));
        for (label, weight) in row {
            weights.set_item((&name, &tagger.names[label.index()]), weight)?;
        }
    }
    Ok(weights)
}

/// Returns the weights of the attributes of pairs of adjacent tokens.
pub fn edge_weights<'py>(py: Python<'py>, tagger: &PyTagger) -> PyResult<Bound<'py, PyDict>> {
    let weights = PyDict::new(py);
    for item in tagger.inner.model().edge_weights() {
        let (name, row) = item.map_err(exception)?;
        let name = PyString::new(py, &String::from_utf8_lossy(name));
        for (labels, weight) in row {
            let [a, b] = labels.map(|label| &tagger.names[label.index()]);
            weights.set_item((&name, a, b), weight)?;
        }
    }
    Ok(weights)
}
