//! Writing tagged sentences.

mod conll;
mod conllu;
mod format;
mod jsonl;
mod notes;
mod tagged;
#[cfg(test)]
mod tests;
mod write_options;
mod writer;

pub use format::{OutputFormat, SentenceWriter, WriteFormat};
pub use notes::with_notes;
pub use tagged::{Candidate, Tagged};
pub use write_options::WriteOptions;
pub use writer::Writer;
