//! Writing tagged sentences.

mod annotated_text;
mod brat;
mod color;
mod conll;
mod conllu;
mod displacy;
mod format;
mod html;
mod inline;
mod inline_xml;
mod jsonl;
mod label_studio;
mod notes;
mod slash_tags;
mod spans;
mod tagged;
#[cfg(test)]
mod tests;
mod text_writer;
mod write_options;
mod writer;

pub use format::OutputFormat;
pub use notes::with_notes;
pub use tagged::{Candidate, Tagged};
pub use write_options::WriteOptions;
pub use writer::Writer;
