//! End-to-end tagging on one thread, from file to file.

use std::io::Cursor;

use criterion::{Criterion, Throughput};
use dropchain::corpus::{Format, OutputFormat, ReadOptions, Reader, Tagged, WriteOptions, Writer};
use dropchain::tag::{TagOptions, Tagger, Workspace};
use dropchain::template::Template;
use dropchain::train::{TrainOptions, Trainer};

use crate::corpus;

/// A NER tagger, trained for a few iterations: all attributes have weights.
fn tagger() -> Tagger {
    let options = TrainOptions { max_iterations: Some(10), ..TrainOptions::default() };
    let template = Template::shipped("ner").unwrap().unwrap();
    let trained = Trainer::new(options).unwrap().train(corpus::sentences("ner"), template, &mut ());
    Tagger::new(trained.unwrap().model)
}

/// Tags `input` and returns the number of tokens and of output bytes.
fn tag(
    tagger: &Tagger,
    input: &str,
    reading: &ReadOptions,
    workspace: &mut Workspace,
) -> (usize, usize) {
    let input = Box::new(Cursor::new(input.to_owned()));
    let options = WriteOptions::new(OutputFormat::Conll);
    let mut writer = Writer::new(Vec::new(), "memory", &options).unwrap();
    let mut tokens = 0;
    for sentence in Reader::from_read(input, "bench corpus", reading) {
        let sentence = sentence.unwrap();
        let tagging = tagger.tag_with(&sentence, TagOptions::default(), workspace).unwrap();
        let labels = tagger.label_names(&tagging.labels);
        tokens += labels.len();
        writer.write(&Tagged::new(&sentence, labels)).unwrap();
    }
    (tokens, writer.into_inner().len())
}

/// The corpus as raw text, one sentence per line.
fn raw_text() -> String {
    let mut text = String::new();
    for sentence in corpus::sentences("ner") {
        for t in 0..sentence.len() {
            text.push_str(sentence.cell(t, 0));
            text.push(if t + 1 < sentence.len() { ' ' } else { '\n' });
        }
    }
    text
}

pub fn benches(criterion: &mut Criterion) {
    let tagger = tagger();
    let mut workspace = Workspace::default();
    let mut group = criterion.benchmark_group("tagging");

    let columns = corpus::conll();
    let reading = corpus::options("ner");
    let expected = tag(&tagger, &columns, &reading, &mut workspace);
    assert_eq!(expected.0, corpus::TOKENS);
    group.throughput(Throughput::Elements(corpus::TOKENS as u64));
    group.bench_function("columns", |bencher| {
        bencher.iter(|| assert_eq!(tag(&tagger, &columns, &reading, &mut workspace), expected));
    });

    let text = raw_text();
    let reading =
        ReadOptions { format: Some(Format::Text), unlabeled: true, ..ReadOptions::default() };
    // The tokenizer rarely splits a word of the corpus or joins two.
    let expected = tag(&tagger, &text, &reading, &mut workspace);
    assert!(expected.0.abs_diff(corpus::TOKENS) < corpus::TOKENS / 50, "{expected:?}");
    group.throughput(Throughput::Elements(expected.0 as u64));
    group.bench_function("raw text", |bencher| {
        bencher.iter(|| assert_eq!(tag(&tagger, &text, &reading, &mut workspace), expected));
    });
    group.finish();
}
