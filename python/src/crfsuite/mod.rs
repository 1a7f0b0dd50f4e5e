//! The core of `dropchain.pycrfsuite` and `dropchain.sklearn`: sequences of items, and training on
//! them in the semantics of CRFsuite.

mod item_sequence;
mod trainer;

pub use item_sequence::PyItemSequence;
pub use trainer::PyCrfTrainer;
