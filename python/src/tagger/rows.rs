//! Rows of a column as JSON lines: texts, or sentences that are alone.

use std::slice;
use std::sync::Arc;

use dropchain::corpus::{OutputFormat, TextSplitter, WriteOptions, Writer};
use dropchain::tag::TagDocuments;
use dropchain::{Result, Sentence};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::model::PyTagger;
use super::request::Request;
use crate::inputs::SentenceReader;

/// The name of the rows in messages.
pub const ROWS: &str = "rows";

/// Bytes of text that count as a token.
pub const TOKEN: usize = 5;

/// A row that is ready to be tagged.
pub enum Row {
    Null,
    Text(String),
    Sentence(Arc<Sentence>),
}

impl PyTagger {
    /// Reads row `i`, and returns it with its size in tokens.
    ///
    /// # Errors
    ///
    /// `ValueError` if it is neither text nor a sentence of words; the message names the token.
    pub fn read_row(
        &self,
        reader: &mut SentenceReader,
        row: &Bound<'_, PyAny>,
        i: usize,
    ) -> PyResult<(Row, usize)> {
        if row.is_none() {
            return Ok((Row::Null, 1));
        }
        if let Ok(text) = row.cast::<PyString>() {
            let text = text.to_cow()?.into_owned();
            let size = 1 + text.len() / TOKEN;
            return Ok((Row::Text(text), size));
        }
        let read = self.read(reader, row, i as u64 + 1, &|| format!("{ROWS}[{i}]"))?;
        let size = 1 + read.len();
        Ok((Row::Sentence(read), size))
    }
}

impl Row {
    /// Tags the row, and returns a JSON object for each of its sentences. Those of a text are one
    /// document, unless what the model takes for a document is less.
    ///
    /// # Errors
    ///
    /// Errors of tagging, such as a column that is missing.
    pub fn lines(&self, own: &PyTagger, request: &Request) -> Result<Option<String>> {
        let tagger = &*own.inner;
        let texts;
        let sentences = match self {
            Self::Null => return Ok(None),
            Self::Text(text) => {
                texts = TextSplitter::default().sentences(text)?;
                &texts[..]
            }
            Self::Sentence(sentence) => slice::from_ref(&**sentence),
        };
        let header = tagger.model().header();
        let options = WriteOptions {
            spans: header.encodes_spans(),
            joined: header.columns.joined_names().to_vec(),
            ..WriteOptions::new(OutputFormat::Jsonl)
        };
        let mut writer = Writer::new(Vec::new(), ROWS, &options)?;
        let documents = TagDocuments::new(tagger, sentences);
        for (number, sentence) in sentences.iter().enumerate() {
            let tagging = own.tagging_of(documents.input(number), request)?;
            writer.write(&tagger.tagged(sentence, &tagging, &header.corpus_labeling))?;
        }
        let lines = String::from_utf8_lossy(&writer.into_inner()).into_owned();
        Ok(Some(lines.trim_end_matches('\n').to_owned()))
    }
}
