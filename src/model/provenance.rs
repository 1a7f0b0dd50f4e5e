//! What a model records of its origin and its training. It has no effect on predictions or the
//! fingerprint. The result of training and the configuration that the user asked for are fields of
//! its options.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(feature = "train")]
use crate::error::{Error, Result};
#[cfg(feature = "train")]
use crate::sentence::{Checksum, SourceFile};

/// The variable whose seconds since 1970 are the date of all that is made, by the convention of
/// reproducible builds.
#[cfg(feature = "train")]
const DATE: &str = "SOURCE_DATE_EPOCH";

/// The name of sentences without a file.
#[cfg(feature = "train")]
const IN_MEMORY: &str = "in memory";

/// The field of the stored options that holds the recall bias of a model that was continued from
/// another.
pub const APPLIED_RECALL_BIAS: &str = "applied_recall_bias";

/// The field of the options that holds the configuration.
pub(super) const CONFIG: &str = "config";

/// How a model was trained.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of dropchain that trained the model.
    pub version: String,
    /// When it was trained, in seconds since 1970, as the variable `SOURCE_DATE_EPOCH` of the
    /// environment says; `None` without it, so that the same data yield the same bytes.
    pub date: Option<u64>,
    /// What it was trained on.
    pub files: Vec<FileRecord>,
    /// Number of training sentences.
    pub sentences: u64,
    /// Number of training tokens.
    pub tokens: u64,
    /// All training options, as JSON, and how training ended ([`Provenance::training`]).
    pub options: String,
}

impl Provenance {
    /// Returns the configuration that was recorded by
    /// [`Model::with_config`](super::Model::with_config), if there is one.
    pub fn config(&self) -> Option<Value> {
        self.parsed_options().get_mut(CONFIG).map(Value::take)
    }

    /// Returns the training options alone, without the configuration and the result of training;
    /// null if there are none.
    pub fn training_options(&self) -> Value {
        let mut options = self.parsed_options();
        if let Some(options) = options.as_object_mut() {
            options.shift_remove(CONFIG);
            options.shift_remove(TrainingRecord::KEY);
        }
        options
    }

    /// Returns the record of training; `None` if the model has none: it was not trained by
    /// dropchain, or by another optimizer.
    pub fn training(&self) -> Option<TrainingRecord> {
        let mut options = self.parsed_options();
        serde_json::from_value(options.get_mut(TrainingRecord::KEY)?.take()).ok()
    }

    /// Returns the options; null if they are not JSON.
    pub(super) fn parsed_options(&self) -> Value {
        serde_json::from_str(&self.options).unwrap_or_default()
    }
}

/// How training ended. Stored with the options ([`Provenance::options`]); it does not depend on the
/// machine or the clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// Number of iterations.
    pub iterations: usize,
    /// The iteration whose weights the model has; 0 is where training starts.
    pub best_iteration: usize,
    /// Why training stopped, by its name in logs; `None` after a search, if the best configuration
    /// was trained again on all data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The recall bias, chosen on development data or set by the user.
    pub recall_bias: f64,
    /// What regularized the weights of that iteration, such as `dropout 0.3, edges 0.6, L2 0.1`;
    /// without the noise, if they have seen none.
    pub regularization: String,
    /// How much noise they have seen, if training was to have noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseExposure>,
    /// What the development data are, if they were held out of the training data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<String>,
    /// F1 on development data, if labels encode spans: of the iteration of the model, before
    /// pruning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_f1: Option<f64>,
    /// Accuracy on development data, if labels encode no spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_accuracy: Option<f64>,
    /// The mean of the score and of those of up to four iterations before it, by which the
    /// iteration was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_mean: Option<f64>,
}

/// How much noise the weights of a model have seen in a training run that was to have noise. What
/// earlier runs had, whose models it continued, does not count.
///
/// Training with noise begins without it. If it ends in that warm-up, the model is one of the
/// penalties alone, whatever noise was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseExposure {
    /// The noise that was asked for, by its name, such as `dropout`.
    pub kind: String,
    /// Number of iterations with noise that the weights have seen; 0 if they are those of the
    /// warm-up.
    pub iterations: usize,
    /// Number of iterations without noise, before those with it.
    pub warm_up: usize,
    /// The highest mean score of the iterations with noise on development data, if the weights are
    /// those of the warm-up because they scored better.
    pub lost: Option<f64>,
}

impl NoiseExposure {
    /// Returns how much noise the weights of iteration `kept` have seen.
    pub fn new(kind: String, kept: usize, warm_up: usize) -> Self {
        Self { kind, iterations: kept.saturating_sub(warm_up), warm_up, lost: None }
    }

    /// Returns whether the weights have seen any noise.
    pub fn is_any(&self) -> bool {
        self.iterations > 0
    }
}

impl TrainingRecord {
    /// The field of the stored options that holds the record.
    pub const KEY: &str = "result";

    /// Returns the score on development data, if there were any, and its name: `F1` or `accuracy`.
    pub fn dev_score(&self) -> Option<(&'static str, f64)> {
        self.dev_f1.map(|f1| ("F1", f1)).or_else(|| Some(("accuracy", self.dev_accuracy?)))
    }

