//! The model: what tagging needs, in one file.
//!
//! # File format, version 1
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
//! Tagging builds the name of an attribute in a reusable buffer, hashes it (XXH3-64, stable for
//! ever) and probes the open-addressing table of *slots* in the mapped file. A slot is 16 bytes:
//! hash, index of the first weight (4), number of weights (4; 0: empty). The search for a hash h
//! begins at slot ⌊h·slots / 2⁶⁴⌋ and goes on to the next until an empty one.
//!
//! *Weights* are stored for all scores of an attribute (dense: K for a node, K² for an edge), or as
//! pairs of place and weight where that is smaller (sparse; place: the label, 2 bytes, or a·K + b,
//! 4 bytes). Attributes whose weights are all zero are left out.
//!
//! *Names* stand end to end, in the order of training, and *ends* says where each ends (8 bytes).
//! They are for people (`inspect`); tagging does not touch them. When a table is made, a seed is
//! chosen for which all names have different hashes, so a known attribute is never mistaken for
//! another; an unknown one is taken for one of A known ones with probability A·2⁻⁶⁴.

mod bytes;
mod file;
mod header;
mod table;
#[cfg(test)]
pub(crate) mod tests;

pub use file::{Kind, Model};
pub use header::{Header, Precision, Provenance};
pub(crate) use table::TableBuilder;
