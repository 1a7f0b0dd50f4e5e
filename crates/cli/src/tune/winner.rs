//! The options with which `train` trains the best configuration of a search.

use dropchain::train::{NoiseKind, TrainSettings};
use dropchain_tune::TuneResult;
use serde_json::{Map, Value, json};

use crate::config::{EffectiveConfig, options_of};
use crate::definition;
use crate::file_name::FileName;

/// Options that mean something else to a search: what it tries, and the order in which it does.
const SEARCHED: [&str; 10] = [
    "template",
    "dropout",
    "edge-dropout",
    "l2",
    "l1",
    "unlabeled-weight",
    "warm-start",
    "warm-up",
    "gradient",
    "seed",
];

/// Options that `train` rejects without noise.
const OF_NOISE: [&str; 6] = [
    "noise",
    "masks",
    "samples",
    "unlabeled",
    "unlabeled-format",
    "discover",
];

/// The best configuration of a search.
pub struct Winner<'a> {
    /// The options of the search.
    pub config: &'a EffectiveConfig,
    pub result: &'a TuneResult,
    /// The templates of the search.
    pub templates: &'a [FileName],
    /// Whether training continues from models.
    pub has_models: bool,
}

impl Winner<'_> {
    /// Returns the options of `train`.
    pub fn options(&self) -> Map<String, Value> {
        let program = definition();
        let [train, tune] = ["train", "tune"].map(|name| program.find_subcommand(name));
        let (Some(train), Some(tune)) = (train, tune) else {
            return Map::new();
        };
        let settings = &self.result.settings;
        let mut searched = self.searched(settings);
        let mut options = Map::new();
        for (key, _) in options_of(train) {
            let is_kept = options_of(tune).any(|(other, _)| other == key)
                && !SEARCHED.contains(&key)
                && (settings.has_noise() || !OF_NOISE.contains(&key));
            let kept = self.config.options.get(key).filter(|_| is_kept);
            if let Some(value) = searched.remove(key).or_else(|| kept.cloned()) {
                options.insert(key.to_owned(), value);
            }
        }
        options
    }

    /// Returns what the search found.
    fn searched(&self, settings: &TrainSettings) -> Map<String, Value> {
        let mut found = Map::new();
        let mut set = |key: &str, value: Value| drop(found.insert(key.to_owned(), value));
        let Some(best) = self.result.trials.first() else {
            return found;
        };
        let was_given = |key: &str| self.config.options.contains_key(key);
        let configuration = &best.configuration;
        if let Some(template) = self.templates.get(configuration.template) {
            set("template", json!(template));
            // With several templates, a search leaves `ner` as it is.
            if self.templates.len() > 1 && !self.has_models && &**template == "ner" {
                set("document", json!("sentence"));
            }
        }
        set("dropout", json!(configuration.dropout));
        set("l2", json!(configuration.l2));
        if configuration.l1 > 0.0 {
            set("l1", json!(configuration.l1));
        }
        if settings.has_noise() {
            set("edge-dropout", json!(configuration.edge_dropout));
            if was_given("unlabeled") {
                set("unlabeled-weight", json!(configuration.unlabeled_weight));
            }
            if was_given("gradient") {
                set("gradient", json!(settings.regularization().noise.gradient));
            }
        }
        let is_random = !settings.learner().ends_with_weights()
            || settings.regularization().noise.kind == NoiseKind::MonteCarlo;
        if was_given("seed") && is_random {
            set("seed", json!(settings.options().seed));
        }
        let is_refit = self.result.refit_iterations.is_some();
        if settings.has_noise() && (was_given("warm-up") || is_refit) {
            set("warm-up", json!(self.result.settings.warm_up()));
        }
        if let Some(iterations) = self.result.refit_iterations {
            set("max-iterations", json!(iterations));
            set("recall-bias", json!(best.recall_bias));
        }
        found
    }
}
