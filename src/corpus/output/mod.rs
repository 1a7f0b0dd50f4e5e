//! Writing tagged sentences.

mod conll;
mod conllu;
mod format;
mod inline;
mod jsonl;
mod tagged;
#[cfg(test)]
mod tests;
mod writer;

pub use format::OutputFormat;
pub use tagged::{Candidate, Tagged};
pub use writer::{WriteOptions, Writer};
