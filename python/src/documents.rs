//! Documents as rows of a matrix, for classifiers: sentences of one token in a model of order 0.

use dropchain::label::LabelId;
use dropchain::train::AttributeCorpus;
use numpy::ndarray::{Array1, Array2};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{at, exception};
use crate::items::found;
use crate::matrices::Matrix;
use crate::tagger::PyTagger;

/// The coefficients `[K][D]` and the intercepts `[K]` of classes.
type Coefficients<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// Reads each row of a matrix as a document; an attribute is the number of a column. A label is
/// `None` if it is unknown.
///
/// # Errors
///
/// `ValueError` if the numbers of rows, labels and weights differ, or a value is too large; names
/// the row.
pub fn read(
    matrix: &Bound<'_, PyAny>,
    labels: &[Option<String>],
    weights: &[f64],
) -> PyResult<AttributeCorpus> {
    let matrix = Matrix::of(matrix)?.ok_or_else(|| found(matrix, "X", "a matrix"))?;
    let rows = matrix.rows();
    if rows != labels.len() || rows != weights.len() {
        return Err(PyValueError::new_err(format!(
            "found {} labels and {} weights for {rows} rows; expected one for each",
            labels.len(),
            weights.len()
        )));
    }
    let mut corpus = AttributeCorpus::new();
    for (row, (label, weight)) in labels.iter().zip(weights).enumerate() {
        let place = |error| at(matrix.py(), || format!("X[{row}]"), error);
        corpus.weight(*weight).map_err(exception).map_err(place)?;
        let added = matrix
            .row(row, &mut |column, value| corpus.attribute(column, value).map_err(exception));
        added.map_err(place)?;
        let label = label.as_deref();
        corpus.end_token(label).map_err(exception).map_err(place)?;
        corpus.end_sentence().map_err(exception).map_err(place)?;
    }
    corpus.shrink_to_fit();
    Ok(corpus)
}

/// Returns the coefficients and intercepts of a model of documents of `width` columns. Its labels
/// are the numbers of `classes` classes; one without weights has zeros.
///
/// # Errors
///
/// `ValueError` if the model has other labels or attributes.
#[pyfunction]
pub fn coefficients<'py>(
    py: Python<'py>,
    tagger: &Bound<'py, PyTagger>,
    classes: usize,
    width: usize,
) -> PyResult<Coefficients<'py>> {
    let model = tagger.get().inner.model();
    let header = model.header();
    let fault = || PyValueError::new_err("the model is none of the rows of a matrix");
    let class = |label: LabelId| {
        let class = header.labels.name(label).parse().ok();
        class.filter(|&class: &usize| class < classes)
    };
    let mut coefficients = Array2::zeros((classes, width));
    for item in model.node_weights() {
        let (column, weights) = item.map_err(exception)?;
        let column = std::str::from_utf8(column)
            .ok()
            .and_then(|column| column.strip_prefix(Matrix::COLUMN)?.parse::<usize>().ok());
        let column = column.filter(|&column| column < width).ok_or_else(fault)?;
        for (label, weight) in weights {
            let class = class(label).ok_or_else(fault)?;
            coefficients[[class, column]] = weight;
        }
    }
    let mut intercepts = Array1::zeros(classes);
    let boundary = &header.label_weights;
    for (label, (start, end)) in (0..).zip(boundary.start.iter().zip(&boundary.end)) {
        let class = class(LabelId(label)).ok_or_else(fault)?;
        intercepts[class] = start + end;
    }
    Ok((coefficients.into_pyarray(py), intercepts.into_pyarray(py)))
}
