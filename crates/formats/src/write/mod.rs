//! Writing markup and the formats of annotation tools.

mod annotated_text;
mod brat;
mod html;
mod inline;
mod json;
#[cfg(test)]
mod tests;
mod text_writer;

pub use inline::Inline;
pub use text_writer::{TextFormat, TextWriter};
