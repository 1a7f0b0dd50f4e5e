//! The model: what tagging needs, in one file.
//!
//! # File format, version 2
//!
//! All integers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0–7 | magic `DROPCHN\n` |
//! | 8–11 | format version |
//! | 12–15 | zero |
//! | 16–23 | length of the file |
//! | 24–183 | ten sections: offset and length, 8 bytes each |
//! | 184–191 | XXH3-64 of bytes 0–183 and the sections *header* and *sums* |
//! | 192– | the sections |
//!
//! | section | what |
//! |---|---|
//! | header | [`Header`], bincode |
//! | sums | XXH3-64 of each 16 KiB block of all that follows |
//! | slots, weights, ends, names | the table of node attributes |
//! | slots, weights, ends, names | the table of edge attributes |
//!
//! The file is mapped into memory. Opening it reads and checks the first 192 bytes, the header
//! and the sums; a block of the tables is checked when it is first touched. So opening does not
//! take longer for a larger model, and damage is found wherever it can matter. A file is written
//! under another name, synced and renamed: after a crash there is the old model or the new one.
//!
//! # Tables
//!
//! The key of an attribute is the fingerprint (`src/fingerprint.rs`) of its name at a base that a seed
//! chooses, spread over 64 bits. Fingerprints can be put together of those of the parts of a name, so
//! tagging never writes names. The key is looked for in an open-addressing table of *slots* in the
//! mapped file. A slot is 8 bytes, a number: the lowest b bits are 1 + the location of the weights,
//! above them stand the lowest 64 − b bits of the key; 0 is an empty slot. b is the least number of
//! bits that hold the number of locations. The search for a key h begins at slot ⌊h·slots / 2⁶⁴⌋ and goes
//! on to the next until an empty one.
//!
//! *Weights* are stored for all scores of an attribute (dense: K for a node, K² for an edge; a location
//! is the number of the attribute), or as pairs of place and weight where that is smaller (sparse; a
//! location is the number of the first pair; place: the label, 2 bytes, or a·K + b, 4 bytes, whose highest
//! bit marks the last pair of an attribute). Attributes whose weights are all zero are left out.
//!
//! *Names* stand end to end, in the order of training, and *ends* says where each ends (4 bytes, or 8
//! where the names have 4 GiB or more). They are for people (`inspect`); tagging does not touch them.
//! When tables are made, a seed is chosen, one for both, for which no attribute is found in the place
//! of another, so a known attribute is never mistaken. An unknown one is taken for a known one where
//! it meets a slot with 64 − b equal bits: with a million attributes, once in some 10¹³ look-ups.
//!
//! Transitions that are all 0, as at order 0, are not in the header.
//!
//! # Version 1
//!
//! It is read and no longer written. Its keys are XXH3-64 of the whole name with the seed of the table.
//! A slot is 16 bytes: key, index of the first weight (4), number of weights (4; 0: empty). Sparse places
//! mark no last pair, ends have 8 bytes, and transitions are always there.

mod bytes;
mod file;
mod header;
mod table;
#[cfg(test)]
pub(crate) mod tests;

pub use file::{AttributeKind, Model};
pub use header::{Header, Precision, Provenance};
pub(crate) use header::{MAX_LABELS, decoding_constraint};
pub(crate) use table::{TableBuilder, WeightLocation, WeightRows};
