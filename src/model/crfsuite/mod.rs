//! Reading the model files that CRFsuite writes.
//!
//! Such a file becomes a model of the current version of dropchain's format in memory, with the
//! same weights: in double precision, without template and boundary weights, and with the raw
//! scheme, since CRFsuite decodes without constraints. So everything that reads a model reads these
//! files, too.
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
mod features;
mod file;
mod names;
mod numbers;
#[cfg(test)]
mod tests;

pub(super) use file::{CrfsuiteFile, MAGIC, declared_length};
