//! What dropchain computes with: inference in linear chains, the noise regularizer and its
//! gradient, optimizers. Numbers in, numbers out: nothing here knows text, corpora or models.
//!
//! Exempt from semantic versioning, like the module `kernel` of `dropchain`, which exports it.
//! Users depend on `dropchain` alone.
#![deny(missing_docs)]

pub mod aligned;
pub mod chain;
pub mod data;
pub mod error;
#[cfg(feature = "train")]
mod exact_sum;
pub mod ids;
pub mod interrupt;
pub mod math;
pub mod names;
#[cfg(feature = "train")]
pub mod noise;
#[cfg(feature = "train")]
pub mod objective;
#[cfg(feature = "train")]
pub mod optim;
#[cfg(feature = "train")]
mod parallel;
pub mod random;
#[cfg(feature = "train")]
pub mod ranks;
#[cfg(feature = "train")]
pub mod score;
pub mod simd;
#[cfg(feature = "testing")]
#[path = "../tests/testing/mod.rs"]
pub mod testing;

pub use error::{Error, Result};
