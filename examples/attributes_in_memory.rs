//! Trains with ready-made attributes, without a template and without files.
//!
//! Attributes are interned as they come, and training borrows the corpus, so that several models
//! are trained on it without a copy. `cargo run --example attributes_in_memory [FILE]` takes a file
//! in CRFsuite's format, sentence by sentence, and prints how much memory the corpus takes.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use dropchain::corpus::{Format, ReadOptions, Reader};
use dropchain::train::{AttributeCorpus, Lbfgs};
use dropchain::{Result, Sentence, Tagger, TrainOptions, Trainer};

/// The attributes of a word: names, and a value for each.
fn attributes(word: &str) -> Vec<(String, f64)> {
    vec![
        (format!("word={word}"), 1.0),
        (format!("capitalized={}", word.starts_with(char::is_uppercase)), 1.0),
        ("length".to_owned(), word.chars().count() as f64 / 10.0),
    ]
}

fn read(file: &str) -> Result<AttributeCorpus> {
    let options = ReadOptions { format: Some(Format::Crfsuite), ..ReadOptions::default() };
    let mut corpus = AttributeCorpus::new();
    for sentence in Reader::open(&[file], &options)? {
        corpus.push(&sentence?)?;
    }
    corpus.shrink_to_fit();
    Ok(corpus)
}

fn main() -> Result<()> {
    if let Some(file) = std::env::args().nth(1) {
        let corpus = read(&file)?;
        let megabytes = corpus.memory() as f64 / 1e6;
        println!("{} sentences, {megabytes:.1} MB", corpus.len());
        return Ok(());
    }
    let mut corpus = AttributeCorpus::new();
    for (text, labels) in [
        ("Ada lived in London", "B-PER O O B-LOC"),
        ("Charles left London", "B-PER O B-LOC"),
        ("she died in Marylebone", "O O O B-LOC"),
    ] {
        let sentence = Sentence::from_attributes(text.split(' ').map(attributes))?;
        corpus.push(&sentence.with_labels(labels.split(' '))?)?;
    }
    for dropout in [0.0, 0.3] {
        let options = TrainOptions::new(Lbfgs::dropout(dropout));
        let trained = Trainer::new(options)?.train_attributes(&corpus, None, &mut ())?;
        let tagger = Tagger::new(trained.model);
        let words = ["Charles", "lived", "in", "Marylebone"];
        let sentence = Sentence::from_attributes(words.map(attributes))?;
        let labels = ["B-PER", "O", "O", "B-LOC"];
        let probability = tagger.distribution(&sentence)?.probability(&labels)?;
        println!("dropout {dropout}: p({}) = {probability:.3}", labels.join(" "));
    }
    Ok(())
}
