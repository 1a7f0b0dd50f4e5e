//! Classifiers of documents, which are the rows of a matrix; and models of texts.

use std::ops::ControlFlow;
use std::path::PathBuf;

use dropchain::train::DevScore;
use dropchain_documents::{
    DocumentCorpus, DocumentModel, DocumentOptions, DocumentTrainer, Event, Instance,
};
use numpy::ndarray::{Array1, Array2};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::{at, exception};
use crate::items::{ItemReader, found};
use crate::job;
use crate::matrices::Matrix;
use crate::tagger::{PyTagger, TOKEN, in_batches};

/// The coefficients `[F][D]` and the intercepts `[F]` of F classes, or of the second of two minus
/// the first; the number of iterations, and the exception that ended training early.
type Trained<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, usize, Option<PyErr>);

/// The rows of a matrix: the number of the class of each, if it is known, and its weight.
type Rows<'py> = (Bound<'py, PyAny>, Vec<Option<usize>>, Vec<f64>);

/// Trains a classifier. `options` are those of documents as JSON; `observer` is called with the
/// number, the objective and the accuracy on development documents of each iteration.
///
/// # Errors
///
/// `ValueError` if rows, classes and weights differ in number, or a value or an option is out of
/// its range.
#[pyfunction]
pub fn train_classifier<'py>(
    py: Python<'py>,
    rows: Vec<Rows<'py>>,
    dev: Option<Rows<'py>>,
    options: &str,
    threads: Option<usize>,
    observer: Option<Bound<'py, PyAny>>,
) -> PyResult<Trained<'py>> {
    let options: DocumentOptions = serde_json::from_str(options)
        .map_err(|error| PyValueError::new_err(format!("max_iterations, seed: {error}")))?;
    let trainer = DocumentTrainer::new(options).map_err(exception)?;
    let (corpus, width) = read(&rows)?;
    let dev = dev.map(|rows| read(&[rows])).transpose()?.map(|(dev, _)| dev);
    let (trained, raised) = job::run(
        py,
        threads,
        |job| {
            let mut trainer = trainer;
            trainer.interrupt = Some(job.interrupt);
            trainer.train(&corpus, dev.as_ref(), &mut |event| match event {
                Event::Iteration(iteration) => job.send(iteration.clone()),
                _ => ControlFlow::Continue(()),
            })
        },
        |iteration| {
            let Some(observer) = &observer else { return Ok(ControlFlow::Continue(())) };
            let accuracy = iteration.dev.map(DevScore::value);
            observer.call1((iteration.number, iteration.objective, accuracy))?;
            Ok(ControlFlow::Continue(()))
        },
    )?;
    let biases = &trained.model.header().biases;
    let mut coefficients = Array2::zeros((biases.len(), width));
    for (name, row) in trained.model.weights() {
        let column = name.strip_prefix(Matrix::COLUMN).and_then(|column| column.parse().ok());
        let column: usize = column.filter(|column| *column < width).unwrap_or_default();
        for (class, weight) in row {
            coefficients[[class as usize, column]] = weight;
        }
    }
    let intercepts = Array1::from(biases.clone()).into_pyarray(py);
    let iterations = trained.end.iterations;
    Ok((coefficients.into_pyarray(py), intercepts, iterations, raised))
}

