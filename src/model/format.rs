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
pub const MAX_LABELS: usize = 4096;

/// Versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Keys are XXH3-64 hashes of attribute names.
    One,
    /// Keys are fingerprints of attribute names; slots have 8 bytes.
    Two,
    /// Like version 2, with the columns that labels join after the header.
    Four,
    /// Like version 4, with compressed names, shorter positions and more precisions.
    Five,
}

impl Version {
    /// The version that new models are written in.
    pub const CURRENT: Self = Self::Five;

    /// The highest number of a version.
    pub const LAST: u64 = 5;

    /// The number of the version of files that hold several models, each in a version above.
    pub const PARTS: u64 = 3;

    /// Returns the version with this number.
    pub fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            5 => Some(Self::Five),
            _ => None,
        }
    }

    pub fn number(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Five => 5,
        }
    }

    /// Returns whether keys are fingerprints, the same for both tables.
    pub fn has_fingerprints(self) -> bool {
        self != Self::One
    }

    /// Returns whether the columns that labels join, which may be none, follow the header.
    pub fn has_joined_columns(self) -> bool {
        matches!(self, Self::Four | Self::Five)
    }

    /// Returns whether models of this version have weights in this precision.
    pub fn has_precision(self, precision: Precision) -> bool {
        match precision {
            Precision::F32 | Precision::F64 => true,
            Precision::F16 | Precision::I8 => self == Self::Five,
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
    /// 2 bytes each: rounded to 11 bits.
    F16,
    /// 1 byte each, and for every attribute a scale in 2 bytes: rounded to 127 steps up to the
    /// largest weight of the attribute.
    I8,
}

crate::named!(Precision, "precision": F32 = "f32", F64 = "f64", F16 = "f16", I8 = "i8");

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
