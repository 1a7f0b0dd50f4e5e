//! Reading corpora and writing tagged sentences.
//!
//! A [`Corpus`] holds sentences in memory. A [`Reader`] streams the sentences of files, so that its
//! memory does not grow with them and a sentence is available as soon as its last line has been
//! read. A [`Writer`] writes tagged sentences. The formats are described in `docs/formats.md`.
//!
//! [`Format`] and [`OutputFormat`] are those of this library. Others implement [`ReadFormat`], with
//! a [`SentenceParser`], or [`WriteFormat`], with a [`SentenceWriter`].

mod column_layout;
pub(crate) mod columns;
mod conll;
mod conllu;
#[allow(clippy::module_inception)]
mod corpus;
mod crfsuite;
#[cfg(feature = "encodings")]
mod decoding_reader;
mod doubts;
mod guess;
pub(crate) mod json_object;
mod jsonl;
pub(crate) mod lines;
mod misc;
pub(crate) mod output;
pub(crate) mod parse;
mod read_report;
pub(crate) mod reader;
pub(crate) mod sample;
mod sheet;
pub(crate) mod source;
mod tag_names;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use columns::CONLLU_COLUMNS;
pub use corpus::Corpus;
pub use guess::FileKind;
pub use lines::{InputLine, LineReader};
pub(crate) use output::LabelProbabilities;
pub use output::{
    Candidate, OutputFormat, SentenceWriter, Tagged, WriteFormat, WriteOptions, Writer,
};
pub use parse::{
    Format, ReadFormat, ReadLimits, ReadOptions, SentenceParser, Supervision, TextOptions,
};
pub use read_report::{ReadReport, Repair};
pub use reader::Reader;
pub(crate) use source::InputStream;
pub use source::TextEncoding;
pub use tag_names::{label_column, label_names};
pub use text::TextSplitter;
