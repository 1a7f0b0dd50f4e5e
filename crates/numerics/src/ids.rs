//! Integer ids, as newtypes so that labels and attributes cannot be confused.

use serde::{Deserialize, Serialize};

/// A label, numbered in order of first appearance in the training data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LabelId(pub u16);

impl LabelId {
    /// Maximum number of labels that ids can distinguish.
    ///
    /// This is the range of the type; training has a lower limit of its own.
    pub const LIMIT: usize = u16::MAX as usize;

    /// Returns the label as an index into arrays of shape `[K]`.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An attribute (an observation such as `word[0]=London`), numbered in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AttributeId(pub u32);

impl AttributeId {
    /// Returns the attribute as an index into arrays of shape `[A]`.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
