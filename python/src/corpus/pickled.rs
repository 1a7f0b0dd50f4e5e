//! Sentences as bytes, for pickle.

use std::collections::HashMap;
use std::sync::Arc;

use dropchain::Sentence;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// Sentences, and the texts that several of them share.
#[derive(Serialize, Deserialize)]
struct Pickled {
    texts: Vec<Arc<str>>,
    sentences: Vec<PickledSentence>,
}

/// A sentence without its texts, which have these indices.
#[derive(Serialize, Deserialize)]
struct PickledSentence {
    sentence: Sentence,
    source: Option<usize>,
    record: Option<usize>,
}

/// Returns the bytes of sentences.
///
/// # Errors
///
/// None of sentences.
pub fn dump(sentences: &[Arc<Sentence>]) -> PyResult<Vec<u8>> {
    let mut texts = Vec::new();
    let mut known = HashMap::new();
    let mut index = |text: Option<Arc<str>>| {
        text.map(|text| {
            *known.entry(Arc::as_ptr(&text)).or_insert_with(|| {
                texts.push(text);
                texts.len() - 1
            })
        })
    };
    let pickled = sentences.iter().map(|sentence| {
        let mut sentence = (**sentence).clone();
        PickledSentence {
            source: index(sentence.layout.source.take()),
            record: index(sentence.layout.record.take()),
            sentence,
        }
    });
    let sentences = pickled.collect();
    serde_json::to_vec(&Pickled { texts, sentences }).map_err(fault)
}

/// Returns the sentences of bytes.
///
/// # Errors
///
/// `ValueError` if [`dump`] did not write them.
pub fn load(bytes: &[u8]) -> PyResult<Vec<Arc<Sentence>>> {
    let Pickled { texts, sentences } = serde_json::from_slice(bytes).map_err(fault)?;
    let mut read: Vec<Arc<Sentence>> = Vec::with_capacity(sentences.len());
    for pickled in sentences {
        let text = |index: Option<usize>| index.and_then(|i| texts.get(i).cloned());
        let mut sentence = pickled.sentence;
        sentence.layout.source = text(pickled.source);
        sentence.layout.record = text(pickled.record);
        if let Some(before) = read.last() {
            sentence.share_with(before);
        }
        read.push(Arc::new(sentence));
    }
    Ok(read)
}

fn fault(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(format!("a pickled corpus: {error}"))
}
