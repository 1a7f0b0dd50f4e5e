//! Regression: from a document to a number, by a linear function of its features, trained with
//! feature noise.
//!
//! Training minimizes over weights w and the bias b
//!
//! ```text
//! J(w, b) = Σ_n loss(y_n, f_n) + noise(w, b) + c2·‖w‖² + c1·‖w‖₁,    f_n = w·x_n + b
//! ```
//!
//! with one of these losses:
//!
//! | loss | of a document | noise term | method |
//! |---|---|---|---|
//! | squared | (y − f)² | V: exact | Cholesky, L-BFGS, OWL-QN, coordinate descent |
//! | Poisson | exp f − y·f | ½·exp(f)·V: of second order | L-BFGS, OWL-QN |
//! | ε-insensitive | max(0, \|y − f\| − ε) | a bound ([`Loss`](crate::irls::Loss)) | IRLS, dual |
//!
//! V is the variance of the score of a document under the noise: q/(1−q)·Σ x²·w² if features are
//! dropped with rate q, and those that remain grow by 1/(1−q). The second row is eq. 6 of Wager,
//! Wang and Liang (2013) with A(f) = exp f; the first is twice that with A(f) = f²/2, and so a
//! ridge penalty of its own for each feature. The bias has no noise and no penalty, except that
//! support vector regression penalizes it minus the mean of y, as liblinear does.
//!
//! ```
//! use dropchain_documents::Instance;
//! use dropchain_documents::regress::{Regression, RegressionOptions};
//!
//! # fn main() -> dropchain::Result<()> {
//! // Or documents of an `InstanceReader`: lines of SVMlight's format begin with a number.
//! let documents = [(1.0, "2.5"), (2.0, "4.5"), (3.0, "6.5"), (4.0, "8.5")]
//!     .map(|(x, y)| Instance::from_features([("x", x)]).with_label(y));
//! let options = RegressionOptions { l2: 1e-6, ..RegressionOptions::default() };
//! let trained = Regression::train(documents.map(Ok), &options)?;
//! let regression = trained.regression; // its model can be saved, and opened by Regression::open
//! let y = regression.predict(&Instance::from_features([("x", 5.0)]))?;
//! assert!((y - 10.5).abs() < 1e-4);
//! # Ok(())
//! # }
//! # main().unwrap();
//! ```

mod corpus;
mod options;
mod path;
mod regression;
mod solve;
mod solvers;
#[cfg(test)]
mod tests;
mod training;

pub use corpus::RegressionCorpus;
pub use options::{FeatureNoise, RegressionHeader, RegressionLoss, RegressionOptions, Solver};
pub use path::{CrossValidation, PathOptions, PathPoint, RegressionPath};
pub use regression::{Regression, digits};
pub use solve::RegressionIteration;
pub use training::{RegressionTrainer, TrainedRegression};
