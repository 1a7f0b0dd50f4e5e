//! Hidden units: how many, and where θ has their weights.

use super::settings::TrainSettings;
use crate::chain::LabelWeights;
use crate::ids::LabelId;
use crate::model::output_score;
use crate::score::ParameterSpace;

/// The hidden units of a training set.
#[derive(Clone, Copy, Debug)]
pub(super) struct HiddenUnits {
    pub count: usize,
    /// Of the weights that training starts from.
    pub seed: u64,
}

impl HiddenUnits {
    /// Returns the hidden units of the settings, if there are any.
    pub fn of(settings: &TrainSettings) -> Option<Self> {
        let options = settings.options();
        (options.hidden > 0).then_some(Self {
            count: options.hidden,
            seed: options.seed,
        })
    }
}

/// The weights from hidden units to the score of the second label.
pub(super) struct HiddenOutput {
    inputs: Vec<f64>,      // [K] c
    pub weights: Vec<f64>, // [K] w
    pub bias: f64,
}

impl HiddenOutput {
    /// Takes them from θ.
    pub fn new(space: &ParameterSpace, theta: &[f64]) -> Self {
        let mut weights = LabelWeights::default();
        space.label_weights(theta, &mut weights);
        Self {
            inputs: weights.start,
            weights: weights.end,
            bias: theta.get(space.dimension()).copied().unwrap_or(0.0),
        }
    }

    /// Returns the label of a document, given α·x, at least `[K]`, which is overwritten.
    pub fn predict(&self, inputs: &mut [f64]) -> LabelId {
        for (input, bias) in inputs.iter_mut().zip(&self.inputs) {
            *input += bias;
        }
        LabelId(u16::from(
            output_score(&self.weights, self.bias, inputs) > 0.0,
        ))
    }
}
