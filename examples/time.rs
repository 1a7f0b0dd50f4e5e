//! Times training and tagging with the library, for programs of any release profile
//! (`.ci/profile`).
//!
//! `cargo run --release --example time` prints the seconds of training and of tagging the sample
//! corpus, the best of several runs.

#![allow(clippy::print_stdout)] // prints its results

use std::time::Instant;

use dropchain::corpus::ReadOptions;
use dropchain::train::TrainingCorpora;
use dropchain::{Corpus, Result, Tagger, Template, TrainOptions, Trainer};

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "corpora/sample".to_owned());
    let columns = ["word", "upos", "ner"].map(str::to_owned).to_vec();
    let options = ReadOptions { columns: Some(columns), ..ReadOptions::default() };
    let read = |name: &str| Corpus::read([format!("{folder}/{name}.conll")], &options);
    let (train, test) = (read("train")?, read("test")?);
    let (mut training, mut tagging) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let clock = Instant::now();
        let options = TrainOptions { max_iterations: Some(40), ..TrainOptions::default() };
        let corpora = TrainingCorpora::new(train.clone());
        let template: Template = Template::shipped("ner").expect("a template of this name")?;
        let trained = Trainer::new(options)?.train(corpora, template, &mut ())?;
        training = training.min(clock.elapsed().as_secs_f64());
        let tagger = Tagger::new(trained.model);
        let clock = Instant::now();
        for sentence in (0..100).flat_map(|_| &test) {
            tagger.tag(sentence)?;
        }
        tagging = tagging.min(clock.elapsed().as_secs_f64());
    }
    println!("{training:.4} {tagging:.4}");
    Ok(())
}
