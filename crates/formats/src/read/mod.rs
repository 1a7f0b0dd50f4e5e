//! Reading the formats of annotation tools: texts with labeled spans of characters.
//!
//! | step | file |
//! |---|---|
//! | objects of JSON lines, or of an array on any number of lines | `json_objects` |
//! | an object as Prodigy, doccano or Label Studio write it → [`MarkedText`] | `spans` |
//! | a pair of `.txt` and `.ann` → [`MarkedText`] | `brat` |
//! | a sentence of WebAnno's TSV 3 → [`MarkedText`] | `webanno` |
//! | offsets → bytes | `offset_map` |
//! | spans → tokens, sentences and labels; which spans cut tokens | `alignment` |
//!
//! Spans that cut a token and spans that overlap are collected, so that one run shows all of them:
//! reading then ends with an error after the last text.

mod alignment;
mod brat;
mod json_objects;
mod marked_text;
mod offset_map;
mod span_options;
mod spans;
#[cfg(test)]
mod tests;
mod webanno;

pub use brat::{Brat, annotation_files};
pub use json_objects::JsonObjects;
pub use span_options::{Misaligned, Overlaps, SpanOffsets, SpanOptions};
pub use spans::Spans;
pub use webanno::WebAnno;
pub(crate) use webanno::is_webanno;
