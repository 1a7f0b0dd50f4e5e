//! Tests of readers and writers together, and helpers for the tests of the parsers.

#[cfg(feature = "train")]
mod memory;
mod supervision;

use std::io::Cursor;
use std::sync::{Arc, Mutex};

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
    assert_eq!(reader.with_copy(Box::new(Shared(Arc::clone(&copy)))).count(), 3);
    assert_eq!(*copy.lock().unwrap(), bytes);
}
