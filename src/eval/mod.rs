//! Evaluation: predicted labels against gold labels, with conlleval's span counts.
//!
//! [`Evaluation`] takes one sentence at a time and keeps only counts. Its `Display` is the text
//! report, [`Evaluation::report`] the JSON report. [`Calibration`] scores probabilities.
//! [`PairedBootstrap`] compares two taggers and tests whether the difference is significant.

mod bootstrap;
mod calibration;
mod columns;
mod confusion;
mod conlleval;
mod evaluation;
mod metrics;
mod report;
#[cfg(test)]
mod tests;

pub use bootstrap::{BootstrapReport, Difference, PairedBootstrap};
pub use calibration::{Calibration, CalibrationBin};
pub use columns::ColumnReport;
pub use confusion::Confusion;
pub use evaluation::Evaluation;
pub use metrics::{Counts, Metrics, ratio};
pub use report::{Report, ScoreReport, SpanReport};
