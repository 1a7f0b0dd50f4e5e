//! Files and columns of a corpus.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ranks::Ranks;
use crate::sentence::{JoinedColumns, Schema, Sentence};

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
        for sentence in sentences {
            info.add_file(sentence);
        }
        info
    }

    /// Adds the file of the next sentence.
    pub fn add_file(&mut self, sentence: &Sentence) {
        let file = sentence.file();
        if self.files.last().is_none_or(|last| **last != **file) {
            self.files.push(file.to_string());
        }
    }
    /// Returns the files of all ranks, and the schema of the first that has sentences, which is
    /// that of all.
    ///
    /// # Errors
    ///
    /// No rank has sentences, or some have other columns; [`Error::Communication`].
    pub fn over(self, sentences: &[Sentence], ranks: &Ranks) -> Result<(Self, Schema)> {
        let own = InfoOfRank {
            columns: (!sentences.is_empty()).then(|| {
                let joined = self.joined.as_ref();
                let joined = joined.map_or_else(Vec::new, |joined| joined.positions().to_vec());
                (self.columns.clone(), self.label_column, joined)
            }),
            files: self.files,
        };
        let all = ranks.gather_values(&own)?;
        let Some(columns) = all.iter().find_map(|info| info.columns.as_ref()) else {
            return Err(Error::parameter("there are no sentences to train on"));
        };
        let (names, label, joined) = columns;
        let mut schema = Schema::new(names.clone(), label.map(|label| label as usize))?;
        if !joined.is_empty() {
            schema = schema.with_joined_label(joined.clone())?;
        }
        let other = own.columns.filter(|own| own != columns);
        ranks.agree(match (sentences.first(), other) {
            (Some(first), Some(_)) => Err(Error::input(
                first.place(0),
                format!(
                    "the columns are {}, but those of an earlier rank {}",
                    first.schema().list(),
                    schema.list()
                ),
            )),
            _ => Ok(()),
        })?;
        let mut files: Vec<String> = all.iter().flat_map(|info| info.files.clone()).collect();
        files.dedup();
        let info = Self {
            files,
            columns: names.clone(),
            label_column: *label,
            joined: schema.joined().cloned(),
        };
        Ok((info, schema))
    }
}

/// What a rank tells the others of its corpus.
#[derive(Serialize, Deserialize)]
struct InfoOfRank {
    files: Vec<String>,
    /// Names, label column, and the positions of the columns that labels join; none without
    /// sentences.
    columns: Option<(Vec<String>, Option<u32>, Vec<usize>)>,
}
