//! Linear-chain CRF sequence tagging.
#![deny(missing_docs)]

pub mod chain;
pub mod corpus;
pub mod error;
pub mod eval;
pub mod ids;
pub mod label;
pub mod math;
pub mod optim;
pub mod sentence;
pub mod template;
pub mod tokenize;

pub use error::{Error, Place, Result};
