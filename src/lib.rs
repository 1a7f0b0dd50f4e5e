//! dropchain: a linear-chain CRF sequence tagger for names, parts of speech, chunks, or whatever
//! else is labeled token by token.
//!
//! A sentence has T tokens; each gets one of K labels. What is known of a token are its
//! *attributes* (its word, its suffix, its neighbors, …), which a [`Template`] derives from the
//! columns of the corpus. A model weighs attributes against labels and labels against the labels
//! before them; training finds the weights under which the labeled corpus is most probable, less
//! penalties (L2, L1, simulated feature noise), and tagging finds the most probable labels of a sentence. It is built for
//! small labeled corpora and for ordinary processors, and for answers that can be trusted:
//! training gives the same bits for any number of threads, and a model is one checked file.
//!
//! # Example
//!
//! ```
//! use dropchain::corpus::{Format, ReadOptions, Reader};
//! use dropchain::{Result, Sentence, Tagger, Template, TrainOptions, Trainer};
//!
//! # fn main() -> Result<()> {
//! // A token is a line, its last column the label; a blank line ends a sentence.
//! let corpus = "\
//! Ada B-PER
//! Lovelace I-PER
//! lived O
//! in O
//! London B-LOC
//!
//! Charles B-PER
//! Babbage I-PER
//! left O
//! London B-LOC
//!
//! she O
//! died O
//! in O
//! Marylebone B-LOC
//! ";
//! let options = ReadOptions {
//!     format: Some(Format::Conll),
//!     ..ReadOptions::default()
//! };
//! let reader = Reader::from_read(Box::new(corpus.as_bytes()), "example", &options);
//! let sentences = reader.collect::<Result<Vec<Sentence>>>()?;
//!
//! // Which attributes a token has; this template names no files, so none is ever asked for.
//! let template = "word\nword[-1]\nshape\n";
//! let template = Template::parse(template, "example.tpl", &mut |_| unreachable!())?;
//! let trainer = Trainer::new(TrainOptions::default())?;
//! let trained = trainer.train(sentences, template, &mut ())?;
//!
//! let folder = tempfile::tempdir().expect("a folder for temporary files");
//! let path = folder.path().join("ner.model");
//! trained.model.save(&path)?;
//!
//! // The file is all that tagging needs.
//! let tagger = Tagger::open(&path)?;
//! let labels = tagger.tag_words(["Charles", "Lovelace", "died", "in", "Devon"])?;
//! assert_eq!(labels, ["B-PER", "I-PER", "O", "O", "B-LOC"]);
//! # Ok(())
//! # }
//! ```
//!
//! [`Tagger::tag_with`](tag::Tagger::tag_with) also gives marginal probabilities and the n best label
//! sequences; [`corpus`] reads and writes files in the common formats; [`eval`] counts as
//! conlleval does.
//!
//! # Modules
//!
//! They stand in rows: a module uses only those of rows above its own (a test sees to it), and
//! those of one row know nothing of each other.
//!
//! | row | modules | what for |
//! |---|---|---|
//! | 0 | [`error`], [`ids`], [`math`], [`atomic_file`] | errors with places, identifiers, numerical helpers, files written whole |
//! | 1 | [`sentence`] | tokens in columns |
//! | 1 | [`label`] | labels, their schemes (IO, IOB1, IOB2, BIOES), the spans they write |
//! | 1 | [`chain`] | inference: marginals, best paths |
//! | 1 | [`optim`] | L-BFGS and OWL-QN |
//! | 2 | [`tokenize`] | text to sentences |
//! | 2 | [`template`] | which attributes a token has |
//! | 2 | [`eval`] | accuracy, precision, recall, F1; paired bootstrap |
//! | 2 | [`cluster`] | classes of words, learned from unlabeled text |
//! | 2 | [`noise`] | what simulated feature noise adds for a sentence, with its gradient |
//! | 3 | [`corpus`] | reading and writing CoNLL, CoNLL-U, CRFsuite's format, JSON lines, text |
//! | 3 | [`extract`] | sentences to the sparse design matrix X |
//! | 4 | [`score`] | weights to scores S = X·Θ, and the transpose of that |
//! | 5 | [`objective`] | likelihood and penalties, with their gradient |
//! | 5 | [`model`] | the model file |
//! | 6 | [`train`] | corpus to model |
//! | 6 | [`tag`] | sentences and a model to labels |
//! | 7 | [`report`] | records of training |
//! | 7 | [`tune`] | the search for good parameters |
//! | 7 | [`bench`](mod@bench) | what gradients of the noise term cost, and how exact they are |
//!
//! The program `dropchain` is one more row on top.
#![deny(missing_docs)]
// Modules that tagging needs have parts that only training uses.
#![cfg_attr(not(feature = "train"), allow(dead_code))]

pub mod atomic_file;
#[cfg(feature = "train")]
pub mod bench;
pub mod chain;
#[cfg(feature = "train")]
pub mod cluster;
pub mod corpus;
pub mod error;
pub mod eval;
pub mod extract;
mod fingerprint;
pub mod ids;
pub mod label;
pub mod math;
pub mod model;
#[cfg(feature = "train")]
pub mod noise;
#[cfg(feature = "train")]
pub mod objective;
#[cfg(feature = "train")]
pub mod optim;
mod random;
#[cfg(feature = "train")]
pub mod report;
#[cfg(feature = "train")]
pub mod score;
pub mod sentence;
mod simd;
pub mod tag;
pub mod template;
pub mod tokenize;
#[cfg(feature = "train")]
pub mod train;
#[cfg(feature = "train")]
pub mod tune;

pub use corpus::Corpus;
pub use error::{Error, Place, Result};
pub use model::Model;
pub use sentence::Sentence;
pub use tag::{TagOptions, Tagger, Tagging};
pub use template::Template;
#[cfg(feature = "train")]
pub use train::{TrainOptions, Trainer};
