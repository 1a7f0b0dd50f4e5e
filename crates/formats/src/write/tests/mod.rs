//! Tests of the writers, and helpers for the tests of the formats.

mod round_trip;
mod texts;

use std::io::Cursor;
use std::sync::Arc;

use dropchain::corpus::{
    Format, OutputFormat, ReadOptions, Reader, Tagged, WriteFormat, WriteOptions, Writer,
};
use dropchain::{Result, Sentence};
use proptest::prelude::*;

use crate::{Inline, InputFormat, SpanOptions, TextFormat};

/// Reads an input to be tagged.
pub fn read(format: Format, text: &str) -> Vec<Sentence> {
    sentences(InputFormat::Core(format), text, true).unwrap()
}

fn sentences(format: InputFormat, text: &str, unlabeled: bool) -> Result<Vec<Sentence>> {
    let options = ReadOptions { unlabeled, ..ReadOptions::default() };
    let options = format.apply(SpanOptions::default(), options);
    Reader::from_read(Box::new(Cursor::new(text.to_owned())), "x", &options).collect()
}

/// Writes sentences and returns the output.
pub fn written(options: &WriteOptions, tagged: &[Tagged]) -> Result<String> {
    let mut writer = Writer::new(Vec::new(), "out", options)?;
    for sentence in tagged {
        writer.write(sentence)?;
    }
    writer.finish()?;
    Ok(String::from_utf8(writer.into_inner()).unwrap())
}

/// Writes the first sentence of `text` with these labels and returns the output.
pub fn one(options: &WriteOptions, format: Format, text: &str, labels: &[&str]) -> String {
    let sentences = read(format, text);
    let tagged = Tagged::new(&sentences[0], labels.to_vec());
    written(options, &[tagged]).unwrap()
}

pub fn label_studio() -> TextFormat {
    TextFormat::LabelStudio { model: "ner".to_owned() }
}

/// Every output format.
fn all_formats() -> [Arc<dyn WriteFormat>; 11] {
    [
        Arc::new(OutputFormat::Conll),
        Arc::new(OutputFormat::Conllu),
        Arc::new(OutputFormat::Jsonl),
        Arc::new(Inline { color: false }),
        Arc::new(Inline { color: true }),
        Arc::new(TextFormat::Html),
        Arc::new(TextFormat::Displacy),
        Arc::new(TextFormat::Spans),
        Arc::new(TextFormat::Doccano),
        Arc::new(label_studio()),
        Arc::new(TextFormat::Brat),
    ]
}

fn options(format: Arc<dyn WriteFormat>) -> WriteOptions {
    WriteOptions { format, ..WriteOptions::new(Inline::default()) }
}

#[test]
fn sentences_without_columns_can_be_written_in_every_format() {
    let sentence = Sentence::from_attributes([[("w=Ada", 1.0)]]).unwrap();
    for format in all_formats() {
        let tagged = Tagged::new(&sentence, vec!["B-X"]);
        assert!(!written(&options(format), &[tagged]).unwrap().is_empty());
    }
}

#[test]
fn document_boundaries_are_omitted_in_lines() {
    let sentences = read(Format::Conll, "a\n\n-DOCSTART-\n\nb\n");
    let boundary = Tagged::new(&sentences[1], Vec::new());
    let inline = options(Arc::new(Inline::default()));
    assert_eq!(written(&inline, &[boundary]).unwrap(), "");
}

/// Reads `text` in `format` and writes its sentences in every output format.
fn round_trip(text: &str, format: InputFormat, unlabeled: bool) {
    for sentence in sentences(format, text, unlabeled).unwrap_or_default() {
        for format in all_formats() {
            let labels = vec!["B-A"; sentence.len()];
            // Some formats cannot represent some cells: that is an error, not a panic.
            let _ = written(&options(format), &[Tagged::new(&sentence, labels)]);
        }
    }
}

/// JSON lines, mostly with the keys that the reader looks for.
const OBJECT: &str = concat!(
    r#"\{"text": ?"(\PC|\\n){0,6}", ?"(spans|label)": ?\["#,
    r#"(\[[0-3],[1-4],"A"\]|\{"start":[0-3],"end":[1-4],"label":"A"\})?\]\}"#,
    "\n"
);

proptest! {
    #[test]
    fn no_text_makes_a_reader_or_a_writer_panic(
        text in "(\\PC|[\n\n\n\t\t \r#:\\\\\"]|-DOCSTART-|1-2|[1-3]|2\\.1|(\t_){9}\n){0,40}",
        object in OBJECT,
    ) {
        for format in InputFormat::ALL {
            for unlabeled in [false, true] {
                round_trip(&text, format, unlabeled);
                round_trip(&object, format, unlabeled);
            }
        }
    }
}
