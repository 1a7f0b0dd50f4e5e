//! The parameters of training, checked.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::learner::{AnyLearner, Learner, Regularization};
use super::noise_options::{FeatureNoise, check_not_negative};
use super::options::{AnyOptions, TrainOptions};
use crate::error::{Error, Result};
use crate::extract::Dataset;
use crate::objective::Noise;
use crate::score::ParameterSpace;

/// [`TrainOptions`] within their ranges.
///
/// Serializes like the options, with the strength of the L2 penalty under `l2`.
#[derive(Clone, Debug)]
pub struct TrainSettings {
    options: AnyOptions,
    regularization: Regularization,
    l2_rule: Option<Arc<dyn L2Rule>>,
}

/// Divides the L2 strengths of single weights.
pub trait L2Rule: fmt::Debug + Send + Sync {
    /// Returns what the strength on each parameter is divided by, `[space.dimension()]`.
    fn divisors(&self, data: &Dataset, space: &ParameterSpace) -> Vec<f64>;
}

impl TrainSettings {
    /// Checks `options`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that is out of its range.
    pub fn new(options: TrainOptions<impl Into<AnyLearner>>) -> Result<Self> {
        let (learner, options) = options.take_method();
        let options = options.with_method(learner.into());
        options.method.check(options.order)?;
        check_not_negative("pruning threshold", options.prune)?;
        check_not_negative("weight of copies without case", options.caseless)?;
        let numbers = [
            ("recall bias", options.recall_bias),
            ("minimum frequency", options.min_frequency),
        ];
        for (name, number) in numbers {
            if let Some(number) = number.filter(|number| !number.is_finite()) {
                return Err(Error::parameter(format!(
                    "{name} {number}; expected a finite number"
                )));
            }
        }
        for (name, is_zero) in [
            ("minimum count", options.min_count == 0),
            ("patience", options.patience == 0),
        ] {
            if is_zero {
                return Err(Error::parameter(format!("{name} 0; expected 1 or more")));
            }
        }
        Ok(Self {
            regularization: options.method.regularization(),
            options,
            l2_rule: None,
        })
    }

    /// Divides the L2 strengths by what a rule says.
    #[must_use]
    pub fn with_l2_rule(self, rule: Arc<dyn L2Rule>) -> Self {
        Self {
            l2_rule: Some(rule),
            ..self
        }
    }

    /// Returns the rule by which L2 strengths are divided, if there is one.
    #[must_use]
    pub fn l2_rule(&self) -> Option<&Arc<dyn L2Rule>> {
        self.l2_rule.as_ref()
    }

