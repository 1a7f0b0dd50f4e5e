//! Linear models under feature noise by iteratively reweighted least squares: support vector
//! machines, logistic and least-squares regression.
//!
//! Problem: a document n has features x (a row of X), a target y, and a weight v. Noise makes x̃ of
//! x without bias, so that its score w·x̃ has the mean f = w·x and a variance V. Find w that
//! minimizes
//!
//! ```text
//! J(w) = Σ_n v_n · B(y_n, f_n, V_n) + c·‖w‖²
//! ```
//!
//! where B is an upper bound of the expected loss, E[loss(y, w·x̃)] ≤ B, equal to the loss where
//! V = 0 (`loss.rs`). The noise is one of
//!
//! ```text
//! dropout with rate q, of features that remain times 1/(1−q):   V = q/(1−q)·Σ_j x_j² w_j²
//! multiplicative with variance σ²:                              V = σ²·Σ_j x_j² w_j²
//! additive with variance σ²:                                    V = σ²·Σ_j w_j²
//! ```
//!
//! and the bias has none.
//!
//! # Method
//!
//! All of these B are convex functions of (f, V) that have a quadratic majorizer: with numbers
//! g > 0 and t that depend on where it touches,
//!
//! ```text
//! B(y, f, V) ≤ ½·g·[(f − t)² + V] + constant,
//! ```
//!
//! with equality at the (f, V) that g and t were computed for. An iteration of the paper computes g
//! and t at the current w (the E-step) and lowers the weighted sum of these quadratics and the
//! penalty, Q (the M-step): least squares with weights v·g and targets t. Q ≥ J with equality and
//! equal gradients at the current w, hence J falls with any step that lowers Q. It converges
//! linearly, as g is larger than the curvature of B. Here the second derivatives of B are in the
//! place of g: Newton's method, with the same products of the matrix (`quadratic.rs`).
//!
//! The step to the minimum of the quadratic is found by Cholesky factorization of the
//! Hessian if that is small, else by conjugate gradients, which never form it (`quadratic.rs`).
//! A search along that line, which needs no products, ends where J is lowest (`minimize.rs`), so J
//! falls monotonically. The hinge losses start smoothed: their δ shrinks with the first iterations.
//!
//! J is convex: f is linear in w, √(a² + V) is a norm of an affine function of w, and B composes
//! them with convex increasing functions. So the fixed point is the minimum.
//!
//! Without noise, losses with kinks are ordinary support vector machines, for which least squares
//! are ill-conditioned: with many weights, these are trained by dual coordinate descent
//! (`dual.rs`).
//!
//! # Cost
//!
//! Of an iteration: a product with X and one with Xᵀ for each step of conjugate gradients, and two
//! for the gradient and the line. Of an epoch of dual coordinate descent: three passes over X. Rows
//! and columns are each summed by one thread, in a fixed order: results have the same
//! bits for any number of threads.
//!
//! Source: Chen, Zhu, Chen and Zhang, "Dropout training for support vector machines", AAAI 2014,
//! and its extension (N. Chen, J. Zhu, J. Chen, T. Chen, 2015), sections 4.1 and 5.1; majorizers in
//! general: Hunter and Lange, "A tutorial on MM algorithms", 2004. There the penalty is ‖w‖², and
//! losses count 2c times (hinge) or c times (logistic).

mod dual;
mod hidden;
mod loss;
mod minimize;
mod problem;
mod quadratic;
#[cfg(test)]
mod tests;

pub use hidden::{HiddenProblem, hidden_dimension, hidden_memory, hidden_start};
pub use loss::Loss;
pub use minimize::{IrlsOptions, Minimization, minimize};
pub use problem::{CONCURRENT, Documents, InputNoise, Problem, Value, irls_memory};
pub(crate) use quadratic::{factorize, solve_factorized};
