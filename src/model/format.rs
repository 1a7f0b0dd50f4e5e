//! Types and constants of the file format, shared by reader and writer.

use serde::{Deserialize, Serialize};

/// The first bytes of a model file.
pub(super) const MAGIC: &[u8; 8] = b"DROPCHN\n";

/// Number of sections: header, checksums, and four for each of the two tables.
pub(super) const SECTIONS: usize = 10;

/// Offset of the format version.
pub(super) const VERSION_AT: usize = 8;

/// Offset of the file length.
pub(super) const LENGTH_AT: usize = 16;

/// Offset of the section list: 16 bytes per section, its offset and its length.
pub(super) const SECTIONS_AT: usize = 24;

/// Offset of the checksum over preamble, header and block checksums.
pub(super) const SUM_AT: usize = SECTIONS_AT + 16 * SECTIONS;

/// Length of the preamble in bytes.
pub(super) const PREAMBLE: usize = SUM_AT + 8;

/// Length in bytes of a block, the unit of checksums.
pub(super) const BLOCK: usize = 16 << 10;

/// Largest number of labels K that a model can have.
///
/// Training needs dozens of arrays of K² numbers, so a column of words mistaken for the labels
/// would exhaust memory. Label ids have a higher limit
/// ([`LabelId::LIMIT`](crate::ids::LabelId::LIMIT)).
pub(crate) const MAX_LABELS: usize = 4096;

/// Versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Keys are XXH3-64 hashes of attribute names.
    One,
    /// Keys are fingerprints of attribute names; slots have 8 bytes.
    Two,
    /// Like version 2, with the columns that labels join after the header.
    Four,
}

impl Version {
    /// The version that new tables are written in.
    pub const CURRENT: Self = Self::Two;

    /// The highest number of a version.
    pub const LAST: u64 = 4;

    /// The number of the version of files that hold several models, each in a version above.
    pub const PARTS: u64 = 3;

    /// Returns the version with this number.
    pub fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            _ => None,
        }
    }

    pub fn number(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// Returns the version of a file whose labels join columns or do not.
    pub fn of_labels(are_joined: bool) -> Self {
        match are_joined {
            true => Self::Four,
            false => Self::CURRENT,
        }
    }

    /// Returns the version whose tables a file of this version has.
    pub fn of_tables(self) -> Self {
        match self {
            Self::One => Self::One,
            Self::Two | Self::Four => Self::Two,
        }
    }
}

/// How weights are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 4 bytes each.
    #[default]
    F32,
    /// 8 bytes each: exactly as trained.
    F64,
}

/// The kinds of attributes. A model has one table for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// Attributes of tokens, with a weight for each label.
    Node,
    /// Attributes of pairs of adjacent tokens, with a weight for each pair of labels.
    Edge,
}

/// The shape of a table, as stored in the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableInfo {
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

impl TableInfo {
    /// Returns the exclusive upper bound of weight locations: the number of rows of a dense table,
    /// of entries of a sparse one.
    pub fn locations(&self) -> u64 {
        if self.dense {
            self.attributes
        } else {
            self.weights
        }
    }
}
