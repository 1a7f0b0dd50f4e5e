//! Labels, label schemes (IO, IOB1, IOB2, BIOES, plain) and the spans that they encode.
//!
//! [`SchemeDetector`] infers how the labels of a corpus encode spans (the [`Scheme`]) and how they
//! are written (the [`Notation`]): a [`Labeling`]. Those of models are canonical, such as `B-PER`.
//!
//! Spans are the common representation: a labeling decodes and encodes them, and so converts labels
//! to another. [`spans`] decodes any canonical labels by conlleval's rules, whatever their scheme
//! and even if they are malformed. [`SchemeConstraint`] has the transitions that a scheme allows.

pub(crate) mod label_counts;
mod label_set;
mod labeling;
pub(crate) mod notation;
#[cfg(feature = "train")]
pub(crate) mod partial;
mod scheme;
pub(crate) mod scheme_constraint;
mod scheme_detector;
pub(crate) mod span;
#[cfg(test)]
mod tests;

pub use crate::ids::LabelId;
pub use label_set::LabelSet;
pub use labeling::{Labeling, convert, encode, spans};
pub use notation::Notation;
#[cfg(feature = "train")]
pub(crate) use partial::convert_partial;
pub use scheme::{PlainLabels, Scheme};
pub(crate) use scheme_constraint::SchemeConstraint;
pub use scheme_detector::{Detected, SchemeDetector};
pub use span::Span;
pub(crate) use span::{ChunkLabel, SpanPosition};
