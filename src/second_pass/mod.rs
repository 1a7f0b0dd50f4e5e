//! What a second pass over a document knows from the first: the predictions for the same words.
//!
//! A name that is ambiguous at one place is often clear at another, and one sense per document is
//! the rule. So a first model tags the document, and its predictions become columns that the
//! template of a second model reads (Krishnan & Manning, ACL 2006: token, entity and superentity
//! majority; Ratinov & Roth, CoNLL 2009: prediction history):
//!
//! | column | cell |
//! |---|---|
//! | `predicted` | the predicted label |
//! | `predicted_word` | the type that the same word has elsewhere, and how sure: `PER:9` |
//! | `predicted_phrase` | `B-PER` or `I-PER` in a phrase that is predicted as a span elsewhere |
//! | `predicted_part` | of which longer spans elsewhere the word is the beginning, inside or end |
//!
//! *Elsewhere* is at most a window of tokens away, in the same document. Empty cells mean that
//! there is no such place. All votes are sums of integers, so that a document may be read in parts.

mod prediction;
mod predictions;
#[cfg(test)]
mod tests;

pub use prediction::{LabelTypes, Prediction};
pub use predictions::PredictedDocument;
