//! Items whose features have been converted.

use std::ops::Range;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::at;
use crate::inputs::{FeatureSink, Tokens};
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

impl FeatureSink for PyItemSequence {
    fn feature(&mut self, name: &str, value: f64) -> PyResult<()> {
        self.names.push_str(name);
        self.attributes.push((self.names.len(), value));
        Ok(())
    }

    fn end_token(&mut self, _t: usize) -> PyResult<()> {
        self.ends.push(self.attributes.len());
        Ok(())
    }
}

impl PyItemSequence {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Calls `sink` with the name and the value of each attribute of an item.
    ///
    /// # Errors
    ///
    /// Those of `sink`.
    pub fn read(&self, t: usize, sink: &mut impl FnMut(&str, f64) -> PyResult<()>) -> PyResult<()> {
        let item = self.range(t);
        let before = item.start.checked_sub(1);
        let mut start = before.map_or(0, |before| self.attributes[before].0);
        for &(end, value) in &self.attributes[item] {
            sink(&self.names[start..end], value)?;
            start = end;
        }
        Ok(())
    }

    /// Returns which of the attributes are those of an item.
    fn range(&self, t: usize) -> Range<usize> {
        t.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[t]
    }
}

#[pymethods]
impl PyItemSequence {
    #[new]
    fn new(pyseq: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut items = Self::default();
        let place = || "pyseq".to_owned();
        let tokens = Tokens::of(pyseq).map_err(|e| at(pyseq.py(), place, e))?;
        tokens.read(&mut ItemReader::default(), &mut items, &place)?;
        let is_infinite = |&(_, value): &(usize, f64)| !value.is_finite();
        if let Some(i) = items.attributes.iter().position(is_infinite) {
            let t = items.ends.partition_point(|&end| end <= i);
            return Err(PyValueError::new_err(format!(
                "pyseq[{t}]: a feature has the value NaN or infinity; expected a finite number"
            )));
        }
        items.names.shrink_to_fit();
        items.attributes.shrink_to_fit();
        Ok(items)
    }

    /// Returns the attributes of each item, `{name: value}`.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let item = |t| {
            let dict = PyDict::new(py);
            self.read(t, &mut |name, value| dict.set_item(name, value))?;
            Ok(dict)
        };
        (0..self.len()).map(item).collect()
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    fn __repr__(&self) -> String {
        format!("<ItemSequence of size {}>", self.len())
    }
}
