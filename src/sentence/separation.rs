//! What stands between a sentence and the one before it in the input.

use serde::{Deserialize, Serialize};

/// What stands between a sentence and the one before it in the input: where a document may begin.
///
/// Readers record it ([`Layout::separation`](super::Layout::separation)); which of it separates
/// documents is up to a [`DocumentRule`](super::DocumentRule).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Separation(u8);

impl Separation {
    /// The beginning of an input.
    pub const INPUT: Self = Self(1);
    /// A mark of a document: `-DOCSTART-`, `# newdoc`, another value of the key `doc`.
    pub const MARK: Self = Self(2);
    /// More blank lines than the format needs between sentences.
    pub const BLANK_LINE: Self = Self(4);
    /// A form feed, in raw text.
    pub const FORM_FEED: Self = Self(8);
    /// The end of a line, in raw text, or of an object, in JSON lines.
    pub const LINE: Self = Self(16);

    /// A border between folds of cross-validation, which every rule respects.
    pub const FOLD: Self = Self(32);

    /// Returns whether all of `other` is part of it.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether any of `other` is part of it.
    pub(super) const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Adds `other`.
    pub fn add(&mut self, other: Self) {
        *self = self.and(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let mut separation = Separation::default();
        separation.add(Separation::MARK);
        assert!(separation.contains(Separation::MARK));
        assert!(!separation.contains(Separation::INPUT));
        let both = separation.and(Separation::LINE);
        assert!(both.contains(Separation::MARK) && both.contains(Separation::LINE));
        assert!(!separation.contains(both) && both.intersects(separation));
    }
}
