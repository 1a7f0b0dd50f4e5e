//! Tests of readers and writers together, and helpers for the tests of the parsers.

mod memory;
mod supervision;

use std::io::Cursor;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::error::Result;
use crate::sentence::Sentence;

/// Options for one format.
pub fn options(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..ReadOptions::default() }
}

/// The sentences of `text`, a file named `x`.
pub fn sentences(text: &str, options: &ReadOptions) -> Result<Vec<Sentence>> {
    let input = Box::new(Cursor::new(text.as_bytes().to_vec()));
    Reader::from_read(input, "x", options).collect()
}

/// The message of the error that reading `text` ends with.
pub fn error(text: &str, options: &ReadOptions) -> String {
    sentences(text, options).unwrap_err().to_string()
}

/// Reads `text` in `format` and writes its sentences in every output format.
fn round_trip(text: &str, format: Format, unlabeled: bool) {
    let lines = LineRules { comments: unlabeled, header: false };
    let options = ReadOptions { unlabeled, lines, ..options(format) };
    for sentence in sentences(text, &options).unwrap_or_default() {
        for output in [OutputFormat::Conll, OutputFormat::Conllu, OutputFormat::Jsonl] {
            let mut writer = Writer::new(Vec::new(), "x", &WriteOptions::new(output)).unwrap();
            let labels = vec!["B-A"; sentence.len()];
            // Some formats cannot represent some cells: that is an error, not a panic.
            let _ = writer.write(&Tagged::new(&sentence, labels));
        }
    }
}

/// JSON lines, mostly with the keys that the reader looks for.
const OBJECT: &str = concat!(
    r#"\{"(tokens|text|labels)": ?("(\PC|\\n){0,4}"|\[("a")?(,"[bé]")?\])"#,
    r#"(, ?"pos":\[("N")?\])?\}"#,
    "\n"
);

proptest! {
    #[test]
    fn no_text_makes_a_reader_or_a_writer_panic(
        text in "(\\PC|[\n\n\n\t\t \r#:\\\\\"]|-DOCSTART-|1-2|[1-3]|2\\.1|(\t_){9}\n){0,40}",
        object in OBJECT,
    ) {
        for format in Format::ALL {
            for unlabeled in [false, true] {
                round_trip(&text, format, unlabeled);
                round_trip(&object, format, unlabeled);
            }
        }
    }
}

/// A buffer that the test can look at.
struct Shared(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn wide_and_deep_inputs_are_read_or_errors() {
    let wide = |item: &dyn Fn(u32) -> String| -> String { (2..40_000).map(item).collect() };
    let row = format!("a{} X\n", wide(&|column| format!(" c{column}")));
    assert_eq!(
        error(&(row + "a O\n"), &options(Format::Conll)),
        "x:2: expected 40000 columns (word 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 … and \
         39980 more), found 2"
    );
    let jsonl = options(Format::Jsonl);
    let object = |members: &str| format!("{{\"tokens\":[\"a\"],\"labels\":[\"X\"]{members}}}\n");
    let many = object(&wide(&|key| format!(",\"k{key}\":[\"c\"]")));
    assert_eq!(sentences(&many, &jsonl).unwrap()[0].schema().width(), 40_000);
    let repeated = many.replacen("\"k39999\"", "\"k2\"", 1);
    assert_eq!(error(&repeated, &jsonl), "x:1: the key \"k2\" occurs twice");
    for depth in [100, 100_000] {
        let nested = "[".repeat(depth) + &"]".repeat(depth);
        let tokens = format!("{{\"tokens\":{nested},\"labels\":[]}}\n");
        assert!(error(&tokens, &jsonl).starts_with("x:1:"));
        // What nobody reads is ignored, or too deep.
        let _ = sentences(&object(&format!(",\"other\":{nested}")), &jsonl);
    }
    let token = format!("X{}\n", "\ta".repeat(1_000_000));
    assert_eq!(sentences(&token, &options(Format::Crfsuite)).unwrap()[0].len(), 1);
}

#[test]
fn a_copy_of_the_input_has_its_bytes() {
    let bytes = "\u{feff}a\r\n\r\n b\nc".as_bytes();
    let copy = Arc::new(Mutex::new(Vec::new()));
    let options = options(Format::Text);
    let reader = Reader::from_read(Box::new(bytes), "x", &options);
    let reader = reader.with_copy(Box::new(Shared(Arc::clone(&copy))));
    assert_eq!(reader.count(), 3);
    assert_eq!(*copy.lock().unwrap(), bytes);
}
