//! What a file is for, and the sentences of files by that.

use std::collections::BTreeMap;
use std::fmt;

use dropchain::sentence::Sentence;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Training.
    Train,
    /// Model selection.
    Dev,
    /// The final score.
    Test,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Train, Self::Dev, Self::Test];

    /// The name: `train`, `dev` or `test`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The sentences of each role.
pub(super) type Sentences = BTreeMap<Role, Vec<Sentence>>;

/// Returns the sentences that are not document boundaries.
pub(super) fn content(sentences: &[Sentence]) -> impl Iterator<Item = &Sentence> {
    let is_content = |s: &&Sentence| !s.is_empty() && !s.layout.document_start;
    sentences.iter().filter(is_content)
}
