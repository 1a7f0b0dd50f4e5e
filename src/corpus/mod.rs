//! Reading corpora and writing tagged sentences.
//!
//! A [`Corpus`] holds sentences in memory. A [`Reader`] streams the sentences of files, so that its
//! memory does not grow with them and a sentence is available as soon as its last line has been
//! read. A [`Writer`] writes tagged sentences. The formats are described in `docs/formats.md`.
//!
//! [`Format`] and [`OutputFormat`] are those of this library. Others implement [`ReadFormat`], with
//! a [`SentenceParser`], or [`WriteFormat`], with a [`SentenceWriter`].

mod column_layout;
mod columns;
mod conll;
mod conllu;
#[allow(clippy::module_inception)]
mod corpus;
mod crfsuite;
mod csv;
#[cfg(feature = "encodings")]
mod decoding_reader;
mod doubts;
mod guess;
mod json_attributes;
mod json_columns;
mod json_object;
mod jsonl;
mod lines;
mod misc;
mod output;
mod parse;
mod read_report;
mod reader;
mod sample;
mod sentence_weight;
mod sheet;
mod source;
#[cfg(test)]
mod tests;
mod text;
mod text_encoding;

pub use crate::sentence::{
    Attributes, Document, DocumentOptions, DocumentRule, JoinedColumns, Layout, LineRules,
    OffsetUnit, Offsets, Schema, SentenceRef, Separation, TextPosition, TokenLabel,
};
pub use columns::CONLLU_COLUMNS;
#[doc(hidden)]
pub use columns::{DOCUMENT_START, split_cells};
pub use corpus::Corpus;
pub use guess::FileKind;
pub use json_object::{JsonObject, parse_object, type_name};
pub use lines::{InputLine, LineReader, MAX_LINE, is_blank};
pub(crate) use output::LabelProbabilities;
pub use output::{
    Candidate, OutputFormat, SentenceWriter, Tagged, WriteFormat, WriteOptions, Writer, with_notes,
};
pub use parse::{
    Format, ReadFormat, ReadLimits, ReadOptions, SentenceParser, Supervision, TextOptions, decoded,
};
pub use read_report::{ReadReport, Repair};
pub use reader::Reader;
pub use reader::{check_regular, check_sources, files_of, open_stream};
#[doc(hidden)]
pub use sample::{SAMPLE_DEV, SAMPLE_TEST, SAMPLE_TRAIN};
pub use source::InputStream;
pub use text::TextSplitter;
pub use text_encoding::TextEncoding;
