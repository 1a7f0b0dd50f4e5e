//! The new column: labels, spans or JSON lines.

use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, Int32Array, ListArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use dropchain::corpus::{Offsets, OutputFormat, Tagged, WriteOptions, Writer};
use dropchain::tag::Header;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::exception;

/// Content of each row of the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The label of each token.
    Labels,
    /// The spans that the labels encode.
    Spans,
    /// A JSON object for each sentence, in lines.
    Jsonl,
}

impl Output {
    /// Returns the output of this name.
    ///
    /// # Errors
    ///
    /// There is none, or the model has nothing for it.
    pub fn of(name: &str, header: &Header) -> Result<Self, String> {
        match name {
            "labels" => Ok(Self::Labels),
            "spans" if header.encodes_spans() => Ok(Self::Spans),
            "spans" => Err(
                "output 'spans': the labels of the model encode no spans (B-X, I-X, …); expected \
                 'labels' or 'jsonl'"
                    .to_owned(),
            ),
            "jsonl" => Ok(Self::Jsonl),
            _ => Err(format!("output '{name}'; expected 'spans', 'labels' or 'jsonl'")),
        }
    }
}

/// The column, as far as rows are tagged.
pub struct OutputColumn {
    items: Items,
    ends: Vec<i32>, // [rows + 1] of the items of each row
    valid: NullBufferBuilder,
}

/// Type of the rows.
enum Items {
    Labels(Strings),
    Spans(Box<Spans>),
    Jsonl {
        lines: Strings,
        writer: Box<Writer<Vec<u8>>>, // to the current row
    },
}

impl OutputColumn {
    /// Starts a column for a model, for rows that are texts or not.
    ///
    /// # Errors
    ///
    /// None of the outputs there are.
    pub fn new(output: Output, header: &Header, has_texts: bool) -> PyResult<Self> {
        let items = match output {
            Output::Labels => Items::Labels(Strings::default()),
            Output::Spans => Items::Spans(Box::new(Spans {
                starts: Vec::new(),
                ends: Vec::new(),
                kinds: Strings::default(),
                texts: has_texts.then(Strings::default),
            })),
            Output::Jsonl => {
                let options = WriteOptions {
                    spans: header.encodes_spans(),
                    joined: header.joined_names().to_vec(),
                    ..WriteOptions::new(OutputFormat::Jsonl)
                };
                let writer = Writer::new(Vec::new(), "the column", &options);
                Items::Jsonl {
                    lines: Strings::default(),
                    writer: Box::new(writer.map_err(exception)?),
                }
            }
        };
        Ok(Self { items, ends: vec![0], valid: NullBufferBuilder::new(0) })
    }

    /// Adds a sentence to the row; `text` is all of it, if rows are texts.
    ///
    /// # Errors
    ///
    /// `ValueError` if the column becomes too large.
    pub fn push(&mut self, text: Option<&str>, tagged: &Tagged<'_>) -> PyResult<()> {
        match &mut self.items {
            Items::Labels(labels) => {
                (tagged.labels.iter()).try_for_each(|label| labels.push(label))
            }
            Items::Spans(spans) => spans.push(text, tagged),
            Items::Jsonl { writer, .. } => writer.write(tagged).map_err(exception),
        }
    }

    /// Ends the row, which is null if it is not valid.
    ///
    /// # Errors
    ///
    /// `ValueError` if the column becomes too large.
    pub fn end_row(&mut self, is_valid: bool) -> PyResult<()> {
        let end = match &mut self.items {
            Items::Labels(labels) => labels.builder.len(),
            Items::Spans(spans) => spans.starts.len(),
            Items::Jsonl { lines, writer } => return lines.take_lines(writer.get_mut(), is_valid),
        };
        self.valid.append(is_valid);
        self.ends.push(small(end)?);
        Ok(())
    }

    /// Returns the column.
    ///
    /// # Errors
    ///
    /// None of rows that all ended.
    pub fn finish(mut self) -> PyResult<ArrayRef> {
        let nulls = self.valid.finish();
        let items: ArrayRef = match self.items {
            Items::Labels(labels) => labels.finish(),
            Items::Spans(spans) => spans.finish().map_err(arrow_exception)?,
            Items::Jsonl { lines, .. } => return Ok(lines.finish()),
        };
        let field = Arc::new(Field::new("item", items.data_type().clone(), false));
        let ends = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        let list = ListArray::try_new(field, ends, items, nulls);
        Ok(Arc::new(list.map_err(arrow_exception)?))
    }
}

/// Spans of texts: characters; or of tokens.
struct Spans {
    starts: Vec<i32>,
    ends: Vec<i32>,
    kinds: Strings,
    texts: Option<Strings>,
}

impl Spans {
    fn push(&mut self, text: Option<&str>, tagged: &Tagged<'_>) -> PyResult<()> {
        let sentence = tagged.sentence;
        let line = sentence.layout.source_start.unwrap_or_default();
        for span in tagged.labeling.spans(&tagged.labels) {
            let (start, end) = match (text, &mut self.texts) {
                (Some(text), Some(texts)) => {
                    let tokens = &sentence.offsets[span.start..span.end];
                    let place = Offsets::of_tokens(tokens).map(|offsets| offsets.after(line));
                    let Some(Offsets { bytes, chars, .. }) = place else {
                        continue; // no span is empty
                    };
                    texts.push(&text[bytes])?;
                    (chars.start, chars.end)
                }
                _ => (span.start, span.end),
            };
            self.starts.push(small(start)?);
            self.ends.push(small(end)?);
            self.kinds.push(span.kind)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<ArrayRef, ArrowError> {
        let (start, end) = match &self.texts {
            Some(_) => ("start", "end"),
            None => ("token_start", "token_end"),
        };
        let mut fields = vec![
            Field::new(start, DataType::Int32, false),
            Field::new(end, DataType::Int32, false),
            Field::new("type", DataType::Utf8, false),
        ];
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from(self.starts)),
            Arc::new(Int32Array::from(self.ends)),
            self.kinds.finish(),
        ];
        if let Some(texts) = self.texts {
            fields.push(Field::new("text", DataType::Utf8, false));
            columns.push(texts.finish());
        }
        let structs = StructArray::try_new(Fields::from(fields), columns, None)?;
        Ok(Arc::new(structs))
    }
}

/// Strings of at most 2 GiB in all.
#[derive(Default)]
struct Strings {
    builder: StringBuilder,
}

impl Strings {
    fn push(&mut self, text: &str) -> PyResult<()> {
        small(self.builder.values_slice().len() + text.len())?;
        self.builder.append_value(text);
        Ok(())
    }

    /// Adds lines without the last line feed, or null, and empties them.
    fn take_lines(&mut self, lines: &mut Vec<u8>, is_valid: bool) -> PyResult<()> {
        if is_valid {
            let text = std::str::from_utf8(lines).unwrap_or_default(); // JSON always is
            self.push(text.strip_suffix('\n').unwrap_or(text))?;
        } else {
            self.builder.append_null();
        }
        lines.clear();
        Ok(())
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

/// Converts an offset.
fn small(offset: usize) -> PyResult<i32> {
    i32::try_from(offset).map_err(|_| {
        PyValueError::new_err("the output has more than 2 GiB; expected a batch of fewer rows")
    })
}

fn arrow_exception(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
