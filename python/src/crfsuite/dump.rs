//! What is in a model, as python-crfsuite shows it.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::model::OpenModel;
use crate::error::exception;

/// Labels and attributes with their ids as strings, and the weights of label pairs and of
/// attributes: `labels`, `attributes`, `transitions`, `state_features`.
pub type Dump<'py> = [Bound<'py, PyDict>; 4];

/// Returns what is in a model; weights that are 0 are left out.
pub fn dump<'py>(py: Python<'py>, open: &OpenModel) -> PyResult<Dump<'py>> {
    let model = open.tagger.model();
    let [labels, attributes, transitions, states] = [(); 4].map(|()| PyDict::new(py));
    for (i, label) in open.labels.iter().enumerate() {
        labels.set_item(label, i.to_string())?;
    }
    let weights = &model.header().label_weights.transitions;
    let names = open.labels.iter();
    let pairs = names.flat_map(|a| open.labels.iter().map(move |b| (a, b)));
    for (pair, &weight) in pairs.zip(weights) {
        if weight != 0.0 {
            transitions.set_item(pair, weight)?;
        }
    }
    let mut id = 0;
    for row in model.node_weights() {
        let (name, weights) = row.map_err(exception)?;
        if weights.is_empty() {
            continue;
        }
        let name = PyString::new(py, &String::from_utf8_lossy(name));
        attributes.set_item(&name, id.to_string())?;
        id += 1;
        for (label, weight) in weights {
            states.set_item((&name, &open.labels[label.index()]), weight)?;
        }
    }
    Ok([labels, attributes, transitions, states])
}
