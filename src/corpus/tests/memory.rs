//! Corpora built in memory are equivalent to those read from files.

use super::*;
use crate::{Template, TrainOptions, Trainer};

/// Sentences of words with part of speech and label.
const SENTENCES: [&[[&str; 3]]; 3] = [
    &[["Ada", "NNP", "B-PER"], ["left", "VBD", "O"], ["London", "NNP", "B-LOC"]],
    &[["in", "IN", "O"], ["London", "NNP", "B-LOC"]],
    &[["she", "PRP", "O"], ["met", "VBD", "O"], ["Ada", "NNP", "B-PER"]],
];

fn column(sentence: &'static [[&'static str; 3]], column: usize) -> Vec<&'static str> {
    sentence.iter().map(|row| row[column]).collect()
}

/// The corpus built from [`SENTENCES`].
fn built() -> Corpus {
    let build = |sentence| {
        let columns = [("word", column(sentence, 0)), ("pos", column(sentence, 1))];
        Sentence::from_columns(columns)?.with_labels(column(sentence, 2))
    };
    SENTENCES.into_iter().map(build).collect::<Result<Corpus>>().unwrap()
}

/// The corpus parsed from the text of [`SENTENCES`], which is named `name`.
fn parsed(name: &str) -> Corpus {
    let text = SENTENCES
        .map(|sentence| sentence.iter().map(|row| row.join("\t") + "\n").collect::<String>());
    let options = ReadOptions {
        columns: Some(["word", "pos", "label"].map(str::to_owned).to_vec()),
        ..options(Format::Conll)
    };
    Corpus::parse(text.join("\n"), name, &options).unwrap()
}

/// The bytes of a model trained on `corpus`.
fn model_bytes(corpus: Corpus, template: Option<&str>) -> Vec<u8> {
    let options = TrainOptions { max_iterations: Some(5), ..TrainOptions::default() };
    let template = template.map(|source| {
        Template::parse(source, "t.tpl", &mut |_| unreachable!("no files are named")).unwrap()
    });
    let trained = Trainer::new(options).unwrap().train(corpus, template, &mut ()).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    trained.model.save(file.path()).unwrap();
    std::fs::read(file.path()).unwrap()
}

#[test]
fn training_in_memory_and_on_a_file_yields_the_same_model_bytes() {
    // Sentences without a file have the name of standard input, which is part of the provenance.
    let template = Some("word\npos\nword[-1]\n");
    assert_eq!(model_bytes(built(), template), model_bytes(parsed("-"), template));
    let text = "B\tw=Ada\tlength:3\nO\tw=left\n";
    let parsed = Corpus::parse(text, "-", &options(Format::Crfsuite)).unwrap();
    let tokens = [vec![("w=Ada", 1.0), ("length", 3.0)], vec![("w=left", 1.0)]];
    let built = Sentence::from_attributes(tokens).unwrap();
    let built: Corpus = [built.with_labels(["B", "O"]).unwrap()].into_iter().collect();
    assert_eq!(model_bytes(built, None), model_bytes(parsed, None));
}
