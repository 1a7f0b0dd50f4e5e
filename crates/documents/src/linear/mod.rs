//! Linear scores of documents: what training minimizes, by L-BFGS and OWL-QN.

mod design;
mod informativeness;
mod logistic;
mod loss;
mod objective;
mod problem;
mod sampling;
mod softmax;
#[cfg(test)]
mod tests;

pub use loss::Loss;
pub(crate) use problem::{Fitted, Problem, Step};