    /// Returns settings with other options and the rule of these.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn with_options(&self, options: TrainOptions<impl Into<AnyLearner>>) -> Result<Self> {
        Ok(Self {
            l2_rule: self.l2_rule.clone(),
            ..Self::new(options)?
        })
    }

    /// Returns settings with other penalties and noise.
    ///
    /// # Errors
    ///
    /// A value is out of range, or the learner does not have what it is of.
    pub fn with_regularization(&self, regularization: Regularization) -> Result<Self> {
        let method = self.options.method.with_regularization(regularization)?;
        self.with_options(self.options.clone().with_method(method))
    }

    /// Returns the options, all within their ranges.
    #[must_use]
    pub fn options(&self) -> &AnyOptions {
        &self.options
    }

    /// Returns the learner.
    #[must_use]
    pub fn learner(&self) -> &dyn Learner {
        &*self.options.method
    }

    /// Returns penalties and noise, with a number for `l2`.
    #[must_use]
    pub fn regularization(&self) -> &Regularization {
        &self.regularization
    }

    /// Returns the strength c2 of the L2 penalty.
    #[must_use]
    pub fn l2(&self) -> f64 {
        self.regularization.l2.unwrap_or(0.0)
    }

    /// Returns whether there is any noise.
    #[must_use]
    pub fn has_noise(&self) -> bool {
        self.regularization.noise.is_on()
    }

    /// Returns the number of warm-up iterations before those with noise, if there is noise.
    #[must_use]
    pub fn warm_up(&self) -> usize {
        self.warm_up_or(self.options.method.default_warm_up())
    }

    /// Returns the number of warm-up iterations, given the default, which is at most half of the
    /// maximum number of iterations.
    pub(super) fn warm_up_or(&self, default: usize) -> usize {
        let half = self.options.max_iterations.map_or(usize::MAX, |n| n / 2);
        self.regularization.warm_up.unwrap_or(default.min(half))
    }

    /// Returns the maximum number of iterations, if there is one.
    #[must_use]
    pub fn max_iterations(&self) -> Option<usize> {
        let options = &self.options;
        options.max_iterations.or(options.method.max_iterations())
    }

    /// Returns the settings for training that continues from weights: without a warm-up, unless the
    /// options ask for one. Noise prevents rare attributes from gaining weight, and these have.
    #[must_use]
    pub fn continuing(mut self) -> Self {
        self.regularization.warm_up.get_or_insert(0);
        let regularization = self.regularization.clone();
        if let Ok(method) = self.options.method.with_regularization(regularization) {
            self.options.method = method;
        }
        self
    }

    /// Returns the noise term that is computed, not sampled.
    ///
    /// # Errors
    ///
    /// There is no noise, or it is Monte-Carlo noise.
    pub fn analytic_noise(&self) -> Result<Noise> {
        match self.feature_noise() {
            Some(FeatureNoise::Analytic(noise)) => Ok(noise),
            Some(FeatureNoise::MonteCarlo(_)) => Err(Error::parameter(
                "the noise is monte-carlo; expected noise with a quadratic regularizer",
            )),
            None => Err(Error::parameter(
                "there is no noise; expected a rate above 0",
            )),
        }
    }

    /// Returns the noise term, if there is noise.
    #[must_use]
    pub fn feature_noise(&self) -> Option<FeatureNoise> {
        let noise = &self.regularization.noise;
        noise.feature_noise(self.options.seed)
    }
}

impl Serialize for TrainSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.options.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{Defaults, Lbfgs};

    fn settings(change: impl FnOnce(&mut TrainOptions)) -> Result<TrainSettings> {
        let mut options = TrainOptions::default();
        change(&mut options);
        TrainSettings::new(options)
    }

    fn error(change: impl FnOnce(&mut TrainOptions)) -> String {
        settings(change).unwrap_err().to_string()
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        assert!(TrainSettings::new(TrainOptions::default()).is_ok());
        assert_eq!(
            error(|o| o.method.l2 = Some(-1.0)),
            "L2 strength -1; expected a finite number that is not negative"
        );
        assert_eq!(
            error(|o| o.recall_bias = Some(f64::INFINITY)),
            "recall bias inf; expected a finite number"
        );
        assert_eq!(
            error(|o| o.prune = f64::INFINITY),
            "pruning threshold inf; expected a finite number that is not negative"
        );
        assert_eq!(error(|o| o.patience = 0), "patience 0; expected 1 or more");
        assert_eq!(
            error(|o| o.min_count = 0),
            "minimum count 0; expected 1 or more"
        );
    }

    #[test]
    fn settings_serialize_as_one_object_with_the_resolved_l2() {
        let settings = settings(|o| o.method = Lbfgs::without_noise()).unwrap();
        let json = serde_json::to_value(&settings).unwrap();
        assert_eq!(json["l2"], 0.3);
        assert_eq!(json["dropout"], 0.0);
        assert_eq!(json["algorithm"], "lbfgs");
        assert_eq!(json["order"], "1");
    }

    #[test]
    fn the_warm_up_is_at_most_half_of_the_iterations_by_default() {
        let warm_up = |warm_up, max_iterations| {
            let settings = settings(|o| {
                (o.method.warm_up, o.max_iterations) = (warm_up, max_iterations);
            });
            settings.unwrap().warm_up()
        };
        assert_eq!(warm_up(None, None), Defaults::WARM_UP);
        assert_eq!(warm_up(None, Some(6)), 3);
        assert_eq!(warm_up(Some(7), None), 7);
    }
}
