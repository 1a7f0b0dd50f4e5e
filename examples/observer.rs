//! Follows training with an observer of your own: a learning curve as comma-separated values, and
//! an end to training once the score is good enough.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::{self, Write};
use std::ops::ControlFlow;

use dropchain::corpus::ReadOptions;
use dropchain::train::{
    DevScore, End, Iteration, Lbfgs, Observer, ObserverError, Start, TrainingCorpora,
};
use dropchain::{Corpus, Result, Template, TrainOptions, Trainer};

struct LearningCurve {
    target: f64,
}

impl Observer for LearningCurve {
    fn start(&mut self, start: &Start) {
        eprintln!("{} parameters", start.model.parameters);
        println!("iteration,objective,dev");
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        let dev = iteration.dev.map_or(f64::NAN, DevScore::value);
        let mut out = io::stdout();
        writeln!(out, "{},{:.3},{dev:.4}", iteration.number, iteration.objective)?;
        Ok(if dev >= self.target { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
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
    // L2 alone, of the default strength for it.
    let options = TrainOptions::new(Lbfgs::without_noise());
    let corpora = TrainingCorpora::new(train).dev(dev);
    let mut observer = LearningCurve { target: 0.95 };
    Trainer::new(options)?.train(corpora, template, &mut observer)?;
    Ok(())
}
