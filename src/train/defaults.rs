//! The defaults of training.

use crate::noise::Engine;
use crate::objective::{NoiseKind, NoiseOptions};

/// The defaults of [`TrainOptions`](super::TrainOptions), for help texts.
pub struct Defaults;

impl Defaults {
    /// Strength of the L2 penalty without noise.
    pub const L2: f64 = 0.3;
    /// Strength of the L2 penalty with noise.
    pub const L2_WITH_NOISE: f64 = 0.1;
    /// Dropout rate.
    pub const DROPOUT: f64 = 0.3;
    /// Weight of an unlabeled sentence.
    pub const UNLABELED_WEIGHT: f64 = 0.02;
    /// With more labels, only observed pairs of attribute and label get a weight.
    pub const MANY_LABELS: usize = 256;
    /// Warm-up iterations.
    pub const WARM_UP: usize = 20;
    /// With noise and without development data, which choose the iteration otherwise: training
    /// stops if the objective fell by less than this fraction of its value in ten iterations.
    pub const IMPROVEMENT_WITH_NOISE: f64 = 3e-3;
    /// Random seed.
    pub const SEED: u64 = 1;
    /// Iterations without a better score before training stops.
    pub const PATIENCE: usize = 40;
}

/// Whether it is the default, which logs and models do not mention.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for NoiseOptions {
    fn default() -> Self {
        Self {
            kind: NoiseKind::Dropout,
            dropout: Defaults::DROPOUT,
            edge_dropout: None,
            gradient: Engine::Exact,
            unlabeled_weight: Defaults::UNLABELED_WEIGHT,
        }
    }
}
