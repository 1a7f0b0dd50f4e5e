//! Scores of predicted classes and numbers.

mod classes;
mod numbers;
mod report;

pub use classes::{ClassEvaluation, ClassReport, ClassScores};
pub use numbers::{NumberEvaluation, NumberReport};
pub use report::comparison_text;
