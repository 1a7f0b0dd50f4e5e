//! Evaluation: predicted labels against gold labels, with conlleval's span counts.
//!
//! [`Evaluation`] takes one sentence at a time and keeps only counts. Its `Display` is the text
//! report; it serializes to the JSON report.

pub(crate) mod counts;
mod evaluation;
mod report;
#[cfg(test)]
mod tests;

pub use counts::{ColumnReport, Confusion, Counts, Metrics};
pub use evaluation::Evaluation;
