//! Labels, label schemes (IO, IOB1, IOB2, BIOES, plain) and the spans that they encode.
//!
//! Spans are the common representation: [`spans`] decodes any label sequence by conlleval's rules,
//! whatever its scheme and even if it is malformed; [`encode()`] writes spans in a scheme;
//! [`convert`] decodes and encodes. [`SchemeDetector`] infers the scheme of a corpus, and
//! [`SchemeConstraint`] has the transitions that a scheme allows. The labels of the plain scheme
//! are types without a tag, such as `PER`, so its spans are decoded by [`Scheme::spans`].

mod chunk_label;
mod encode;
mod label_set;
#[cfg(feature = "train")]
mod partial;
mod plain_labels;
mod scheme;
mod scheme_constraint;
mod scheme_detector;
mod span;
#[cfg(test)]
mod tests;

pub use crate::ids::LabelId;
pub use chunk_label::{ChunkLabel, SpanEvidence};
pub use encode::{SpanPosition, position_label};
pub use encode::{convert, encode};
pub use label_set::LabelSet;
#[cfg(feature = "train")]
pub use partial::convert_partial;
pub use plain_labels::PlainLabels;
pub use scheme::Scheme;
pub use scheme_constraint::SchemeConstraint;
pub use scheme_constraint::may_follow;
pub use scheme_detector::is_label as is_label_of_scheme;
pub use scheme_detector::{SchemeDetector, detect};
pub use span::{Span, spans};
