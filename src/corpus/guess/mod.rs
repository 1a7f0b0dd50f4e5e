//! What a file does not say about itself, guessed from its lines: what kind of file it is, how it
//! is laid out in columns, and which lines, read as tokens, may be something else.
//!
//! Each guess is a function of lines, decided before anything is read from them or, of doubts, once
//! the whole file is known. What was decided is said once ([`ReadReport`](super::ReadReport)).

mod columns;
mod doubts;
mod kind;
#[cfg(test)]
mod tests;

pub(super) use columns::{ColumnLayout, FirstLines};
pub(super) use doubts::{Doubts, check_token};
pub use kind::{OtherKind, recognize};
