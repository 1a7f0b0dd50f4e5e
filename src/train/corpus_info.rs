//! Files and columns of a corpus.

use crate::sentence::{JoinedColumns, Sentence};

/// Files and columns of the training corpus, for the header of the model.
#[derive(Debug, Default)]
pub(super) struct CorpusInfo {
    pub files: Vec<String>,
    pub columns: Vec<String>,
    pub label_column: Option<u32>,
    pub joined: Option<JoinedColumns>,
}

impl CorpusInfo {
    pub fn new(sentences: &[Sentence]) -> Self {
        let schema = sentences.first().map(Sentence::schema);
        let joined = schema.and_then(|s| s.joined());
        let label = schema.and_then(|s| s.label()).filter(|_| joined.is_none());
        let mut info = Self {
            files: Vec::new(),
            columns: schema.map_or_else(Vec::new, |s| s.input_names().to_vec()),
            label_column: label.map(|c| c as u32),
            joined: joined.cloned(),
        };
        for file in sentences.iter().map(Sentence::file) {
            if info.files.last().is_none_or(|last| **last != **file) {
                info.files.push(file.to_string());
            }
        }
        info
    }
}
