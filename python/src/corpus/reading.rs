//! How to read files: the arguments of `Corpus.read`.

use std::str::FromStr;

use dropchain::Error;
use dropchain::corpus::{LineRules, ReadLimits, ReadOptions, Supervision, TextOptions};
use dropchain_formats::{InputFormat, SpanOptions};
use pyo3::prelude::*;

use crate::error::exception;
use crate::inputs::{self, memory_limit};
use crate::items::ColumnNames;

/// How to read files.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReadArguments<'py> {
    pub format: Option<String>,
    pub columns: Option<ColumnNames>,
    pub label: Option<Bound<'py, PyAny>>,
    pub unlabeled: bool,
    pub comments: bool,
    pub header: bool,
    pub partial_labels: bool,
    pub weights: bool,
    pub max_sentence: Option<i64>,
    pub memory: Option<i64>,
    pub encoding: Option<String>,
    pub paragraphs: bool,
    pub offsets: Option<String>,
    pub misaligned: Option<String>,
}

impl ReadArguments<'_> {
    /// Returns the options of the library.
    ///
    /// # Errors
    ///
    /// `ValueError` for an unknown name or a number out of range.
    pub fn options(self) -> PyResult<ReadOptions> {
        let spans = SpanOptions {
            offsets: named(self.offsets.as_deref())?.unwrap_or_default(),
            misaligned: named(self.misaligned.as_deref())?.unwrap_or_default(),
        };
        let format = self.format.as_deref();
        let options = read_options(format, self.columns, self.label.as_ref(), spans)?;
        let encoding = self.encoding.as_deref().map(TextOptions::of_encoding);
        let encoding = encoding.transpose().map_err(exception)?;
        let max_sentence = inputs::count("max_sentence", self.max_sentence, 1)?;
        Ok(ReadOptions {
            unlabeled: self.unlabeled,
            lines: LineRules { comments: self.comments, header: self.header },
            supervision: Supervision { partial_labels: self.partial_labels, weights: self.weights },
            text: TextOptions { paragraphs: self.paragraphs, ..encoding.unwrap_or_default() },
            limits: ReadLimits {
                max_sentence: max_sentence.unwrap_or(ReadLimits::MAX_SENTENCE),
                memory: memory_limit(self.memory)?,
            },
            ..options
        })
    }
}

/// Reads how to read; a label column may be an index.
pub fn read_options(
    format: Option<&str>,
    columns: Option<ColumnNames>,
    label: Option<&Bound<'_, PyAny>>,
    spans: SpanOptions,
) -> PyResult<ReadOptions> {
    let format: Option<InputFormat> = format.map(str::parse).transpose().map_err(exception)?;
    let label = label.map(|label| match label.extract::<i64>() {
        Ok(index) => Ok(index.to_string()),
        Err(_) => label.extract::<String>(),
    });
    let options = ReadOptions {
        columns: columns.map(Vec::from),
        label: label.transpose()?,
        ..ReadOptions::default()
    };
    Ok(match format {
        None => options,
        Some(format) => format.apply(spans, options),
    })
}

/// Reads one of several names.
///
/// # Errors
///
/// `ValueError` for an unknown name.
pub fn named<T: FromStr<Err = Error>>(name: Option<&str>) -> PyResult<Option<T>> {
    name.map(str::parse).transpose().map_err(exception)
}
