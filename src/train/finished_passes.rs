//! The passes of a training run that have ended, as checkpoints hold them.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::events::{DevScore, End, EndReason};
use super::folds::Folds;
use crate::model::Model;
use crate::second_pass::Prediction;

/// What the passes that have ended leave to those that follow.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct FinishedPasses {
    /// The result of the first pass.
    pub first: Option<FirstPassResult>,
    /// For each fold whose model is done: the predictions for its sentences.
    pub folds: Vec<Vec<Prediction>>,
}

/// The result of the first pass.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct FirstPassResult {
    #[serde(with = "model_bytes")]
    pub model: Arc<Model>,
    #[serde(with = "StoredEnd")]
    pub end: End,
}

/// All fields of an [`End`], of which a log has some.
#[derive(Serialize, Deserialize)]
#[serde(remote = "End")]
struct StoredEnd {
    reason: EndReason,
    iterations: usize,
    warm_up: usize,
    time: Duration,
    best_iteration: usize,
    recall_bias: f64,
    dev: Option<DevScore>,
}

impl FinishedPasses {
    /// Returns the predictions for the sentences of all folds, in order.
    pub fn predictions(&self, folds: &Folds) -> Vec<&Prediction> {
        let held_out = folds.held_out().iter().flatten();
        let mut numbered: Vec<(usize, &Prediction)> =
            held_out.copied().zip(self.folds.iter().flatten()).collect();
        numbered.sort_unstable_by_key(|&(number, _)| number);
        numbered
            .into_iter()
            .map(|(_, prediction)| prediction)
            .collect()
    }
}

/// Models as the bytes of their files.
mod model_bytes {
    use std::sync::Arc;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::Model;

    pub fn serialize<S: Serializer>(model: &Arc<Model>, serializer: S) -> Result<S::Ok, S::Error> {
        model.as_bytes().serialize(serializer)
    }

    /// Checks that the model is not damaged.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Model>, D::Error> {
        let model = Model::from_bytes(Vec::deserialize(deserializer)?);
        let verified = model.and_then(|model| model.verify().map(|()| model));
        verified.map(Arc::new).map_err(D::Error::custom)
    }
}
