//! Sentences: T tokens in C columns, with their position in the input.
//!
//! The readers of all input formats produce this representation. Library users can also build
//! sentences in memory: [`Sentence::from_words`], [`Sentence::from_columns`] and
//! [`Sentence::from_attributes`], each with [`Sentence::with_labels`], or with
//! [`Sentence::with_partial_labels`] if not all labels are known.

mod attributes;
mod document;
mod document_rule;
mod from_memory;
mod layout;
pub(crate) mod schema;
#[allow(clippy::module_inception)]
mod sentence;
mod storage;
mod token_label;

pub use crate::source_file::{Checksum, SourceFile};
pub use attributes::Attributes;
pub(crate) use attributes::check_attribute;
pub use document::Document;
pub(crate) use document::{IndexedText, SentenceRef, WordIndex};
pub use document_rule::{DocumentOptions, DocumentRule};
pub use layout::{Layout, OffsetUnit, Offsets, Separation, TextPosition};
pub(crate) use schema::{JOINT, PREDICTIONS, list_names, split_label};
pub use schema::{JoinedColumns, LineRules, Schema};
pub use sentence::Sentence;
pub(crate) use sentence::check_weight;
pub use token_label::TokenLabel;
