//! Tagging: from sentences and a model to labels.
//!
//! A [`Tagger`] is immutable and can be shared by any number of threads.
//!
//! ```no_run
//! use dropchain::tag::{TagOptions, Tagger, Workspace};
//! use dropchain::Sentence;
//!
//! # fn main() -> dropchain::Result<()> {
//! let tagger = Tagger::open("ner.model")?;
//! let sentence = Sentence::from_words(["Ada", "Lovelace", "lived", "in", "London"]);
//! let tagging = tagger.tag(&sentence)?;
//! println!("{:?}", tagger.label_names(&tagging.labels));
//!
//! // With marginal probabilities, and with a workspace that the caller owns and reuses.
//! let options = TagOptions { marginals: true, ..TagOptions::default() };
//! let mut workspace = Workspace::default();
//! let tagging = tagger.tag_with(&sentence, options, &mut workspace)?;
//! println!("{:?}", tagging.marginals);
//! # Ok(())
//! # }
//! ```
//!
//! Tagging builds no attribute names: the fingerprint of an attribute is computed from those of its
//! parts and looked up in the model. Whole inputs are read, tagged and written
//! concurrently by [`stream()`].

mod bundle_sums;
mod condition;
mod decoding;
mod distribution;
mod input;
mod label_names;
mod restriction;
pub(crate) mod scorer;
mod scoring;
mod stream;
pub(crate) mod tagger;
mod tagging;
#[cfg(test)]
mod tests;
mod text;
mod threshold;
mod word_fit;
mod workspace;

pub use crate::interrupt::Interrupt;
pub use condition::Condition;
pub use distribution::Distribution;
pub use input::{TagDocuments, TagInput};
pub use stream::{Batch, BatchOutput, stream};
pub use tagger::Tagger;
pub use tagging::{LabelPath, TagOptions, Tagging};
pub use text::{TaggedSentence, TaggedSpan, TaggedToken};
pub use threshold::Threshold;
pub use word_fit::WordFit;
pub use workspace::Workspace;
