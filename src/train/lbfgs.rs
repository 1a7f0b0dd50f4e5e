//! Minimization of the objective by L-BFGS, with a warm-up if there is noise.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::course::Course;
use super::learner::{AnyLearner, Learner, Regularization, fields};
use super::noise_options::{FeatureNoise, NoiseOptions, check_not_negative};
use super::options::{AnyOptions, Defaults};
use super::training_set::TrainingSet;
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::objective::{NoiseMemory, PenalizedLikelihood, Terms, required_memory};
use crate::optim::{
    LbfgsOptions, LbfgsSettings, OptimizerState, Outcome, Start, StopReason, minimize_from,
};

/// Minimizes the penalized likelihood with its noise term by L-BFGS; with an L1 penalty, OWL-QN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lbfgs {
    /// Strength c2 of the L2 penalty c2·‖θ‖² (c2 = 1/(2C) of CRF++, 1/(2σ²) of Stanford NER).
    /// `None`: [`Defaults::L2_WITH_NOISE`] with noise, [`Defaults::L2`] without.
    pub l2: Option<f64>,
    /// Strength c1 of the L1 penalty c1·‖θ‖₁.
    pub l1: f64,
    /// The noise term.
    #[serde(flatten)]
    pub noise: NoiseOptions,
    /// Number of warm-up iterations, without noise, before those with it. R is not convex: starting
    /// from θ = 0, noise prevents rare attributes from ever gaining weight. `None`:
    /// [`Defaults::WARM_UP`], or half of the maximum number of iterations if that is less. Ignored
    /// without noise.
    pub warm_up: Option<usize>,
    /// Options of the optimizer. Its `max_iterations` must be `None`: that of training counts.
    #[serde(rename = "lbfgs", skip_serializing_if = "is_default", default)]
    pub optimizer: LbfgsOptions,
}

fn is_default(options: &LbfgsOptions) -> bool {
    *options == LbfgsOptions::default()
}

impl Lbfgs {
    /// The name.
    pub const NAME: &'static str = "lbfgs";

    /// Without noise, with this strength of the L2 penalty.
    #[must_use]
    pub fn l2(strength: f64) -> Self {
        Self {
            l2: Some(strength),
            ..Self::without_noise()
        }
    }

    /// With dropout of this rate.
    #[must_use]
    pub fn dropout(rate: f64) -> Self {
        Self {
            noise: NoiseOptions::dropout(rate),
            ..Self::default()
        }
    }

    /// Without noise.
    #[must_use]
    pub fn without_noise() -> Self {
        Self::dropout(0.0)
    }

    /// Returns penalties and noise as they are given, for another learner.
    #[must_use]
    pub fn unresolved(&self) -> Regularization {
        Regularization {
            l1: self.l1,
            l2: self.l2,
            noise: self.noise.clone(),
            warm_up: self.warm_up,
        }
    }

    /// Returns the strength of the L2 penalty.
    fn strength(&self) -> f64 {
        self.l2.unwrap_or(match self.noise.is_on() {
            true => Defaults::L2_WITH_NOISE,
            false => Defaults::L2,
        })
    }

    /// Minimizes one objective from `start`, in at most `limit` iterations.
    fn minimize(
        &self,
        objective: &mut PenalizedLikelihood,
        start: Start<Terms>,
        limit: Option<usize>,
        course: &mut Course<'_>,
    ) -> Result<Outcome<Terms>> {
        let lbfgs = LbfgsSettings::new(LbfgsOptions {
            max_iterations: limit,
            ..self.optimizer.clone()
        })?;
        let l1 = course.set().l1_strengths(self.l1);
        let interrupt = course.interrupt();
        let outcome = minimize_from(objective, start, l1.as_deref(), &lbfgs, interrupt, course)?;
        if outcome.stop_reason == StopReason::NonFinite && course.is_at_start() {
            return Err(Error::NotFinite(
                "the objective is not finite at the start of training; expected smaller attribute \
                 values, or less noise"
                    .to_owned(),
            ));
        }
        Ok(outcome)
    }
}

impl From<Lbfgs> for AnyLearner {
    fn from(learner: Lbfgs) -> Self {
        Arc::new(learner)
    }
}

impl Learner for Lbfgs {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn record(&self) -> Map<String, Value> {
        fields(&Self {
            l2: Some(self.strength()),
            ..self.clone()
        })
    }

    fn check(&self, order: Order) -> Result<()> {
        check_not_negative("L2 strength", self.l2.unwrap_or(0.0))?;
        check_not_negative("L1 strength", self.l1)?;
        self.noise.check(order)?;
        if let Some(limit) = self.optimizer.max_iterations {
            return Err(Error::parameter(format!(
                "{limit} iterations among the options of L-BFGS; expected none, since the maximum \
                 is an option of training"
            )));
        }
        LbfgsSettings::new(self.optimizer.clone()).map(|_| ())
    }

    fn regularization(&self) -> Regularization {
        Regularization {
            l2: Some(self.strength()),
            ..self.unresolved()
        }
    }

    fn with_regularization(&self, regularization: Regularization) -> Result<AnyLearner> {
        let Regularization {
            l1,
            l2,
            noise,
            warm_up,
        } = regularization;
        let optimizer = self.optimizer.clone();
        Ok(AnyLearner::from(Self {
            l2,
            l1,
            noise,
            warm_up,
            optimizer,
        }))
    }

