//! Linear scores of documents: what training minimizes, by L-BFGS and OWL-QN.

mod design;
mod logistic;
mod loss;
mod noise;
mod objective;
mod problem;
#[cfg(test)]
mod tests;

pub use loss::Loss;
pub(crate) use problem::{Fitted, Problem, Step};
