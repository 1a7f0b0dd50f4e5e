//! Formats of annotation tools, and markup for people and other programs.
//!
//! | format | reads it | writes it |
//! |---|---|---|
//! | JSON with spans: Prodigy, doccano, Label Studio, displaCy | [`Spans`] | [`TextFormat`] |
//! | BRAT's standoff annotations | [`Brat`] | [`TextFormat`] |
//! | TSV 3 of WebAnno and INCEpTION | [`WebAnno`] | |
//! | pages of HTML | | [`TextFormat`] |
//! | brackets with or without colors | | [`Inline`] |
//!
//! Readers are a [`ReadOptions::reader`](dropchain::corpus::ReadOptions::reader), writers the
//! format of [`WriteOptions`](dropchain::corpus::WriteOptions). [`InputFormat`] lists all formats
//! that can be read by name, those of the library included:
//!
//! ```
//! use dropchain::corpus::{Corpus, ReadOptions};
//! use dropchain_formats::{InputFormat, SpanOptions};
//!
//! # fn main() -> dropchain::Result<()> {
//! let text = r#"{"text": "Ann left.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}"#;
//! let format: InputFormat = "spans".parse()?;
//! let options = format.apply(SpanOptions::default(), ReadOptions::default());
//! let corpus = Corpus::parse(text, "ann.json", &options)?;
//! assert_eq!(corpus.sentences()[0].labels().unwrap(), ["B-PER", "O", "O"]);
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

mod input_format;
mod marks;
mod read;
mod write;

pub use input_format::InputFormat;
pub use marks::{Escaped, MARKS_STYLE, hue, mark, marks_script};
pub use read::{
    Brat, JsonObjects, Misaligned, Overlaps, SpanOffsets, SpanOptions, Spans, WebAnno,
    annotation_files,
};
pub use write::{Inline, TextFormat, TextWriter};

/// Whether some reader of BRAT's format takes a character for the end of a line.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