    fn default_warm_up(&self) -> usize {
        Defaults::WARM_UP
    }

    fn check_ranks(&self) -> Result<()> {
        match self.noise.feature_noise(0) {
            Some(FeatureNoise::MonteCarlo(_)) => Err(Error::parameter(
                "--noise monte-carlo is for comparison only, and runs in one process; expected one \
                 rank, or `dropchain train`",
            )),
            _ => Ok(()),
        }
    }

    fn memory(&self, set: &TrainingSet, options: &AnyOptions) -> usize {
        let noise = self.noise.feature_noise(options.seed);
        let noise_memory = match &noise {
            None => NoiseMemory::None,
            Some(FeatureNoise::Analytic(noise)) => NoiseMemory::Analytic(noise),
            Some(FeatureNoise::MonteCarlo(_)) => NoiseMemory::MonteCarlo,
        };
        let is_reweighted = matches!(
            &noise,
            Some(FeatureNoise::Analytic(noise)) if noise.term.round().is_some()
        );
        // Two points with their gradients and the direction; the best weights; with L1 the
        // pseudo-gradient and the strengths; what single weights have of their own.
        let doubles = 6
            + 2 * usize::from(set.has_l1(self.l1))
            + 3 * usize::from(is_reweighted)
            + 3 * usize::from(set.has_own_strengths());
        // The pairs of L-BFGS and the preconditioner are in single precision.
        let per_parameter = 8 * doubles + 4 * (2 * self.optimizer.memory + 1);
        required_memory(set.data(), set.space(), noise_memory)
            .saturating_add(set.space().dimension().saturating_mul(per_parameter))
    }

    fn learn(&self, course: &mut Course<'_>) -> Result<Outcome<Terms>> {
        let set = course.set();
        let noise = self.noise.feature_noise(course.options().seed);
        if let Some(noise) = &noise {
            noise.check_labels(set.space().labels())?;
        }
        let mut objective = course.objective(set.penalty(self.strength()));
        let state = course.take_state::<OptimizerState<'static, Terms>>(Self::NAME)?;
        let mut start = match state {
            Some(state) => Start::State(Box::new(state)),
            None => Start::Point(course.take_start()),
        };
        let warm_up = course.warm_up(self.default_warm_up());
        let is_new = matches!(start, Start::Point(_));
        if is_new && noise.is_some() && warm_up > 0 && !course.is_segment() {
            course.begin_stage();
        }
        if course.is_stage() {
            // Segments have a warm-up of their own.
            let left = course.iterations_left();
            let limit = match course.is_segment() {
                true => left,
                false => Some(left.map_or(warm_up, |left| left.min(warm_up))),
            };
            let outcome = self.minimize(&mut objective, start, limit, course)?;
            let is_last = left == Some(outcome.iterations) || course.is_segment();
            if outcome.stop_reason == StopReason::Interrupted || is_last {
                return Ok(outcome);
            }
            course.end_stage(&outcome);
            start = Start::Point(outcome.x);
        }
        if let Some(noise) = noise {
            objective = with_noise(objective, set, noise);
        }
        if course.is_segment() {
            objective = objective.resume_at(course.earlier_iterations() as u64);
        }
        let left = course.iterations_left();
        self.minimize(&mut objective, start, left, course)
    }
}

/// Adds a noise term to an objective on `set`.
fn with_noise(
    objective: PenalizedLikelihood,
    set: &TrainingSet,
    noise: FeatureNoise,
) -> PenalizedLikelihood {
    let amounts = set.attribute_noise(&noise);
    match noise {
        FeatureNoise::Analytic(noise) => objective.with_attribute_noise(noise, amounts),
        FeatureNoise::MonteCarlo(sampling) => objective.with_attribute_sampling(sampling, amounts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_named() {
        let error = |change: fn(&mut Lbfgs)| {
            let mut learner = Lbfgs::default();
            change(&mut learner);
            learner.check(Order::One).unwrap_err().to_string()
        };
        assert!(Lbfgs::default().check(Order::One).is_ok());
        assert_eq!(
            error(|o| o.l2 = Some(-1.0)),
            "L2 strength -1; expected a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.l1 = f64::NAN),
            "L1 strength NaN; expected a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.optimizer.memory = 0),
            "memory of 0 pairs; expected 1 to 1000"
        );
        assert_eq!(
            error(|o| o.optimizer.max_iterations = Some(9)),
            "9 iterations among the options of L-BFGS; expected none, since the maximum is an \
             option of training"
        );
    }

    #[test]
    fn the_default_l2_depends_on_whether_there_is_noise() {
        let l2 = |learner: Lbfgs| learner.regularization().l2;
        assert_eq!(l2(Lbfgs::default()), Some(Defaults::L2_WITH_NOISE));
        assert_eq!(l2(Lbfgs::without_noise()), Some(Defaults::L2));
        let mut edges = Lbfgs::without_noise();
        edges.noise.edge_dropout = Some(0.5);
        assert_eq!(l2(edges), Some(Defaults::L2_WITH_NOISE));
        assert_eq!(l2(Lbfgs::l2(0.7)), Some(0.7));
    }

    #[test]
    fn the_record_has_the_resolved_l2_and_comes_back() {
        let record = Lbfgs::without_noise().record();
        assert_eq!(record["l2"], 0.3);
        let back: Lbfgs = serde_json::from_value(Value::Object(record)).unwrap();
        assert_eq!(back, Lbfgs::l2(0.3));
    }
}
