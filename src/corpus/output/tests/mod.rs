//! Tests of the writer, and helpers for the tests of the formats.

use std::io::Write;

use super::*;
use crate::corpus::tests::sentences;
use crate::corpus::{Format, ReadOptions};
use crate::error::{Error, Result};
use crate::sentence::{Layout, Sentence};

/// Reads an input to be tagged.
pub fn read(format: Format, text: &str) -> Vec<Sentence> {
    let options = ReadOptions { format: Some(format), unlabeled: true, ..ReadOptions::default() };
    sentences(text, &options).unwrap()
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

/// A sentence with marginals, a probability and two candidates.
pub fn full<'a>(sentence: &'a Sentence, best: &[&'a str], second: &[&'a str]) -> Tagged<'a> {
    let marginal = |(a, b): (&&'a str, &&'a str)| vec![((*a).into(), 0.75), ((*b).into(), 0.25)];
    let labels = |labels: &[&'a str]| Tagged::new(sentence, labels.to_vec()).labels;
    Tagged {
        marginals: Some(best.iter().zip(second).map(marginal).collect()),
        probability: Some(0.5),
        nbest: vec![
            Candidate { labels: labels(best), score: 2.5, probability: 0.5 },
            Candidate { labels: labels(second), score: -1.0, probability: 0.125 },
        ],
        ..Tagged::new(sentence, best.to_vec())
    }
}

/// Counts writes, and fails to flush.
struct WriteCounter(usize);

impl Write for WriteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn a_sentence_is_written_with_one_call_and_errors_name_the_stream() {
    for output in [OutputFormat::Conll, OutputFormat::Conllu, OutputFormat::Jsonl] {
        let mut writer = Writer::new(WriteCounter(0), "out", &WriteOptions::new(output)).unwrap();
        let sentences = read(Format::Conll, "a\nb\n\nc\n");
        writer.write(&Tagged::new(&sentences[0], vec!["B-X", "O"])).unwrap();
        writer.write(&Tagged::new(&sentences[1], vec!["B-X"])).unwrap();
        assert!(matches!(
            writer.flush(),
            Err(Error::Io { path, source }) if path.as_os_str() == "out"
                && source.kind() == std::io::ErrorKind::BrokenPipe
        ));
        assert_eq!(writer.into_inner().0, 2);
    }
}

#[test]
fn there_must_be_one_label_per_token() {
    let sentences = read(Format::Conll, "a\nb\n");
    let options = WriteOptions::new(OutputFormat::Jsonl);
    let error = |tagged| written(&options, &[tagged]).unwrap_err().to_string();
    assert_eq!(
        error(Tagged::new(&sentences[0], vec!["O"])),
        "x:1: 1 labels for a sentence of 2 tokens"
    );
    let mut tagged = full(&sentences[0], &["O", "O"], &["O", "O"]);
    tagged.nbest[1].labels.pop();
    assert_eq!(error(tagged.clone()), "x:1: 1 labels in a candidate for a sentence of 2 tokens");
    tagged.marginals = Some(Vec::new());
    assert_eq!(error(tagged), "x:1: 0 marginals for a sentence of 2 tokens");
}

#[test]
fn the_separator_must_be_a_tab_or_a_space() {
    let options = WriteOptions { separator: ',', ..WriteOptions::new(OutputFormat::Conll) };
    assert_eq!(
        written(&options, &[]).unwrap_err().to_string(),
        "columns cannot be separated by ',': expected a tab or a space"
    );
}

#[test]
fn document_boundaries_are_omitted_in_jsonl() {
    let mut boundary = Sentence::from_words(["-DOCSTART-"]);
    boundary.layout = Layout { document_start: true, ..Layout::default() };
    let options = WriteOptions::new(OutputFormat::Jsonl);
    let tagged = Tagged::new(&boundary, Vec::new());
    assert_eq!(written(&options, &[tagged]).unwrap(), "");
}

fn noted(input: Format, text: &str, output: OutputFormat) -> String {
    let sentences = read(input, text);
    let notes = [("score", Value::from(0.5)), ("place", Value::from("x:1"))];
    let sentence = with_notes(&sentences[0], &notes);
    let options = WriteOptions { spans: false, ..WriteOptions::new(output) };
    written(&options, &[Tagged::new(&sentence, vec!["X"])]).unwrap()
}

#[test]
fn notes_are_comments_of_columns() {
    let text = noted(Format::Conll, "a\n", OutputFormat::Conll);
    assert_eq!(text, "# score = 0.5\n# place = x:1\na\tX\n\n");
}

#[test]
fn notes_are_members_of_objects_and_replace_those_of_the_input() {
    let json = r#"{"n":1.50,"score":"old","tokens":["a"],"labels":["Y"]}"#;
    assert_eq!(
        noted(Format::Jsonl, json, OutputFormat::Jsonl),
        concat!(r#"{"score":0.5,"place":"x:1","n":1.50,"tokens":["a"],"labels":["X"]}"#, "\n")
    );
    assert!(
        noted(Format::Conll, "a\n", OutputFormat::Jsonl)
            .starts_with(r#"{"score":0.5,"place":"x:1","tokens":["a"]"#)
    );
}
