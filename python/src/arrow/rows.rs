//! Tagging row by row.

use arrow_array::ArrayRef;
use dropchain::Tagger;
use dropchain::tag::{NamedTagging, TagDocuments, TagOptions, Workspace};
use pyo3::prelude::*;

use super::input::Input;
use super::output::{Output, OutputColumn};
use crate::error::exception;

/// Tags the rows of a column. The sentences of a text are one document, unless what the model
/// takes for a document is less; a sentence of tokens is alone.
pub struct RowTagger<'a> {
    tagger: &'a Tagger,
    input: &'a Input<'a>,
    column: OutputColumn,
    workspace: Workspace,
}

impl<'a> RowTagger<'a> {
    /// Starts a column.
    ///
    /// # Errors
    ///
    /// None of the outputs there are.
    pub fn new(tagger: &'a Tagger, input: &'a Input<'a>, output: Output) -> PyResult<Self> {
        let header = tagger.model().header();
        Ok(Self {
            tagger,
            input,
            column: OutputColumn::new(output, header, input.has_texts())?,
            workspace: Workspace::default(),
        })
    }

    /// Tags a token, so that columns that the template needs are missed before any row is tagged.
    ///
    /// # Errors
    ///
    /// `ValueError` for a column that is missing.
    pub fn check_columns(&mut self) -> PyResult<()> {
        let probe = self.input.probe()?;
        let probed = (self.tagger).tag_with(&probe, TagOptions::default(), &mut self.workspace);
        probed.map(drop).map_err(exception)
    }

    /// Tags the next row, `i`.
    ///
    /// # Errors
    ///
    /// `ValueError` if a token is null, tagging fails or the column becomes too large.
    pub fn row(&mut self, i: usize) -> PyResult<()> {
        let Some(sentences) = self.input.sentences(i)? else {
            return self.column.end_row(false);
        };
        let labeling = &self.tagger.model().header().corpus_labeling;
        let documents = TagDocuments::new(self.tagger, &sentences);
        for (number, sentence) in sentences.iter().enumerate() {
            let input = documents.input(number);
            let options = TagOptions::default();
            let tagging = self.tagger.tag_with(input, options, &mut self.workspace);
            let tagging = NamedTagging::new(self.tagger, tagging.map_err(exception)?, labeling);
            let text = self.input.text(i);
            self.column.push(text, &tagging.tagged(sentence))?;
        }
        self.column.end_row(true)
    }

    /// Returns the column.
    ///
    /// # Errors
    ///
    /// `ValueError` if it is too large.
    pub fn finish(self) -> PyResult<ArrayRef> {
        self.column.finish()
    }
}
