//! Minimization of the objective by L-BFGS, with a warm-up if there is noise.

use std::sync::Arc;

use super::course::Course;
use super::learner::{AnyLearner, Learner, LearnerOptions, Request, fields};
use super::options::{Defaults, Lbfgs, Regularization};
use super::schedule::{Schedule, Stage, StageObjective};
use super::training_set::TrainingSet;
use crate::error::{Error, Result, check_not_negative};
use crate::objective::Terms;
use crate::optim::{
    LbfgsOptions, Objective, Outcome, SavedState, Start, StopReason, minimize_from,
};

impl Lbfgs {
    /// Returns penalties and noise as they are given, for another learner.
    pub fn unresolved(&self) -> Regularization {
        Regularization { l1: self.l1, l2: self.l2, noise: self.noise, warm_up: self.warm_up }
    }

    /// Returns the learner with other penalties and noise.
    pub fn regularized(&self, regularization: Regularization) -> Self {
        let Regularization { l1, l2, noise, warm_up } = regularization;
        Self { l1, l2, noise, warm_up, optimizer: self.optimizer.clone() }
    }

    /// Returns the strength of the L2 penalty.
    fn strength(&self) -> f64 {
        self.l2.unwrap_or(if self.noise.is_on() { Defaults::L2_WITH_NOISE } else { Defaults::L2 })
    }

    fn has_noise(&self, stage: &Stage) -> bool {
        self.noise.is_on() && stage.objective == StageObjective::WithNoise
    }

    /// Minimizes an objective in a stage, from where it starts or resumes.
    ///
    /// # Errors
    ///
    /// The objective is not finite at the start; the state to resume from is damaged.
    pub fn minimize(
        &self,
        objective: &mut impl Objective<Detail = Terms>,
        stage: &Stage,
        course: &mut Course<'_>,
    ) -> Result<Outcome<Terms>> {
        let mut options = LbfgsOptions { max_iterations: stage.limit, ..self.optimizer.clone() };
        if self.has_noise(stage) && self.noise.kind.is_fixed() && !course.set().chooses_on_dev() {
            options.improvement_tolerance.get_or_insert(Defaults::IMPROVEMENT_WITH_NOISE);
        }
        let start = match course.take_state::<SavedState<'static, Terms>>()? {
            Some(state) => Start::State(Box::new(state)),
            None => Start::Point(course.take_start()),
        };
        let l1 = course.set().l1_strengths(self.l1);
        let interrupt = course.interrupt();
        let outcome = minimize_from(objective, start, l1.as_deref(), &options, interrupt, course)?;
        if outcome.stop_reason == StopReason::NonFinite && course.is_at_start() {
            return Err(Error::NotFinite(
                "the objective is not finite at the start of training; expected smaller attribute \
                 values, or less noise"
                    .to_owned(),
            ));
        }
        Ok(outcome)
    }

    /// Returns the stages of training, with `warm_up` iterations without noise by default.
    pub fn schedule_with(&self, warm_up: usize, max_iterations: Option<usize>) -> Schedule {
        let warm_up = self.unresolved().warm_up_or(warm_up, max_iterations);
        Schedule::of_noise(self.noise.is_on().then_some(warm_up), max_iterations)
    }
}

impl From<Lbfgs> for AnyLearner {
    fn from(learner: Lbfgs) -> Self {
        Arc::new(learner)
    }
}

impl Learner for Lbfgs {
    fn options(&self) -> LearnerOptions {
        let l2 = Some(self.strength());
        LearnerOptions {
            name: Self::NAME,
            record: fields(&Self { l2, ..self.clone() }),
            regularization: Regularization { l2, ..self.unresolved() },
        }
    }

    fn with_regularization(&self, regularization: Regularization) -> Result<AnyLearner> {
        Ok(self.regularized(regularization).into())
    }

    fn check(&self, request: Request<'_>) -> Result<()> {
        match request {
            Request::Options(_) => {
                check_not_negative("L2 strength", self.l2.unwrap_or(0.0))?;
                check_not_negative("L1 strength", self.l1)?;
                self.noise.check()?;
                match self.optimizer.max_iterations {
                    None => self.optimizer.check(),
                    Some(limit) => Err(Error::parameter(format!(
                        "{limit} iterations among the options of L-BFGS; expected none, since the \
                         maximum is an option of training"
                    ))),
                }
            }
            Request::Ranks if self.noise.is_on() && self.noise.kind.is_sampled() => {
                Err(Error::parameter(
                    "`noise` monte-carlo is for comparison only, and runs in one process; expected \
                     one rank, or `dropchain train`",
                ))
            }
            Request::Ranks | Request::Start(..) | Request::Terms => Ok(()),
        }
    }

    fn schedule(&self, max_iterations: Option<usize>) -> Schedule {
        self.schedule_with(Defaults::WARM_UP, max_iterations)
    }

    fn memory(&self, set: &TrainingSet) -> usize {
        // Two points with their gradients, the direction, the best weights, and those of penalties;
        // the pairs of L-BFGS and the preconditioner are in single precision.
        let per_parameter = 8 * 8 + 4 * (2 * self.optimizer.memory + 1);
        set.memory_to_evaluate(&self.noise) + set.space().dimension() * per_parameter
    }

    fn run(&self, stage: &Stage, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        let set = course.set();
        let mut objective = course.objective(set.penalty(self.strength()));
        if self.has_noise(stage) {
            objective = objective.with_noise_except(self.noise, course.seed(), set.without_noise());
        }
        self.minimize(&mut objective, stage, course)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::train::TrainOptions;

    #[test]
    fn parameters_out_of_range_are_named() {
        let error = |change: fn(&mut Lbfgs)| {
            let mut learner = Lbfgs::default();
            change(&mut learner);
            learner.check(Request::Options(&TrainOptions::new(()))).unwrap_err().to_string()
        };
        assert!(Lbfgs::default().check(Request::Options(&TrainOptions::new(()))).is_ok());
        assert_eq!(
            error(|o| o.l2 = Some(-1.0)),
            "L2 strength -1; expected a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.l1 = f64::NAN),
            "L1 strength NaN; expected a finite number that is not negative"
        );
        assert_eq!(error(|o| o.optimizer.memory = 0), "memory of 0 pairs; expected 1 to 1000");
        assert_eq!(
            error(|o| o.optimizer.max_iterations = Some(9)),
            "9 iterations among the options of L-BFGS; expected none, since the maximum is an \
             option of training"
        );
    }

    #[test]
    fn the_default_l2_depends_on_whether_there_is_noise() {
        let l2 = |learner: Lbfgs| learner.options().regularization.l2;
        assert_eq!(l2(Lbfgs::default()), Some(Defaults::L2_WITH_NOISE));
        assert_eq!(l2(Lbfgs::without_noise()), Some(Defaults::L2));
        let mut edges = Lbfgs::without_noise();
        edges.noise.edge_dropout = Some(0.5);
        assert_eq!(l2(edges), Some(Defaults::L2_WITH_NOISE));
        assert_eq!(l2(Lbfgs::l2(0.7)), Some(0.7));
    }

    #[test]
    fn the_record_has_the_resolved_l2_and_comes_back() {
        let record = Lbfgs::without_noise().options().record;
        assert_eq!(record["l2"], 0.3);
        let back: Lbfgs = serde_json::from_value(Value::Object(record)).unwrap();
        assert_eq!(back, Lbfgs::l2(0.3));
    }
}
