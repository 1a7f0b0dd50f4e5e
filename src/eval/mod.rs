//! Evaluation: predicted labels against gold labels, with conlleval's span counts.
//!
//! [`Evaluation`] takes one sentence at a time and keeps only counts. Its `Display` is the text
//! report, [`Evaluation::report`] the JSON report. [`span_errors`] says what is wrong in a
//! sentence. [`FrequencyEvaluation`] scores words by their frequency in the training data,
//! [`Calibration`] probabilities. [`PairedBootstrap`] compares two taggers and tests whether the
//! difference is significant.

mod bootstrap;
mod calibration;
mod columns;
mod confusion;
mod conlleval;
mod error_counts;
mod errors;
mod evaluation;
mod frequency;
mod metrics;
mod report;
#[cfg(test)]
mod tests;

pub use bootstrap::{BootstrapReport, Difference, PairedBootstrap};
pub use calibration::{Calibration, CalibrationBin};
pub use columns::ColumnReport;
pub use confusion::Confusion;
pub use error_counts::{ErrorCounts, TypeErrors};
pub use errors::{ErrorKind, SpanError, compare_spans, label_errors, span_errors};
pub use evaluation::Evaluation;
pub use frequency::{FrequencyBand, FrequencyEvaluation, WordCounts};
pub use metrics::{Counts, Metrics, ratio};
pub use report::{Report, ScoreReport, SpanReport};
