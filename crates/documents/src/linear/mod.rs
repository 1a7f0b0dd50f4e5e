//! Linear scores of documents, and scores of hidden units: what training minimizes, by L-BFGS and
//! OWL-QN.

mod design;
mod hidden;
mod informativeness;
mod logistic;
mod loss;
mod objective;
mod problem;
mod sampling;
mod softmax;
#[cfg(test)]
mod tests;

pub(crate) use hidden::output_score;
pub use loss::Loss;
pub(crate) use problem::{Fitted, Problem, Step};
