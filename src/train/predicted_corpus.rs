//! The documents of a corpus, and what a model predicts for them.

use rayon::prelude::*;

use super::corpora::is_content;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::second_pass::{LabelTypes, PredictedDocument, Prediction};
use crate::sentence::{Document, DocumentOptions, Sentence, Separation};
use crate::tag::Tagger;

/// The documents of a corpus, each with its sentences that have tokens.
pub(super) type Documents<'a> = Vec<Vec<&'a Sentence>>;

/// Returns the documents of a corpus.
pub(super) fn content(options: DocumentOptions, corpus: &Corpus) -> Documents<'_> {
    let mut documents = options.rule.documents(corpus);
    for document in &mut documents {
        document.retain(|sentence| is_content(sentence));
    }
    documents.retain(|document| !document.is_empty());
    documents
}

/// Adds the sentences of a document to a corpus, by whatever rule it is divided.
pub(super) fn push_document(corpus: &mut Corpus, sentences: impl Iterator<Item = Sentence>) {
    for (i, mut sentence) in sentences.enumerate() {
        if i == 0 {
            sentence.layout.separation.add(Separation::FOLD);
        }
        corpus.push(sentence);
    }
}

/// Predicts the chosen sentences of documents, in order.
pub(super) fn predict(
    tagger: &Tagger,
    types: &LabelTypes,
    documents: &[Vec<&Sentence>],
    is_chosen: impl Fn(usize) -> bool + Sync,
) -> Result<Vec<Prediction>> {
    let mut first = 0;
    let numbered: Vec<(usize, &Vec<&Sentence>)> = documents
        .iter()
        .map(|document| {
            first += document.len();
            (first - document.len(), document)
        })
        .collect();
    let predicted = numbered.into_par_iter().map(|(first, document)| {
        let chosen = (0..document.len()).filter(|i| is_chosen(first + i));
        let document = Document::new(document.iter().copied());
        let predictions = chosen.map(|i| tagger.predict(&document, i, types));
        predictions.collect::<Result<Vec<_>>>()
    });
    Ok(predicted.collect::<Result<Vec<_>>>()?.concat())
}

/// Returns the documents with columns of predictions.
pub(super) fn extend(
    documents: &[Vec<&Sentence>],
    predictions: &[&Prediction],
    types: &LabelTypes,
    options: DocumentOptions,
) -> Result<Corpus> {
    let mut corpus = Corpus::new();
    let mut predictions = predictions.iter().copied();
    for document in documents {
        let predicted = document.iter().copied().zip(predictions.by_ref());
        let document = PredictedDocument::new(predicted, types, options.window as usize);
        push_document(&mut corpus, document.extended()?.into_iter());
    }
    Ok(corpus)
}
