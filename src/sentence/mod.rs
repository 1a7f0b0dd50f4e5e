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
mod joined_columns;
mod layout;
mod lines;
pub(crate) mod schema;
#[allow(clippy::module_inception)]
mod sentence;
mod separation;
mod text_list;
mod token_label;
mod word_index;

pub use crate::source_file::{Checksum, SourceFile};
pub use attributes::Attributes;
pub(crate) use attributes::check_attribute;
pub use document::Document;
pub(crate) use document::{IndexedText, SentenceRef};
pub use document_rule::{DocumentOptions, DocumentRule};
pub use joined_columns::JoinedColumns;
pub(crate) use joined_columns::{JOINT, split_label};
pub use layout::{Layout, OffsetUnit, Offsets, TextPosition};
pub use schema::{LineRules, Schema};
pub(crate) use schema::{PREDICTIONS, list_names};
pub use sentence::Sentence;
pub(crate) use sentence::check_weight;
pub use separation::Separation;
pub use token_label::TokenLabel;
pub(crate) use word_index::WordIndex;
