//! What a model records of its origin. It has no effect on predictions or the fingerprint.

use serde::{Deserialize, Serialize};

#[cfg(feature = "train")]
use crate::error::{Error, Result};
#[cfg(feature = "train")]
use crate::sentence::{Checksum, SourceFile};

/// The variable whose seconds since 1970 are the date of all that is made, by the convention of
/// reproducible builds.
#[cfg(feature = "train")]
const DATE: &str = "SOURCE_DATE_EPOCH";

/// The name of sentences without a file.
#[cfg(feature = "train")]
const IN_MEMORY: &str = "in memory";

/// How a model was trained.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of dropchain that trained the model.
    pub version: String,
    /// When it was trained, in seconds since 1970, as the variable `SOURCE_DATE_EPOCH` of the
    /// environment says; `None` without it, so that the same data yield the same bytes.
    pub date: Option<u64>,
    /// What it was trained on.
    pub files: Vec<FileRecord>,
    /// Number of training sentences.
    pub sentences: u64,
    /// Number of training tokens.
    pub tokens: u64,
    /// All training options, as JSON, and how training ended ([`Provenance::training`]).
    pub options: String,
}

/// What a file is to training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileRole {
    /// Labeled sentences.
    Train,
    /// Development data.
    Dev,
    /// Sentences without labels.
    Unlabeled,
    /// The template.
    Template,
    /// A file that the template looks words up in: a gazetteer, clusters or the text that they
    /// were learned from, vectors.
    Resource,
    /// The model whose weights training started at.
    Init,
    /// The model that the penalty pulled towards.
    Towards,
}

crate::named!(FileRole, "role": Train = "train", Dev = "dev", Unlabeled = "unlabeled",
    Template = "template", Resource = "resource", Init = "init", Towards = "towards");

/// What a model records of a file that it was trained on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// What the file was to training.
    pub role: FileRole,
    /// Its name as given by the user, `-` for standard input; `in memory` of sentences without one.
    pub name: String,
    /// Size of the file in bytes, as read; `None` of sentences in memory, and of models.
    pub bytes: Option<u64>,
    /// Number of its sentences in this role; `None` of other files.
    pub sentences: Option<u64>,
    /// XXH3 of 64 bits of the file, or of the contents of sentences in memory, in hexadecimal; of
    /// a model its fingerprint ([`Model::fingerprint`](super::Model::fingerprint)).
    pub xxh3: String,
}

#[cfg(feature = "train")]
impl FileRecord {
    /// Records a file. `content` returns a hash of sentences that were not read from a file.
    pub(crate) fn new(role: FileRole, file: &SourceFile, content: impl FnOnce() -> u64) -> Self {
        let read = file.checksum();
        // Sentences in memory have the name of standard input, or one that no file has.
        let is_unnamed = read.is_none() && (**file == *"-" || file.contains('\0'));
        let checksum = read.unwrap_or_else(|| Checksum { bytes: 0, xxh3: content() });
        Self {
            role,
            name: if is_unnamed { IN_MEMORY.to_owned() } else { file.to_string() },
            bytes: read.map(|read| read.bytes),
            sentences: None,
            xxh3: checksum.to_string(),
        }
    }
}

/// Returns the date that the environment sets for what is made, in seconds since 1970.
///
/// # Errors
///
/// [`Error::Parameter`] if it is no number of seconds.
#[cfg(feature = "train")]
pub(crate) fn source_date() -> Result<Option<u64>> {
    let Some(value) = std::env::var_os(DATE) else { return Ok(None) };
    let seconds = value.to_str().and_then(|text| text.trim().parse().ok());
    let fault = || format!("{DATE} is {value:?}; expected seconds since 1970, or no such variable");
    seconds.map(Some).ok_or_else(|| Error::parameter(fault()))
}
