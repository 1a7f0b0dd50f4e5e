//! What the parameters of a learner mean, if they are not those of a tagger.

use serde_json::Value;

use super::events::DevScore;
use super::training_set::TrainingSet;
use crate::error::Result;
use crate::model::{Precision, TrainingRecord};

/// Predicts with the parameters θ of a learner, which are not laid out as those of a tagger
/// ([`TrainingSet::space`]), and makes a model file of its own kind.
pub trait Predictor {
    /// Returns the parameters that training starts from.
    fn start(&self, set: &TrainingSet) -> Vec<f64>;

    /// Returns the number of parameters to report.
    fn parameters(&self, set: &TrainingSet) -> usize;

    /// Counts the weights of single attributes that are not 0.
    fn nonzero_weights(&self, set: &TrainingSet, theta: &[f64]) -> usize;

    /// Returns the score on the development data of the set, if there are any.
    fn score(&self, set: &TrainingSet, theta: &[f64]) -> Option<DevScore>;

    /// Sets the weights of attributes to 0 whose absolute value is below a threshold. Returns the
    /// number of those that are not 0, before and after.
    fn prune(&self, set: &TrainingSet, theta: &mut [f64], threshold: f64) -> [usize; 2];

    /// Rounds the weights of attributes to a precision.
    fn round(&self, set: &TrainingSet, theta: &mut [f64], precision: Precision);

    /// Makes the file of the model. `options` are those of training, as models record them.
    ///
    /// # Errors
    ///
    /// A weight is too large for the precision of the model.
    fn encode(
        &self,
        set: &TrainingSet,
        theta: &[f64],
        precision: Precision,
        options: Value,
        record: &TrainingRecord,
    ) -> Result<Vec<u8>>;
}

/// Returns the parameters where training starts, of a predictor or of a tagger.
pub(super) fn start_of(predictor: Option<&dyn Predictor>, set: &TrainingSet) -> Vec<f64> {
    predictor.map_or_else(|| set.start(), |predictor| predictor.start(set))
}
