//! Roles of files (training, development, test), and sentences by role.

use std::collections::BTreeMap;

use dropchain::sentence::Sentence;

/// Role of a file.
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

dropchain::named!(Role, "role": Train = "train", Dev = "dev", Test = "test");

/// The sentences of each role.
pub(super) type Sentences = BTreeMap<Role, Vec<Sentence>>;

/// Returns the sentences that are not document boundaries.
pub(super) fn content(sentences: &[Sentence]) -> impl Iterator<Item = &Sentence> {
    let is_content = |s: &&Sentence| !s.is_empty() && !s.layout.document_start;
    sentences.iter().filter(is_content)
}
