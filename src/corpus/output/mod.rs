//! Writing tagged sentences.

mod conll;
mod conllu;
mod format;
mod jsonl;
mod notes;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use format::LabelProbabilities;
pub use format::{Candidate, OutputFormat, SentenceWriter, Tagged, WriteFormat, WriteOptions};
pub use notes::with_notes;
pub use writer::Writer;
