//! Linear-chain CRF sequence tagging.
#![deny(missing_docs)]

pub mod chain;
pub mod corpus;
pub mod error;
pub mod eval;
pub mod extract;
pub mod ids;
pub mod label;
pub mod math;
pub mod model;
pub mod noise;
pub mod objective;
pub mod optim;
pub mod report;
pub mod score;
pub mod sentence;
pub mod tag;
pub mod template;
pub mod tokenize;
pub mod train;
pub mod wide;

pub use error::{Error, Place, Result};
