//! A learner of your own: Rprop (Riedmiller and Braun 1993), which moves each weight against the
//! sign of its derivative, by a step that grows while the sign stays.
#![allow(clippy::print_stdout)]

use std::sync::Arc;

use dropchain::corpus::ReadOptions;
use dropchain::kernel::objective::Terms;
use dropchain::kernel::optim::{Iteration, Objective, Outcome, StopReason};
use dropchain::kernel::train::{
    AnyLearner, Course, Learner, LearnerOptions, Regularization, Stage,
};
use dropchain::train::TrainingCorpora;
use dropchain::{Corpus, Result, Template, TrainOptions, Trainer};
use serde_json::Map;

#[derive(Debug)]
struct Rprop {
    l2: f64,
}

impl Learner for Rprop {
    fn options(&self) -> LearnerOptions {
        let regularization = Regularization { l2: Some(self.l2), ..Regularization::none() };
        let record = Map::from_iter([("l2".to_owned(), self.l2.into())]); // models have it
        LearnerOptions { name: "rprop", record, regularization }
    }

    fn run(&self, stage: &Stage, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        let mut objective = course.objective(course.set().penalty(self.l2));
        let start = course.take_start();
        let zeros = vec![0.0; start.len()];
        let state = (0, start, zeros.clone(), vec![0.1; zeros.len()]);
        // An interrupted run goes on where its checkpoint is.
        let (mut number, mut theta, mut last, mut steps) = course.take_state()?.unwrap_or(state);
        loop {
            let mut gradient = zeros.clone();
            let (value, terms) = objective.evaluate(&theta, &mut gradient);
            let iteration = Iteration::new(number, value, &terms, &theta);
            if course.iteration(&iteration, None).is_break() || course.is_interrupted() {
                return Ok(iteration.outcome(StopReason::Interrupted));
            } else if stage.limit.is_some_and(|limit| number >= limit) {
                return Ok(iteration.outcome(StopReason::MaxIterations));
            }
            for (i, &g) in gradient.iter().enumerate() {
                let factor = if g * last[i] < 0.0 { 0.5 } else { 1.2 };
                steps[i] = f64::clamp(steps[i] * factor, 1e-6, 1.0);
                theta[i] -= if g == 0.0 { 0.0 } else { g.signum() * steps[i] };
            }
            (number, last) = (number + 1, gradient);
            course.save(false, || (number, &theta, &last, &steps));
        }
    }
}

fn main() -> Result<()> {
    let read = |name| Corpus::read([format!("corpora/sample/{name}")], &ReadOptions::default());
    let corpora = TrainingCorpora::new(read("train.conll")?).dev(read("dev.conll")?);
    let template = Template::shipped("minimal").expect("a template of this name")?;
    let learner: AnyLearner = Arc::new(Rprop { l2: 0.3 });
    let options = TrainOptions { max_iterations: Some(30), ..TrainOptions::new(learner) };
    let trained = Trainer::new(options)?.train(corpora, template, &mut ())?;
    println!("{} after {} iterations", trained.end.reason, trained.end.iterations);
    trained.model.save(std::env::temp_dir().join("dropchain-learner.model"))
}

#[test]
fn a_model_is_trained() {
    main().unwrap();
}
