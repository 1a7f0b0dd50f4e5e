//! Scores of predicted classes and numbers.

mod classes;
mod numbers;

pub use classes::{ClassEvaluation, ClassReport, ClassScores};
pub use numbers::{NumberEvaluation, NumberReport};
