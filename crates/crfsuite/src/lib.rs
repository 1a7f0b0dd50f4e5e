//! Reading the model files that CRFsuite writes.
//!
//! Such a file becomes a model with the same weights: in double precision, without template and
//! boundary weights, and with the raw scheme, since CRFsuite decodes without constraints.
//! [`Model::as_bytes`] and [`Model::save`] then give a model file of dropchain's own format.
//!
//! # File format
//!
//! The first-order Markov CRF (`FOMC`) of CRFsuite 0.12 and later, as its `crf1d_model.c` and
//! `cqdb.c` write it. Integers have 4 bytes and are little-endian, offsets count from the beginning
//! of the file unless stated otherwise, and there are no checksums.
//!
//! ```text
//! ┌────────┬──────────┬────────┬────────────┬──────────────────┬──────────────────────┐
//! │ header │ features │ labels │ attributes │ label references │ attribute references │
//! └────────┴──────────┴────────┴────────────┴──────────────────┴──────────────────────┘
//! ```
//!
//! - Header: magic `lCRF`, length of the file, type `FOMC`, version 100, number of features (never
//!   set), number of labels K, number of attributes A, offsets of features, labels, attributes,
//!   label references and attribute references.
//! - Features: magic `FEAT`, length, number; for each feature: kind (0 state, 1 transition), source
//!   (attribute or label), label, weight (`f64`).
//! - Labels, attributes: a database of names, see below.
//! - References: magic `LFRF` or `AFRF`, length, number (K + 2 or A), for each label or attribute
//!   the offset of a list (0: none). A list: length, indexes of features.
//!
//! Features with the weight 0 are not written, nor are attributes without other features. The last
//! two lists of label references do not exist; before version 0.12 they were those of the beginning
//! and the end of a sequence.
//!
//! A database of names is a hash table from names to ids with an array for the inverse. Only the
//! latter is read here. Its offsets count from the beginning of the database:
//!
//! - 0–23: magic `CQDB`, length, flags, byte order 0x62445371, number of names, offset of the
//!   array;
//! - 24–2071: 256 hash tables: offset, size;
//! - from 2072 on the names: id, length with the final zero byte, bytes; then the hash tables; then
//!   the array of the offsets of names, by id.
//!
//! # Integrity
//!
//! Every offset and number is checked, and so is that every feature belongs to the one list that
//! refers to it. Damage that leaves all of this intact, as of a weight, goes unnoticed.

mod conversion;
mod file;
#[cfg(test)]
mod tests;

use std::path::Path;

use dropchain::kernel::input_file::InputFile;
use dropchain::kernel::model::MAX_LABELS;
use dropchain::{Error, MemoryLimit, Model, Result};
use file::CrfsuiteFile;
pub use file::MAGIC;

/// Memory that converting a model takes, as a multiple of its length (decision 42).
const CONVERSION_FACTOR: u64 = 6;

/// Memory in bytes that converting a model takes for each pair of labels.
const LABEL_PAIR: usize = 5 * size_of::<f64>();

/// Size in bytes up to which memory is allocated without looking at what is available.
const SMALL: u64 = 64 << 20;

/// Opens a model of CRFsuite or of dropchain.
///
/// # Errors
///
/// The errors of [`Model::open`]; [`Error::Model`] if the model of CRFsuite is damaged, was written
/// by a version before 0.12, or has labels that are not UTF-8.
pub fn open(path: impl AsRef<Path>) -> Result<Model> {
    let path = path.as_ref();
    let mut file = InputFile::open(path, "a dropchain model")?;
    let beginning = file.peek(file::HEADER)?;
    if !beginning.starts_with(MAGIC) {
        return Model::read(file);
    }
    let declared = file::declared_length(path, beginning)?;
    let mut bytes = Vec::new();
    file.read_up_to(declared + 1, &mut bytes)?;
    convert(path, &bytes)
}

/// Reads a model from the contents of a file of CRFsuite or of dropchain.
///
/// # Errors
///
/// Same as [`open`].
pub fn from_bytes(bytes: Vec<u8>) -> Result<Model> {
    match bytes.starts_with(MAGIC) {
        true => convert("model in memory".as_ref(), &bytes),
        false => Model::from_bytes(bytes),
    }
}

/// Converts a file of CRFsuite.
fn convert(path: &Path, bytes: &[u8]) -> Result<Model> {
    let file = CrfsuiteFile::read(path, bytes)?;
    let label_pairs = file.labels().min(MAX_LABELS).pow(2);
    let needed = CONVERSION_FACTOR * bytes.len() as u64 + (LABEL_PAIR * label_pairs) as u64;
    if needed > SMALL {
        let limit = MemoryLimit::default().check(needed, 0);
        let failed = |over| format!("converting the CRFsuite model: {over}");
        limit.map_err(|over| Error::model(path, failed(over)))?;
    }
    Ok(file.convert()?.with_path(path))
}

/// Returns the error for a damaged file.
fn damaged(path: &Path, what: &str) -> Error {
    Error::model(path, format!("the model is damaged: {what}; retrain it or restore a copy"))
}
