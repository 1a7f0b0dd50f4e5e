//! A regularizer of your own: smooth L1, c·Σ(√(w² + ε²) − ε) over the weights w of attributes, as
//! a term of the objective. ε begins large and is halved in rounds: the term has state.
#![allow(clippy::print_stdout)]

use std::borrow::Cow;

use dropchain::corpus::ReadOptions;
use dropchain::kernel::objective::{Term, TermInput};
use dropchain::kernel::optim::{Change, Round};
use dropchain::{Corpus, Result, Template, TrainOptions, Trainer};

#[derive(Clone, Debug)]
struct SmoothL1 {
    strength: f64,     // c
    width: [f64; 1],   // ε, the state
    least: f64,        // ε in the end
    first: u64,        // iteration at which the round began
    next: Option<u64>, // and the next one, if it is due
}

impl Term for SmoothL1 {
    fn add(&mut self, input: TermInput<'_>, gradient: &mut [f64]) -> f64 {
        let TermInput { theta, space, .. } = input;
        if let Some(iteration) = self.next.take() {
            (self.width[0], self.first) = (self.width[0] / 2.0, iteration);
        }
        let (c, [width], scales) = (self.strength, self.width, space.scales());
        let mut value = 0.0;
        for i in space.nodes.range.clone() {
            // A parameter θ is that of m attributes that always occur together, of weight θ/√m.
            let (root, weight) = (scales[i], theta[i] / scales[i]);
            let length = weight.hypot(width);
            value += c * root * root * (length - width);
            gradient[i] += c * root * weight / length;
        }
        value
    }

    fn begin_iteration(&mut self, iteration: u64, is_converged: bool) -> Change {
        let age = iteration - self.first;
        let is_due = self.width[0] > self.least && (age >= 10 || is_converged && age > 0);
        self.next = is_due.then_some(iteration);
        if is_due { Change::Round } else { Change::None } // the point is evaluated again
    }

    fn round(&self) -> Option<Round<'_>> {
        Some(Round { first: self.first, numbers: Cow::Borrowed(&self.width) })
    }

    fn resume_round(&mut self, round: Round<'static>) {
        self.first = round.first;
        self.width[0] = round.numbers[0];
    }
}

fn main() -> Result<()> {
    let corpus = Corpus::read(["corpora/sample/dev.conll"], &ReadOptions::default())?;
    let template = Template::shipped("minimal").expect("a template of this name")?;
    let term = SmoothL1 { strength: 0.1, width: [1.0], least: 0.01, first: 0, next: None };
    let options = TrainOptions { max_iterations: Some(40), ..TrainOptions::default() };
    let options = options.with_term(term); // dropout and its warm-up stay
    let trained = Trainer::new(options)?.train(corpus, template, &mut ())?;
    println!("{} after {} iterations", trained.end.reason, trained.end.iterations);
    trained.model.save(std::env::temp_dir().join("dropchain-term.model"))
}

#[test]
fn a_model_is_trained() {
    main().unwrap();
}
