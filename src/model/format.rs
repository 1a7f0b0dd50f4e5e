//! Types and constants of the file format, shared by reader and writer.

use serde::{Deserialize, Serialize};

/// The first bytes of a kind of model files: `DROP`, three letters, and a line feed.
pub type Magic = [u8; 8];

/// The first bytes of the model file of a tagger.
pub const MAGIC: &Magic = b"DROPCRF\n";

/// Version of the file format.
pub const FORMAT_VERSION: u64 = 1;

/// Number of sections: header, checksums, four for each of the two tables, and the first pass.
pub(super) const SECTIONS: usize = 11;

/// The section of the model of the first pass.
pub(super) const FIRST_PASS: usize = SECTIONS - 1;

/// Offset of the format version.
pub(super) const VERSION_AT: usize = 8;

/// Offset of the lengths of the sections, 8 bytes each.
pub(super) const LENGTHS_AT: usize = 16;

/// Offset of the checksum over preamble, header and block checksums.
pub(super) const SUM_AT: usize = LENGTHS_AT + 8 * SECTIONS;

/// Length of the preamble in bytes.
pub(super) const PREAMBLE: usize = SUM_AT + 8;

/// Length in bytes of a block, the unit of checksums.
pub(super) const BLOCK: usize = 16 << 10;

/// Largest number of labels K that a model can have.
///
/// Training needs dozens of arrays of K² numbers, so a column of words mistaken for the labels
/// would exhaust memory. Label ids have a higher limit
/// ([`LabelId::LIMIT`](crate::ids::LabelId::LIMIT)).
pub const MAX_LABELS: usize = 4096;

/// How weights are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 4 bytes each.
    #[default]
    F32,
    /// 8 bytes each: exactly as trained.
    F64,
    /// 2 bytes each: rounded to 11 bits.
    F16,
}

crate::named!(Precision, "precision": F32 = "f32", F64 = "f64", F16 = "f16");

/// The kinds of attributes. A model has one table for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// Attributes of tokens, with a weight for each label.
    Node,
    /// Attributes of pairs of adjacent tokens, with a weight for each pair of labels.
    Edge,
}

impl AttributeKind {
    /// Returns the number of weights that an attribute may have in a model of K labels: K or K².
    pub fn weights(self, labels: usize) -> usize {
        match self {
            Self::Node => labels,
            Self::Edge => labels * labels,
        }
    }
}

/// The shape of a table, as stored in the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableInfo {
    /// Number of attributes.
    pub attributes: u64,
    /// Seed of the keys.
    pub seed: u64,
    /// Number of slots.
    pub slots: u64,
    /// Number of stored weights.
    pub weights: u64,
    /// Whether every attribute stores a weight for every label (or label pair).
    pub dense: bool,
}
