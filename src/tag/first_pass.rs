//! The first of two passes over a document.

use std::sync::Arc;

use super::attribute_filter::AttributeFilter;
use super::tagger::Tagger;
use crate::error::Result;
use crate::model::Model;
use crate::second_pass::{LabelTypes, PredictedDocument};
use crate::sentence::{Document, DocumentOptions, Sentence};
use crate::template::Template;

/// The first of two passes: its predictions are columns that the second reads.
#[derive(Debug)]
pub(super) struct FirstPass {
    tagger: Box<Tagger>,
    types: LabelTypes,
    /// Maximum distance in tokens of the predictions that the second pass reads.
    window: u32,
}

impl FirstPass {
    /// Returns the first pass of a model, if it has one.
    pub fn of(model: &Model) -> Option<Self> {
        let template = model.header().template.as_ref();
        let options = template.and_then(Template::documents).unwrap_or_default();
        let first = Arc::clone(model.first_pass()?);
        let header = first.header();
        Some(Self {
            types: LabelTypes::new(&header.labels, &header.labeling),
            tagger: Box::new(Tagger::new(first)),
            window: options.window,
        })
    }

    /// Sets which attributes it sees.
    pub fn with_filter(self, filter: Arc<dyn AttributeFilter>) -> Self {
        Self { tagger: Box::new(self.tagger.with_attribute_filter(filter)), ..self }
    }

    /// Sets what a document is.
    pub fn with_documents(self, options: DocumentOptions) -> Result<Self> {
        let tagger = Box::new(self.tagger.with_documents(options)?);
        Ok(Self { tagger, window: options.window, ..self })
    }

    /// Returns what has to be known around a sentence ([`Tagger::context`]).
    pub fn context(&self) -> Option<DocumentOptions> {
        self.tagger.context()
    }

    /// Returns the sentences of a document with columns of predictions.
    pub fn extend(&self, document: &Document<'_>) -> Result<Vec<Sentence>> {
        let predictions = (0..document.len())
            .map(|i| self.tagger.predict(document, i, &self.types))
            .collect::<Result<Vec<_>>>()?;
        let sentences = document.sentences().zip(&predictions);
        PredictedDocument::new(sentences, &self.types, self.window as usize).extended()
    }
}
