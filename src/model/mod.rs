//! Models: everything that tagging needs, in one file.
//!
//! A model file is written once and then only read. Opening copies it into memory, where nothing
//! that happens to the file has an effect (decision 29), and decodes the header. The rest is
//! verified block by block when it is first accessed.
//!
//! [`Model`] reads and writes files; [`Header`] is their content except for the weights of
//! attributes.
//!
//! # File format
//!
//! All integers are little-endian. Offsets and lengths are in bytes.
//!
//! ```text
//! ┌──────────┬────────┬──────┬─────────────────────────────┬─────────────────────────────┬───────┐
//! │ preamble │ header │ sums │         node table          │         edge table          │ first │
//! │          │        │      │slots│weights│lengths│ names │slots│weights│lengths│ names │ pass  │
//! └──────────┴────────┴──────┴─────────────────────────────┴─────────────────────────────┴───────┘
//! 0         112              └────────────── blocks of 16 KiB, the last one shorter ─────────────┘
//! ```
//!
//! ## Preamble
//!
//! | bytes | content |
//! |---|---|
//! | 0–7 | magic `DROPCRF\n` |
//! | 8–15 | format version, 1 |
//! | 16–103 | lengths of the eleven sections, 8 bytes each |
//! | 104–111 | XXH3-64 of bytes 0–103, the header and the sums, concatenated |
//!
//! The sections are in the order of the diagram, without gaps. Any but the header can be empty. The
//! last one is the file of a model itself, whose predictions the template of this one reads.
//!
//! ## Header
//!
//! The [`Header`] in bincode 2, standard configuration: fields in order, integers and lengths as
//! varints, enum variants by index, floats in 8 bytes. It has at most 256 MiB.
//!
//! | field | content |
//! |---|---|
//! | `labels` | names of the K labels; a label is its index in this list |
//! | `labeling`, `corpus_labeling` | the scheme and notation of the labels of the model, and those
//! of the training corpus |
//! | `columns` | of the training corpus: names, where the labels were, whether lines with `#` are
//! comments, and whether files begin with a header row |
//! | `template` | the template with its resources (lexica, clusters, …), if there is one |
//! | `order` | 0 or 1 |
//! | `label_weights` | transition weights `[K][K]` (none if all 0), start and end weights `[K]` |
//! | `precision` | how the weights in the tables are stored: `f32`, `f64` or `f16` |
//! | `provenance` | version, date, files, sizes; JSON: options, [`TrainingRecord`], config |
//! | `tables` | for each table: attributes A, seed, slots, stored weights, whether it is dense |
//!
//! Labels are in a column, join columns, or are the values of a key in the column `misc` of
//! CoNLL-U. Those that join columns consist of a value of each with `+` in between; a label is
//! split at the first ones.
//!
//! ## Sums
//!
//! XXH3-64 of each block. The blocks divide all that follows the sums, regardless of sections.
//!
//! ## Tables
//!
//! A table maps the name of an attribute to its weights. To look up a name:
//!
//! 1. Compute its *key*: the fingerprint of the name (`src/fingerprint.rs`) with the seed of
//!    the table, spread over 64 bits. A fingerprint can be computed from those of the parts of the
//!    name, so that tagging never builds names.
//! 2. Probe the *slots*, linearly, from slot ⌊key · slots / 2⁶⁴⌋ on, until one matches the key or
//!    is empty. A slot is a `u64` that packs 1 + the location of the weights in its low b bits and
//!    the low 64 − b bits of the key above them; 0 is an empty slot. b is the bit length of the
//!    largest possible 1 + location. The load factor is 3/5.
//! 3. Read the *weights* at that location, in one of two encodings:
//!
//!    | | location | weights of an attribute |
//!    |---|---|---|
//!    | dense | index of the attribute | all K (node) or K² (edge, row a, column b) weights |
//!    | sparse | bytes before the row | entries (position, weight) for nonzero weights only |
//!
//!    A weight has 4 (`f32`), 8 (`f64`) or 2 bytes (`f16`); see
//!    `src/model/table/encoding.rs`. The *position* is the label b in 2 bytes (node; in 1
//!    byte if there are at most 128 labels) or the label pair a·K + b in 4 bytes (edge). Its
//!    highest bit marks the last entry of an attribute. The builder picks the smaller encoding.
//!
//! Attributes whose weights are all 0 are not stored. A model has at most 4096 labels, and a table
//! fewer than 2³² weights.
//!
//! *Names* are concatenated in training order and compressed as a raw DEFLATE stream; their
//! *lengths* (4 bytes each), as another. Names that would be more than 64 times as long as their
//! stream are not compressed. `inspect` prints them; tagging does not access them.
//!
//! Both tables use the same seed, the first under which no attribute matches the slot of another,
//! so a known attribute is never mistaken for another. An unknown attribute is mistaken for a known
//! one if it probes a slot with 64 − b equal bits: with a million attributes, about once in 10¹³
//! look-ups.
//!
//! # Reproducibility
//!
//! Training is deterministic, but the file also records how the user called the inputs, and their
//! checksums: `train.conll`, `./train.conll`, `train.conll.gz` and standard input yield files that
//! differ in their provenance, and so do runs with different dates in `SOURCE_DATE_EPOCH`, without
//! which there is no date. [`Model::fingerprint`] covers everything else.
//!
//! # Integrity
//!
//! [`Model::save`] writes atomically: after a crash, there is the old file or the new one.
//! Checksums detect damage, and bounds checks detect files that are crafted to pass them: either
//! causes an [`Error::Model`](crate::Error::Model), never a panic or an allocation out of
//! proportion to the file. A file that another program writes to while it is opened is an error, or
//! becomes one when a block of the new contents is first accessed.

pub(crate) mod columns;
mod container;
mod file;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod provenance;
mod table;
#[cfg(test)]
pub mod tests;
mod weights;

pub use crate::chain::{LabelWeights, Order};
pub use columns::ColumnFit;
#[cfg(any(feature = "train", test))]
pub(crate) use columns::CorpusColumns;
pub use file::{Model, ModelSizes, TableSizes};
#[cfg(feature = "train")]
pub(crate) use format::MAX_LABELS;
pub use format::{AttributeKind, Precision};
pub use header::Header;
#[cfg(feature = "train")]
pub(crate) use header::add_recall_bias;
pub(crate) use header::decoding_constraint;
#[cfg(feature = "train")]
pub(crate) use provenance::{APPLIED_RECALL_BIAS, NoiseExposure, source_date};
pub use provenance::{FileRecord, FileRole, Provenance, TrainingRecord};
#[cfg(any(feature = "train", test))]
pub(crate) use table::TableBuilder;
pub(crate) use table::{AttributeTable, WeightRows};
pub use weights::{EdgeWeights, NodeWeights};
