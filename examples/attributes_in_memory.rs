//! Trains and tags with pre-extracted attributes, without a template and without files.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use dropchain::{Corpus, Result, Sentence, Tagger, TrainOptions, Trainer};

/// The attributes of a word: names, and a value for each.
fn attributes(word: &str) -> Vec<(String, f64)> {
    vec![
        (format!("word={word}"), 1.0),
        (
            format!("capitalized={}", word.starts_with(char::is_uppercase)),
            1.0,
        ),
        ("length".to_owned(), word.chars().count() as f64 / 10.0),
    ]
}

fn sentence(text: &str) -> Result<Sentence> {
    Sentence::from_attributes(text.split(' ').map(attributes))
}

fn main() -> Result<()> {
    let corpus = [
        ("Ada lived in London", "B-PER O O B-LOC"),
        ("Charles left London", "B-PER O B-LOC"),
        ("she died in Marylebone", "O O O B-LOC"),
    ];
    let corpus = corpus
        .into_iter()
        .map(|(text, labels)| sentence(text)?.with_labels(labels.split(' ')))
        .collect::<Result<Corpus>>()?;
    let trained = Trainer::new(TrainOptions::default())?.train(corpus, None, &mut ())?;

    let tagger = Tagger::new(trained.model);
    let text = "Charles lived in Marylebone";
    let tagging = tagger.tag(&sentence(text)?)?;
    println!("{text}\n{}", tagger.label_names(&tagging.labels).join(" "));
    Ok(())
}
