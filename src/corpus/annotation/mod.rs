//! Reading the formats of annotation tools: texts with labeled spans of characters.
//!
//! | step | file |
//! |---|---|
//! | objects of JSON lines, or of an array on any number of lines | `json_objects` |
//! | an object as Prodigy, doccano or Label Studio write it → [`MarkedText`] | `marked_json` |
//! | a pair of `.txt` and `.ann` → [`MarkedText`] | `brat` |
//! | offsets → bytes | `offset_map` |
//! | spans → tokens, sentences and labels; which spans cut tokens | `alignment` |
//!
//! Spans that cut a token and spans that overlap are collected, so that one run shows all of them:
//! reading then ends with an error after the last text.

mod alignment;
mod brat;
mod faults;
mod json_objects;
mod marked_json;
mod marked_text;
mod misaligned;
mod offset_map;
mod spans;

pub use brat::annotation_files;
pub(super) use brat::{BratParser, text_files};
pub use misaligned::Misaligned;
pub(super) use spans::SpansParser;