    /// Returns the number of iterations with noise that the weights have seen; `None` if training
    /// was to have no noise.
    pub fn noisy_iterations(&self) -> Option<usize> {
        self.noise.as_ref().map(|noise| noise.iterations)
    }

    /// Says that the weights have seen no noise and why, if training was to have some.
    pub fn warning_of_noise(&self) -> Option<String> {
        let noise = self.noise.as_ref().filter(|noise| !noise.is_any())?;
        let percent = |value: f64| format!("{:.2}", 100.0 * value);
        let iteration = self.best_iteration;
        let metric = self.dev_score().map_or("score", |(metric, _)| metric);
        Some(match (self.dev_mean, noise.lost) {
            (Some(kept), Some(lost)) => format!(
                "kept iteration {iteration}, before the noise: on the development data {} did \
                 not help (mean {metric} {} against {}); `dropout` 0 trains such a model from the \
                 start",
                noise.kind,
                percent(kept),
                percent(lost)
            ),
            _ => format!(
                "kept iteration {iteration}, before the noise began: {} has no part in this \
                 model, only {}; `dropout` 0 with the same penalties does the same",
                noise.kind, self.regularization
            ),
        })
    }

    /// Adds the record to options in JSON.
    pub fn add_to(&self, options: &mut Value) {
        options[Self::KEY] = serde_json::to_value(self).unwrap_or_default();
    }
}

/// What a file is to training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileRole {
    /// Labeled sentences.
    Train,
    /// Development data.
    Dev,
    /// Sentences without labels.
    Unlabeled,
    /// The template.
    Template,
    /// A file that the template looks words up in: a gazetteer, clusters or the text that they
    /// were learned from, vectors.
    Resource,
    /// The model whose weights training started at.
    Init,
    /// The model that the penalty pulled towards.
    Towards,
}

crate::named!(FileRole, "role": Train = "train", Dev = "dev", Unlabeled = "unlabeled",
    Template = "template", Resource = "resource", Init = "init", Towards = "towards");

/// What a model records of a file that it was trained on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// What the file was to training.
    pub role: FileRole,
    /// Its name as given by the user, `-` for standard input; `in memory` of sentences without one.
    pub name: String,
    /// Size of the file in bytes, as read; `None` of sentences in memory, and of models.
    pub bytes: Option<u64>,
    /// Number of its sentences in this role; `None` of other files.
    pub sentences: Option<u64>,
    /// XXH3 of 64 bits of the file, or of the contents of sentences in memory, in hexadecimal; of
    /// a model its fingerprint ([`Model::fingerprint`](super::Model::fingerprint)).
    pub xxh3: String,
}

#[cfg(feature = "train")]
impl FileRecord {
    /// Records a file. `content` returns a hash of sentences that were not read from a file.
    pub(crate) fn new(role: FileRole, file: &SourceFile, content: impl FnOnce() -> u64) -> Self {
        let read = file.checksum();
        // Sentences in memory have the name of standard input, or one that no file has.
        let is_unnamed = read.is_none() && (**file == *"-" || file.contains('\0'));
        let checksum = read.unwrap_or_else(|| Checksum { bytes: 0, xxh3: content() });
        Self {
            role,
            name: if is_unnamed { IN_MEMORY.to_owned() } else { file.to_string() },
            bytes: read.map(|read| read.bytes),
            sentences: None,
            xxh3: checksum.to_string(),
        }
    }
}

/// Returns the date that the environment sets for what is made, in seconds since 1970.
///
/// # Errors
///
/// [`Error::Parameter`] if it is no number of seconds.
#[cfg(feature = "train")]
pub(crate) fn source_date() -> Result<Option<u64>> {
    let Some(value) = std::env::var_os(DATE) else { return Ok(None) };
    let seconds = value.to_str().and_then(|text| text.trim().parse().ok());
    let fault = || format!("{DATE} is {value:?}; expected seconds since 1970, or no such variable");
    seconds.map(Some).ok_or_else(|| Error::parameter(fault()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_without_the_noise_that_was_asked_for_are_warned_of() {
        let noise = |kept| Some(NoiseExposure::new("dropout".to_owned(), kept, 20));
        let mut record = TrainingRecord {
            best_iteration: 14,
            regularization: "L2 0.1".to_owned(),
            noise: noise(14),
            dev_f1: Some(0.3725),
            ..TrainingRecord::default()
        };
        let warning = "kept iteration 14, before the noise began: dropout has no part in this \
                       model, only L2 0.1; `dropout` 0 with the same penalties does the same";
        assert_eq!(record.warning_of_noise().unwrap(), warning);
        record.dev_mean = Some(0.3712);
        record.noise.as_mut().unwrap().lost = Some(0.366);
        let warning = "kept iteration 14, before the noise: on the development data dropout did \
                       not help (mean F1 37.12 against 36.60); `dropout` 0 trains such a model \
                       from the start";
        assert_eq!(record.warning_of_noise().unwrap(), warning);
        assert_eq!(record.noisy_iterations(), Some(0));
        record.noise = noise(25);
        assert_eq!((record.warning_of_noise(), record.noisy_iterations()), (None, Some(5)));
        record.noise = None;
        assert_eq!((record.warning_of_noise(), record.noisy_iterations()), (None, None));
    }
}
