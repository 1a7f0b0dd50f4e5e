//! What the crates beside this library are built from: numerics of chains and noise, the objective
//! and its terms, optimizers, and small helpers.
//!
//! Exempt from semantic versioning: any release may change what is here. Programs that train and
//! tag need none of it; a learner ([`Learner`](crate::train::Learner)) or a term of the objective
//! ([`objective::Term`]) is written with it.
//!
//! The library itself names these modules without `kernel`: their folders stand beside the others
//! in `src/`.

#[cfg(feature = "train")]
#[path = "atomic_file.rs"]
pub mod atomic_file;
#[path = "chain/mod.rs"]
pub mod chain;
#[cfg(feature = "train")]
#[path = "exact_sum.rs"]
pub mod exact_sum;
#[path = "extract/mod.rs"]
pub mod extract;
#[path = "fingerprint.rs"]
pub mod fingerprint;
#[path = "ids.rs"]
pub mod ids;
#[path = "input_file.rs"]
pub mod input_file;
#[path = "interrupt.rs"]
pub mod interrupt;
#[path = "math.rs"]
pub mod math;
#[path = "name_list.rs"]
pub mod name_list;
#[cfg(feature = "train")]
#[path = "noise/mod.rs"]
pub mod noise;
#[cfg(feature = "train")]
#[path = "objective/mod.rs"]
pub mod objective;
#[cfg(feature = "train")]
#[path = "optim/mod.rs"]
pub mod optim;
#[path = "random.rs"]
pub mod random;
#[cfg(feature = "train")]
#[path = "ranks/mod.rs"]
pub mod ranks;
#[cfg(feature = "train")]
#[path = "score/mod.rs"]
pub mod score;
#[path = "second_pass/mod.rs"]
pub mod second_pass;
#[path = "simd.rs"]
pub mod simd;
