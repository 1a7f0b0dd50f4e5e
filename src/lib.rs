//! A linear-chain CRF sequence tagger (names, parts of speech, chunks) for small labeled corpora
//! and ordinary processors, regularized by simulated feature noise (Wang et al., EMNLP 2013).
//!
//! ```
//! # #[cfg(feature = "train")] {
//! use dropchain::{Corpus, Result, Sentence, Tagger, Template, TrainOptions, Trainer};
//!
//! # fn main() -> Result<()> {
//! let corpus = [
//!     ("Ada Lovelace lived in London", "B-PER I-PER O O B-LOC"),
//!     ("Charles Babbage left London", "B-PER I-PER O B-LOC"),
//!     ("she died in Marylebone", "O O O B-LOC"),
//! ]
//! .map(|(text, labels)| Sentence::from_words(text.split(' ')).with_labels(labels.split(' ')))
//! .into_iter()
//! .collect::<Result<Corpus>>()?; // or Corpus::read(["train.conll"], …)
//! let template: Template = "word\nword[-1]\nshape\n".parse()?; // or Template::shipped("ner")
//! let trained = Trainer::new(TrainOptions::default())?.train(corpus, template, &mut ())?;
//!
//! let path = std::env::temp_dir().join("dropchain-example.model");
//! trained.model.save(&path)?;
//! let tagger = Tagger::open(&path)?;
//! let labels = tagger.tag_words(["Charles", "Lovelace", "died", "in", "Devon"])?;
//! assert_eq!(labels, ["B-PER", "I-PER", "O", "O", "B-LOC"]);
//! # std::fs::remove_file(&path).ok();
//! # Ok(())
//! # }
//! # main().unwrap();
//! # }
//! ```
//!
//! Training is deterministic: the same bits for any number of threads. `examples/` contains more
//! programs, and ARCHITECTURE.md is a map of the sources.
//!
//! | to … | use |
//! |---|---|
//! | read a corpus; build one in memory | [`Corpus::read`]; [`Sentence`] |
//! | train on it | [`Trainer::train`] |
//! | train on attributes made elsewhere, any number of times | [`train::AttributeCorpus`] |
//! | continue a model, or adapt it to other data | [`Trainer::init`], [`Trainer::towards`] |
//! | follow training, or end it | [`train::Observer`] |
//! | tag sentences, raw text, streams | [`Tagger`], [`Tagger::tag_text`], [`tag::stream()`] |
//! | get probabilities of given labels or spans | [`Tagger::distribution`] |
//! | dump the weights of a model; build one | [`Model::node_weights`]; [`Model::from_weights`] |
//! | score predictions | [`eval`] |
//! | train in another way | [`kernel::train::Learner`] |
//! | read or write other formats | [`corpus::ReadFormat`], [`corpus::WriteFormat`] |
//!
//! Cargo features, both on by default: `train`, without which the library tags and evaluates, and
//! `encodings` for corpora in other encodings than UTF-8.
#![deny(missing_docs)]

pub mod corpus;
pub mod eval;
pub mod kernel;
pub mod label;
pub mod model;
pub mod sentence;
pub mod tag;
pub mod template;
pub mod tokenize;
#[cfg(feature = "train")]
pub mod train;

mod csv;
mod name_list;
mod second_pass;
mod source_file;

use dropchain_numerics::error;
#[cfg(test)]
use dropchain_numerics::{math, testing};
#[cfg(feature = "train")]
use kernel::{aligned, atomic_file, noise, objective, optim, ranks, score};
use kernel::{chain, extract, fingerprint, ids, input_file, interrupt, memory, random, simd};

#[doc(inline)]
pub use corpus::Corpus;
#[doc(hidden)]
pub use dropchain_numerics::named;
#[doc(inline)]
pub use error::{Error, Place, Result};
#[doc(inline)]
pub use kernel::memory::MemoryLimit;
#[doc(inline)]
pub use model::Model;
#[doc(inline)]
pub use sentence::Sentence;
#[doc(inline)]
pub use tag::{TagOptions, Tagger, Tagging};
#[doc(inline)]
pub use template::Template;
#[cfg(feature = "train")]
#[doc(inline)]
pub use train::{TrainOptions, Trainer};
