//! Trains a named-entity tagger, evaluates it and saves it.
//!
//! `cargo run --example train_and_save [TRAIN DEV TEST]` takes files in CoNLL format, and without
//! arguments the sample corpus.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use dropchain::corpus::ReadOptions;
use dropchain::eval::Evaluation;
use dropchain::train::TrainingCorpora;
use dropchain::{Corpus, Result, Tagger, Template, TrainOptions, Trainer};

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [train, dev, test] = match &files[..] {
        [train, dev, test] => [train, dev, test].map(String::clone),
        [] => ["train", "dev", "test"].map(|name| format!("corpora/sample/{name}.conll")),
        _ => {
            eprintln!("usage: train_and_save [TRAIN DEV TEST]");
            std::process::exit(2);
        }
    };
    let read = |file: String| Corpus::read([file], &ReadOptions::default());
    let (train, dev, test) = (read(train)?, read(dev)?, read(test)?);

    // Templates define the attributes of a token. This one is compiled in; `docs/templates.md`
    // describes the language.
    let template = Template::shipped("ner").expect("a template of this name")?;
    let corpora = TrainingCorpora::new(train).dev(dev);
    let trained = Trainer::new(TrainOptions::default())?.train(corpora, template, &mut ())?;
    println!("best iteration: {}", trained.end.best_iteration);

    let tagger = Tagger::new(trained.model);
    let labeling = &tagger.model().header().labeling;
    let mut evaluation = Evaluation::new().with_labelings(labeling, labeling);
    for sentence in &test {
        let tagging = tagger.tag(sentence)?;
        let gold = sentence.labels().expect("a label column");
        evaluation.add(&gold, &tagger.label_names(&tagging.labels))?;
    }
    print!("{}", evaluation.conlleval());

    let path = std::env::temp_dir().join("dropchain-example.model");
    tagger.model().save(&path)?;
    println!("saved to {}", path.display());
    Ok(())
}
