//! Explanations, as dicts.

use dropchain_analysis::{Alternative, Explanation, Part};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::error::exception;
use crate::fields::fields;

/// Returns the explanation of every token, with at most `top` parts.
pub fn explanation<'py>(
    py: Python<'py>,
    explanation: &Explanation<'_>,
    names: &[Py<PyString>],
    top: usize,
) -> PyResult<Bound<'py, PyList>> {
    let tokens = PyList::empty(py);
    for (t, label) in explanation.labels().iter().enumerate() {
        let token = PyDict::new(py);
        token.set_item("token", t)?;
        token.set_item("label", &names[label.index()])?;
        token.set_item("probability", explanation.probability(t))?;
        let runner_up = explanation.runner_up(t);
        let margin = runner_up.as_ref().map(Alternative::margin);
        token.set_item("margin", margin)?;
        let described = runner_up
            .as_ref()
            .map(|other| alternative(py, other, names));
        token.set_item("runner_up", described.transpose()?)?;
        let parts = runner_up.as_ref().map(Alternative::parts).transpose();
        let mut parts = parts.map_err(exception)?.unwrap_or_default();
        let others = parts.split_off(top.min(parts.len()));
        let shown = parts.iter().map(|shown| part(py, shown, names));
        token.set_item("parts", shown.collect::<PyResult<Vec<_>>>()?)?;
        token.set_item("others", others.iter().map(Part::contribution).sum::<f64>())?;
        tokens.append(token)?;
    }
    Ok(tokens)
}

fn alternative<'py>(
    py: Python<'py>,
    alternative: &Alternative<'_>,
    names: &[Py<PyString>],
) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    described.set_item("label", &names[alternative.label().index()])?;
    described.set_item("start", alternative.range().start)?;
    described.set_item("end", alternative.range().end)?;
    let labels = alternative.labels().iter();
    let labels = labels.map(|label| &names[label.index()]);
    described.set_item("labels", labels.collect::<Vec<_>>())?;
    Ok(described)
}

fn part<'py>(
    py: Python<'py>,
    part: &Part<'_>,
    names: &[Py<PyString>],
) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    described.set_item("kind", part.kind.name())?;
    fields!(described, part, [token, value]);
    described.set_item("attribute", &part.name)?;
    let labels = part.labels.map(|label| &names[label.index()]);
    described.set_item("labels", (labels[0], labels[1]))?;
    let previous = part.previous.map(|previous| {
        let [a, b] = previous.map(|label| &names[label.index()]);
        (a, b)
    });
    described.set_item("previous_labels", previous)?;
    described.set_item("weights", (part.weights[0], part.weights[1]))?;
    described.set_item("contribution", part.contribution())?;
    Ok(described)
}
