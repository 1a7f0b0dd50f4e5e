//! Sequences of items and labels, as Python passes them.

use dropchain::Result;
use dropchain::tag::KeyedSentence;
use dropchain::train::AttributeCorpus;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::error::{at, exception};
use crate::items::{ItemReader, found};

/// What the attributes of items go into.
pub trait AttributeSink {
    /// Adds an attribute to the current item.
    fn attribute(&mut self, name: &str, value: f64) -> Result<()>;
    /// Ends item `t`.
    fn end_item(&mut self, t: usize) -> PyResult<()>;
}

impl AttributeSink for KeyedSentence {
    #[inline]
    fn attribute(&mut self, name: &str, value: f64) -> Result<()> {
        Self::attribute(self, name, value)
    }

    #[inline]
    fn end_item(&mut self, _t: usize) -> PyResult<()> {
        self.end_token();
        Ok(())
    }
}

/// An instance for training: items end with their labels.
pub struct LabeledSink<'a, 'py> {
    pub corpus: &'a mut AttributeCorpus,
    pub labels: &'a [Bound<'py, PyAny>],
    /// The name of the labels in messages, such as `y[3]`.
    pub name: &'a dyn Fn() -> String,
}

impl AttributeSink for LabeledSink<'_, '_> {
    #[inline]
    fn attribute(&mut self, name: &str, value: f64) -> Result<()> {
        self.corpus.attribute(name, value)
    }

    fn end_item(&mut self, t: usize) -> PyResult<()> {
        let Some(label) = self.labels.get(t) else {
            return Ok(()); // counted: the lengths differ
        };
        let place = || format!("{}[{t}]", (self.name)());
        let text = label_text(label, place)?;
        let ended = self.corpus.end_token(Some(&text)).map_err(exception);
        ended.map_err(|error| at(label.py(), place, error))
    }
}

/// Returns the text of a label.
///
/// # Errors
///
/// `TypeError` if it is not a string, like python-crfsuite.
pub fn label_text<'a>(
    label: &'a Bound<'_, PyAny>,
    place: impl FnOnce() -> String,
) -> PyResult<std::borrow::Cow<'a, str>> {
    if let Ok(text) = label.cast::<PyString>() {
        return text.to_cow();
    }
    if let Ok(bytes) = label.cast::<PyBytes>()
        && let Ok(text) = std::str::from_utf8(bytes.as_bytes())
    {
        return Ok(text.into());
    }
    let fault = found(label, "a label", "a string");
    let message = fault.value(label.py()).to_string();
    Err(PyTypeError::new_err(format!("{}: {message}", place())))
}

/// Reads the attributes of the items of an iterable. Returns the number of items; `name` is that of
/// the sequence in messages, such as `X[3]`.
///
/// # Errors
///
/// `ValueError` naming the item; those of the sink.
pub fn read_items(
    sequence: &Bound<'_, PyAny>,
    name: &dyn Fn() -> String,
    reader: &mut ItemReader,
    sink: &mut impl AttributeSink,
) -> PyResult<usize> {
    let py = sequence.py();
    let mut count = 0;
    let mut read = |item: &Bound<'_, PyAny>| {
        let attribute =
            &mut |name: &str, value: f64| sink.attribute(name, value).map_err(exception);
        let place = || format!("{}[{count}]", name());
        let read = reader.read(item, attribute);
        read.map_err(|error| at(py, place, error))?;
        sink.end_item(count)?;
        count += 1;
        PyResult::Ok(())
    };
    if let Ok(list) = sequence.cast_exact::<PyList>() {
        list.iter().try_for_each(|item| read(&item))?;
        return Ok(count);
    }
    let is_text = sequence.is_instance_of::<PyString>() || sequence.is_instance_of::<PyBytes>();
    let Some(items) = (!is_text).then(|| sequence.try_iter().ok()).flatten() else {
        let error = found(
            sequence,
            "a sequence of items",
            "a list of dicts or of lists of strings",
        );
        return Err(at(py, name, error));
    };
    for item in items {
        read(&item?)?;
    }
    Ok(count)
}

/// Returns the labels of a sequence.
///
/// # Errors
///
/// `TypeError` if it is no sequence.
pub fn labels_of<'py>(
    labels: &Bound<'py, PyAny>,
    name: &dyn Fn() -> String,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = labels.cast_exact::<PyList>() {
        return Ok(list.iter().collect());
    }
    match labels.try_iter() {
        Ok(iterator) => iterator.collect(),
        Err(_) => {
            let fault = found(labels, "labels", "a list of strings");
            let message = fault.value(labels.py()).to_string();
            Err(PyTypeError::new_err(format!("{}: {message}", name())))
        }
    }
}