/// Reads the rows of matrices, and returns their number of columns, too.
fn read(parts: &[Rows<'_>]) -> PyResult<(DocumentCorpus, usize)> {
    let (mut corpus, mut width) = (DocumentCorpus::default(), 0);
    for (matrix, classes, weights) in parts {
        width = matrix.getattr("shape")?.get_item(1)?.extract()?;
        let matrix_of_rows = Matrix::of(matrix)?.ok_or_else(|| found(matrix, "X", "a matrix"))?;
        let rows = matrix_of_rows.rows();
        if rows != classes.len() || rows != weights.len() {
            return Err(PyValueError::new_err(format!(
                "found {} labels and {} weights for {rows} rows; expected one for each",
                classes.len(),
                weights.len()
            )));
        }
        for (row, (class, weight)) in classes.iter().zip(weights).enumerate() {
            let mut features = Vec::new();
            matrix_of_rows.row(row, &mut |column, value| {
                features.push((column.to_owned(), value));
                Ok(())
            })?;
            let added = corpus.add_row(&features, *class, *weight).map_err(exception);
            added.map_err(|error| at(|| format!("X[{row}]"), error))?;
        }
    }
    Ok((corpus, width))
}

/// A classifier of whole documents.
///
/// It is what ``dropchain classify train`` writes, and what :func:`dropchain.load` returns of its
/// files. Documents are texts; or, of a model of ready-made features, dicts of numbers.
#[pyclass(name = "DocumentModel", module = "dropchain", frozen)]
pub struct PyDocumentModel(DocumentModel);

impl PyDocumentModel {
    /// Works on documents in parallel, and without the GIL.
    fn each<R: Send>(
        &self,
        documents: &Bound<'_, PyAny>,
        work: impl Fn(&Instance) -> dropchain::Result<R> + Send + Sync,
    ) -> PyResult<Vec<R>> {
        let mut items = ItemReader::default();
        let read = |i: usize, document: &Bound<'_, PyAny>| {
            if let Ok(text) = document.cast::<PyString>() {
                let text = text.to_cow()?;
                return Ok((Instance::from_text(&*text), 1 + text.len() / TOKEN));
            }
            let mut features = Vec::new();
            let mut add = |name: &str, value| {
                features.push((name.to_owned(), value));
                Ok(())
            };
            let read = items.read(document, &mut add);
            read.map_err(|error| at(|| format!("documents[{i}]"), error))?;
            let size = 1 + features.len();
            Ok((Instance::from_features(features), size))
        };
        in_batches(documents, "documents", None, read, work, Ok)
    }
}

#[pymethods]
impl PyDocumentModel {
    /// The classes, in the order of the columns of probabilities.
    #[getter]
    fn classes(&self) -> &[String] {
        self.0.classes()
    }

    /// Return the most probable class of each document.
    ///
    /// Parameters
    /// ----------
    /// documents : iterable of str, or of dict
    ///     Texts, or features.
    fn predict(&self, documents: &Bound<'_, PyAny>) -> PyResult<Vec<&str>> {
        let best = |document: &Instance| Ok(self.0.classify(document)?.best());
        let best = self.each(documents, best)?;
        Ok(best.into_iter().map(|class| self.classes()[class].as_str()).collect())
    }

    /// Return the probabilities of :attr:`classes` for each document, ``[documents, classes]``: a
    /// numpy array.
    ///
    /// Parameters
    /// ----------
    /// documents : as for :meth:`predict`
    fn predict_proba<'py>(
        &self,
        py: Python<'py>,
        documents: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let classify = |document: &Instance| Ok(self.0.classify(document)?.probabilities);
        Ok(PyArray2::from_vec2(py, &self.each(documents, classify)?)?)
    }

    fn __repr__(&self) -> String {
        format!("<DocumentModel of {} classes>", self.classes().len())
    }
}

/// Open a model file, whatever it is a model of.
///
/// Parameters
/// ----------
/// path : path
///     A model of dropchain, or one of CRFsuite.
///
/// Returns
/// -------
/// Tagger or DocumentModel
///     A tagger; of the files of ``dropchain classify`` a model of documents.
///
/// Raises OSError if the file cannot be read, :class:`ModelError` if it is damaged or not a model.
///
/// Examples
/// --------
/// >>> import dropchain
/// >>> sample = dropchain.sample_corpus()
/// >>> result = dropchain.train(sample, template="ner", max_iterations=30, model="ner.model")
/// >>> dropchain.load("ner.model").tag(["She", "lives", "in", "London", "."])
/// ['O', 'O', 'O', 'B-LOC', 'O']
#[pyfunction]
pub fn load(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    if DocumentModel::is_at(&path) {
        let model = py.detach(|| DocumentModel::open(path)).map_err(exception)?;
        return Ok(Bound::new(py, PyDocumentModel(model))?.into_any());
    }
    py.get_type::<PyTagger>().call_method1("open", (path,))
}
