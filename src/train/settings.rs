//! The parameters of training, checked.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::base_models::{BaseModels, stored_boundary};
use super::learner::{AnyLearner, AnyOptions, Learner, Request};
use super::options::{CommonOptions, Regularization, TrainOptions};
use super::schedule::Schedule;
use crate::chain::Order;
use crate::error::{Error, Result, check_not_negative};
use crate::label::Scheme;
use crate::score::Boundary;

/// [`TrainOptions`] within their ranges.
///
/// Serializes like the options, with the strength of the L2 penalty under `l2`.
#[derive(Clone, Debug)]
pub struct TrainSettings {
    options: CommonOptions,
    learner: AnyLearner,
    regularization: Regularization,
}

impl TrainSettings {
    /// Checks `options`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] naming the option that is out of its range.
    pub fn new(options: TrainOptions<impl Into<AnyLearner>>) -> Result<Self> {
        let options: AnyOptions = options.replace_method(Into::into);
        let learner = Arc::clone(&options.method);
        let options = options.with_method(());
        learner.check(Request::Options(&options))?;
        if !options.terms.is_empty() {
            learner.check(Request::Terms)?;
        }
        check_finite("minimum frequency", options.structure.min_frequency)?;
        check_not_negative("weight of copies without case", options.attributes.caseless)?;
        if options.attributes.min_count == 0 {
            return Err(Error::parameter("minimum count 0; expected 1 or more"));
        }
        check_not_negative("pruning threshold", options.storage.prune)?;
        check_finite("recall bias", options.recall_bias)?;
        Ok(Self { regularization: learner.regularization(), learner, options })
    }

    /// Returns settings with other penalties and noise.
    ///
    /// # Errors
    ///
    /// A value is out of range, or the learner does not have what it is of.
    pub fn with_regularization(&self, regularization: Regularization) -> Result<Self> {
        let learner = self.learner.with_regularization(regularization)?;
        Self::new(self.options.clone().with_method(learner))
    }

    /// Returns the options with the learner.
    pub fn all_options(&self) -> AnyOptions {
        self.options.clone().with_method(Arc::clone(&self.learner))
    }

    /// Returns the options without the learner, all within their ranges.
    pub fn options(&self) -> &TrainOptions<()> {
        &self.options
    }

    /// Returns the learner.
    pub fn learner(&self) -> &dyn Learner {
        &*self.learner
    }

    /// Returns penalties and noise, with a number for `l2`.
    pub fn regularization(&self) -> &Regularization {
        &self.regularization
    }

    /// Returns the strength c2 of the L2 penalty.
    pub fn l2(&self) -> f64 {
        self.regularization.l2.unwrap_or(0.0)
    }

    /// Returns whether there is any noise.
    pub fn has_noise(&self) -> bool {
        self.regularization.noise.is_on()
    }

    /// Returns the stages of training.
    pub fn schedule(&self) -> Schedule {
        self.learner.schedule(self.options.max_iterations)
    }

    /// Returns the number of iterations without noise before those with it, if there is noise.
    pub fn warm_up(&self) -> usize {
        self.schedule().warm_up()
    }

    /// Returns the settings for training that continues from weights: without a warm-up, unless the
    /// options ask for one. Noise prevents rare attributes from gaining weight, and these have.
    #[must_use]
    pub fn continuing(mut self) -> Self {
        self.regularization.warm_up.get_or_insert(0);
        if let Ok(learner) = self.learner.with_regularization(self.regularization) {
            self.learner = learner;
        }
        self
    }
}

impl Serialize for TrainSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.all_options().serialize(serializer)
    }
}

impl BaseModels<'_> {
    /// Checks that the models are not damaged, have the structure that the options ask for, and are
    /// the only start of training.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if a model is damaged; [`Error::Parameter`] naming both values that differ.
    pub fn check(&self, settings: &TrainSettings) -> Result<()> {
        let options = settings.options();
        for (role, model) in self.iter() {
            model.verify()?;
            let header = model.header();
            let path = model.path().display();
            settings.learner().check(Request::Start(role, &path.to_string()))?;
            let conflict = |option: &str, expected: &str, own: &str| {
                Error::parameter(format!(
                    "{option}, but {role} {path} has {own}; expected {expected}, since a model is \
                     continued with its own structure"
                ))
            };
            let [order, own] = [options.structure.order, header.order].map(Order::name);
            if order != own {
                let (option, expected) = (format!("`order` {order}"), format!("`order` {own}"));
                return Err(conflict(&option, &expected, &format!("order {own}")));
            }
            let [boundary, own] =
                [options.structure.boundary, stored_boundary(model)].map(Boundary::name);
            if boundary != own {
                let own = format!("`boundary` {own}");
                return Err(conflict(&format!("`boundary` {boundary}"), &own, &own));
            }
            if options.labels.scheme != Scheme::Raw && header.labeling != options.labels.scheme {
                let option = format!("`scheme` {}", options.labels.scheme);
                let own = format!("labels in the scheme {}", header.labeling.scheme);
                return Err(conflict(&option, "no `scheme`", &own));
            }
        }
        let schemes = [self.init, self.towards].map(|model| Some(model?.header().labeling.scheme));
        if let [Some(init), Some(towards)] = schemes
            && init != towards
        {
            return Err(Error::parameter(format!(
                "the labels of the model of `init` are in the scheme {init}, those of `towards` in \
                 {towards}; expected models with labels in the same scheme"
            )));
        }
        Ok(())
    }
}

/// Checks a number that may be missing.
fn check_finite(name: &str, value: Option<f64>) -> Result<()> {
    match value.filter(|value| !value.is_finite()) {
        Some(value) => Err(Error::parameter(format!("{name} {value}; expected a finite number"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Lbfgs;
    use crate::train::options::Defaults;

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
            error(|o| o.storage.prune = f64::INFINITY),
            "pruning threshold inf; expected a finite number that is not negative"
        );
        assert_eq!(error(|o| o.attributes.min_count = 0), "minimum count 0; expected 1 or more");
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
