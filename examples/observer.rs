//! Follows training with an observer of your own: a learning curve as comma-separated values.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use dropchain::corpus::ReadOptions;
use dropchain::train::{DevScore, End, Iteration, Observer, Start, TrainingCorpora};
use dropchain::{Corpus, Result, Template, TrainOptions, Trainer};

struct LearningCurve;

impl Observer for LearningCurve {
    fn start(&mut self, start: &Start<'_>) {
        eprintln!("{} parameters", start.parameters);
        println!("iteration,objective,dev");
    }

    fn iteration(&mut self, iteration: &Iteration) {
        let dev = iteration.dev.map_or(f64::NAN, DevScore::value);
        println!("{},{:.3},{dev:.4}", iteration.number, iteration.objective);
    }

    fn end(&mut self, end: &End) {
        eprintln!("{}; best iteration: {}", end.reason, end.best_iteration);
    }
}

fn main() -> Result<()> {
    let read = |file| Corpus::read([file], &ReadOptions::default());
    let train = read("corpora/sample/train.conll")?;
    let dev = read("corpora/sample/dev.conll")?;
    let template = Template::shipped("ner").expect("a template of this name")?;
    let options = TrainOptions {
        dropout: 0.0, // L2 alone, of the default strength for it
        ..TrainOptions::default()
    };
    let corpora = TrainingCorpora::new(train).dev(dev);
    Trainer::new(options)?.train(corpora, template, &mut LearningCurve)?;
    Ok(())
}
