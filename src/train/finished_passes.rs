//! The passes of a training run that have ended, as checkpoints hold them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::events::{DevScore, End, EndReason};
use super::folds::Folds;
use super::trained::Trained;
use crate::error::Result;
use crate::model::Model;
use crate::second_pass::Prediction;

/// What the passes that have ended leave to those that follow.
#[derive(Default)]
pub(super) struct FinishedPasses {
    /// The result of the first pass.
    pub first: Option<FirstPassResult>,
    /// For each fold whose model is done: the predictions for its sentences.
    pub folds: Vec<Vec<Prediction>>,
}

/// The result of the first pass.
#[derive(Clone)]
pub(super) struct FirstPassResult {
    pub model: Arc<Model>,
    pub end: End,
}

impl From<Trained> for FirstPassResult {
    fn from(trained: Trained) -> Self {
        Self {
            model: Arc::new(trained.model),
            end: trained.end,
        }
    }
}

impl FirstPassResult {
    /// Returns the first pass alone as the result of training that ended early, for `reason`.
    ///
    /// # Errors
    ///
    /// Same as [`Model::from_bytes`].
    pub fn alone(self, reason: EndReason) -> Result<Trained> {
        Ok(Trained {
            model: match Arc::try_unwrap(self.model) {
                Ok(model) => model,
                Err(shared) => Model::from_bytes(shared.as_bytes().to_vec())?,
            },
            end: End { reason, ..self.end },
            is_first_pass: true,
        })
    }
}

/// The stored form of [`FinishedPasses`].
#[derive(Serialize, Deserialize)]
pub(super) struct StoredPasses<'a> {
    first: Option<StoredFirst<'a>>,
    folds: Cow<'a, [Vec<Prediction>]>,
}

#[derive(Serialize, Deserialize)]
struct StoredFirst<'a> {
    model: Cow<'a, [u8]>,
    #[serde(with = "StoredEnd")]
    end: End,
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

    /// Returns the stored form.
    pub fn stored(&self) -> StoredPasses<'_> {
        StoredPasses {
            first: self.first.as_ref().map(|first| StoredFirst {
                model: Cow::Borrowed(first.model.as_bytes()),
                end: first.end.clone(),
            }),
            folds: Cow::Borrowed(&self.folds),
        }
    }
}

impl TryFrom<StoredPasses<'static>> for FinishedPasses {
    type Error = crate::error::Error;

    /// Reads the model, and checks that it is not damaged.
    ///
    /// # Errors
    ///
    /// Those of [`Model::from_bytes`] and [`Model::verify`].
    fn try_from(stored: StoredPasses<'static>) -> Result<Self> {
        let restore = |first: StoredFirst<'static>| -> Result<FirstPassResult> {
            let model = Model::from_bytes(first.model.into_owned())?;
            model.verify()?;
            Ok(FirstPassResult {
                model: Arc::new(model),
                end: first.end,
            })
        };
        Ok(Self {
            first: stored.first.map(restore).transpose()?,
            folds: stored.folds.into_owned(),
        })
    }
}
