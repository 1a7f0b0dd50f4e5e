//! Items whose features have been converted.

use dropchain::Result;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::instance::{self, AttributeSink};
use crate::error::{at, exception};
use crate::items::ItemReader;

/// A sequence of items whose features have been converted to attributes.
///
/// Trainers and taggers accept one in place of a list. It saves time if the same items are used
/// more than once, and shows what attributes features become.
///
/// >>> from dropchain.pycrfsuite import ItemSequence
/// >>> ItemSequence([["capital"], {"word": "Ada", "length": 3}]).items()
/// [{'capital': 1.0}, {'word:Ada': 1.0, 'length': 3.0}]
///
/// Parameters
/// ----------
/// pyseq : iterable
///     The features of each item, in one of these forms:
///
///     - an iterable of strings: attributes with the value 1;
///     - a dict: a number or a bool is the value of the attribute; with a string `s` under the key
///       `k`, the attribute is `k:s`; the keys of nested dicts, lists and sets are prefixed with
///       `k:`.
#[pyclass(
    frozen,
    subclass,
    name = "ItemSequence",
    module = "dropchain.pycrfsuite"
)]
#[derive(Default)]
pub struct PyItemSequence {
    names: String,
    attributes: Vec<(usize, f64)>, // end in `names`, value
    ends: Vec<usize>,              // [T] end in `attributes`
}

impl AttributeSink for PyItemSequence {
    fn attribute(&mut self, name: &str, value: f64) -> Result<()> {
        self.names.push_str(name);
        self.attributes.push((self.names.len(), value));
        Ok(())
    }

    fn end_item(&mut self, _t: usize) -> PyResult<()> {
        self.ends.push(self.attributes.len());
        Ok(())
    }
}

/// Reads the attributes of the items of a sequence, which may be an [`PyItemSequence`]: see
/// [`instance::read_items`].
pub fn read_items(
    sequence: &Bound<'_, PyAny>,
    name: &dyn Fn() -> String,
    reader: &mut ItemReader,
    sink: &mut impl AttributeSink,
) -> PyResult<usize> {
    match sequence.cast::<PyItemSequence>() {
        Ok(items) => items.get().read(name, sink, sequence.py()),
        Err(_) => instance::read_items(sequence, name, reader, sink),
    }
}

impl PyItemSequence {
    /// Passes the attributes on to a sink. Returns the number of items.
    fn read(
        &self,
        name: &dyn Fn() -> String,
        sink: &mut impl AttributeSink,
        py: Python<'_>,
    ) -> PyResult<usize> {
        let mut start = 0;
        for t in 0..self.ends.len() {
            for &(end, value) in self.item(t) {
                let pushed = sink.attribute(&self.names[start..end], value);
                let pushed = pushed.map_err(exception);
                pushed.map_err(|error| at(py, || format!("{}[{t}]", name()), error))?;
                start = end;
            }
            sink.end_item(t)?;
        }
        Ok(self.ends.len())
    }

    fn item(&self, t: usize) -> &[(usize, f64)] {
        let start = t.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.attributes[start..self.ends[t]]
    }
}

#[pymethods]
impl PyItemSequence {
    #[new]
    fn new(pyseq: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut items = Self::default();
        let name = || "pyseq".to_owned();
        read_items(pyseq, &name, &mut ItemReader::default(), &mut items)?;
        if let Some(t) = (0..items.ends.len())
            .find(|&t| items.item(t).iter().any(|&(_, value)| !value.is_finite()))
        {
            return Err(PyValueError::new_err(format!(
                "pyseq[{t}]: a feature has the value NaN or infinity; expected a finite number"
            )));
        }
        items.names.shrink_to_fit();
        items.attributes.shrink_to_fit();
        Ok(items)
    }

    /// Returns the attributes of each item, `{name: value}`.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let mut start = 0;
        for t in 0..self.ends.len() {
            let dict = PyDict::new(py);
            for &(end, value) in self.item(t) {
                dict.set_item(&self.names[start..end], value)?;
                start = end;
            }
            list.append(dict)?;
        }
        Ok(list)
    }

    fn __len__(&self) -> usize {
        self.ends.len()
    }

    fn __repr__(&self) -> String {
        format!("<ItemSequence of size {}>", self.ends.len())
    }
}
