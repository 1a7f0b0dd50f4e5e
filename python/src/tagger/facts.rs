//! Contents of a model as dicts.

use dropchain::Model;
use dropchain::kernel::model::FORMAT_VERSION;
use dropchain::model::{AttributeKind, Order, TrainingRecord};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error::exception;

/// Returns what a model is and how it was trained, but for its labels.
pub fn info<'py>(py: Python<'py>, model: &Model) -> PyResult<Bound<'py, PyDict>> {
    let header = model.header();
    let info = PyDict::new(py);
    info.set_item("version", &header.provenance.version)?;
    info.set_item("format", FORMAT_VERSION)?;
    info.set_item("bytes", model.as_bytes().len())?;
    info.set_item("scheme", header.labeling.scheme.name())?;
    info.set_item("corpus_scheme", header.corpus_labeling.scheme.name())?;
    info.set_item("labels_read_as", header.corpus_labeling.to_string())?;
    info.set_item("order", u8::from(header.order == Order::One))?;
    info.set_item("precision", header.precision.name())?;
    info.set_item("columns", &header.columns.names)?;
    info.set_item("label", header.columns.label_name())?;
    info.set_item("joined_columns", header.columns.joined_names())?;
    info.set_item("attributes", model.attributes(AttributeKind::Node))?;
    info.set_item("edge_attributes", model.attributes(AttributeKind::Edge))?;
    let kinds = [AttributeKind::Node, AttributeKind::Edge];
    let weights: usize = kinds.into_iter().map(|kind| model.weights(kind)).sum();
    info.set_item("weights", weights)?;
    info.set_item("files", &header.provenance.files)?;
    info.set_item("sentences", header.provenance.sentences)?;
    info.set_item("tokens", header.provenance.tokens)?;
    let json = py.import("json")?;
    let options = json.call_method1("loads", (&header.provenance.options,));
    let options = options.unwrap_or_else(|_| PyDict::new(py).into_any());
    // How training ended is stored with the options, and what the user asked for.
    let training = options.call_method1("pop", (TrainingRecord::KEY, py.None()))?;
    let config = options.call_method1("pop", ("config", py.None()))?;
    info.set_item("options", options)?;
    info.set_item("config", config)?;
    info.set_item("training", training)?;
    info.set_item("recall_bias", header.recall_bias())?;
    Ok(info)
}

/// Returns the weights of the attributes of tokens.
pub fn weights<'py>(
    py: Python<'py>,
    model: &Model,
    names: &[Py<PyString>],
) -> PyResult<Bound<'py, PyDict>> {
    let weights = PyDict::new(py);
    for item in model.node_weights() {
        let (name, row) = item.map_err(exception)?;
        let name = PyString::new(py, &String::from_utf8_lossy(name));
        for (label, weight) in row {
            weights.set_item((&name, &names[label.index()]), weight)?;
        }
    }
    Ok(weights)
}

/// Returns the weights of the attributes of pairs of adjacent tokens.
pub fn edge_weights<'py>(
    py: Python<'py>,
    model: &Model,
    names: &[Py<PyString>],
) -> PyResult<Bound<'py, PyDict>> {
    let weights = PyDict::new(py);
    for item in model.edge_weights() {
        let (name, row) = item.map_err(exception)?;
        let name = PyString::new(py, &String::from_utf8_lossy(name));
        for (labels, weight) in row {
            let [a, b] = labels.map(|label| &names[label.index()]);
            weights.set_item((&name, a, b), weight)?;
        }
    }
    Ok(weights)
}

/// Returns the weights of pairs of labels, those that are not 0.
pub fn transitions<'py>(
    py: Python<'py>,
    model: &Model,
    names: &[Py<PyString>],
) -> PyResult<Bound<'py, PyDict>> {
    let weights = PyDict::new(py);
    let (k, transitions) = (names.len(), &model.header().label_weights.transitions);
    for (i, &weight) in transitions.iter().enumerate().filter(|(_, w)| **w != 0.0) {
        weights.set_item((&names[i / k], &names[i % k]), weight)?;
    }
    Ok(weights)
}

/// Returns a number for each label.
pub fn by_label<'a, 'py>(
    py: Python<'py>,
    names: &[Py<PyString>],
    weights: impl IntoIterator<Item = &'a f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, weight) in names.iter().zip(weights) {
        dict.set_item(name, weight)?;
    }
    Ok(dict)
}
