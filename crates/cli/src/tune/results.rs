//! The results of a search, as a table, as JSON, in the log, and as options of `train`.

use std::path::Path;

use dropchain::train::DevScore;
use dropchain_tune::{Configuration, NoiseGain, PARAMETERS, TuneResult, text};
use serde_json::{Map, Value, json};

use crate::arguments::FileName;
use crate::config::EffectiveConfig;
use crate::progress::Progress;
use crate::training_reporter::format_pruned;
use dropchain_layout::format_table;

/// Returns the options with which `train` trains a configuration, as far as they are searched.
pub fn train_flags(configuration: &Configuration) -> String {
    let options = configuration.options.iter();
    let options =
        options.map(|(name, value)| format!("--{} {}", name.replace('_', "-"), text(value)));
    options.collect::<Vec<_>>().join(" ")
}

/// The results of a search.
pub struct Results<'a> {
    pub result: &'a TuneResult,
    /// What scores on development data count, in spans or tokens.
    pub dev_units: Option<usize>,
    pub seconds: f64,
}

impl Results<'_> {
    /// Formats the table, best configuration first, and the options of `train` that reproduce it.
    pub fn table(&self) -> String {
        let rows = self.result.table();
        let mut text = format_table(rows.into_iter());
        if let Some(best) = self.result.trials.first() {
            let best = train_flags(&best.configuration);
            let uncertainty = self.uncertainty().unwrap_or_default();
            text += &format!("\n{uncertainty}best: {best}\n");
        }
        if let Some(gain) = &self.result.noise_gain {
            text += &format!("{}\n", self.format_gain(gain));
        }
        text
    }

    /// Says how uncertain scores on development data are: the standard error of the best one as a
    /// proportion of spans or tokens, which is too small as far as these depend on one another.
    fn uncertainty(&self) -> Option<String> {
        let best = self.result.trials.first()?.score.as_ref()?.score;
        let units = self.dev_units.filter(|&units| units > 0)?;
        let error = 100.0 * (best.value() * (1.0 - best.value()) / units as f64).sqrt();
        let what = match best {
            DevScore::F1(_) => "spans",
            DevScore::Accuracy(_) => "tokens",
        };
        Some(format!(
            "a score on {units} {what} is uncertain by about ±{error:.2} (standard error): \
             configurations this close are not told apart\n"
        ))
    }

    /// Formats the difference between the best configurations with and without noise.
    fn format_gain(&self, gain: &NoiseGain) -> String {
        let (mean, deviation) = (100.0 * gain.mean, 100.0 * gain.standard_deviation);
        let p = if gain.p_value < 0.001 {
            "p < 0.001".to_owned()
        } else {
            format!("p = {:.3}", gain.p_value)
        };
        format!(
            "dropout over the best without: {mean:+.2} ± {deviation:.2} points of {}, ahead in {} \
             of {} folds ({p})",
            self.result.metric(),
            gain.ahead,
            gain.fold_differences.len()
        )
    }

    /// Returns all results as one JSON object.
    pub fn json(&self) -> Map<String, Value> {
        let mut results = json!(self.result);
        results["seconds"] = json!(self.seconds);
        results.as_object_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the last line of the log.
    pub fn end_line(&self) -> Map<String, Value> {
        let mut line = self.json();
        line.shift_remove("configurations");
        let best = self.result.trials.first().map(|best| best.number);
        line.insert("best".to_owned(), json!(best));
        line
    }

    /// Prints notices about the outcome, and what became of the model.
    pub fn print_notices(&self, model: &Path, progress: &Progress) {
        let result = self.result;
        if let Some(pruned) = &result.pruned {
            progress.println(&format_pruned(pruned));
        }
        if let Some(rounded) = &result.rounded {
            progress.println(&rounded.to_string());
        }
        for (option, name) in
            [("dropout", "dropout"), ("edge_dropout", "edge dropout"), ("l2", "L2")]
        {
            progress.println_all(suggestion(result, option, name));
        }
        if result.interrupted {
            progress.println("interrupted: not all configurations were trained to the end");
        }
        if let Some(iterations) = result.refit_iterations {
            progress.println(&format!("retrained on all data for {iterations} iterations"));
        }
        if result.has_learned() {
            progress.println(&format!("wrote {}", model.display()));
        }
    }

    /// Returns the options with which `train` trains the best configuration of a search with these
    /// options and templates; `has_models`: training continues from models.
    pub fn train_options(
        &self,
        config: &EffectiveConfig,
        templates: &[FileName],
        has_models: bool,
    ) -> Map<String, Value> {
        let settings = &self.result.settings;
        let is_kept = |key: &str| {
            let option = key.replace('-', "_");
            !["folds", "random"].contains(&key)
                && !PARAMETERS.iter().any(|parameter| parameter.option == option)
                && (settings.has_noise() || !["noise", "unlabeled"].contains(&key))
        };
        let mut options = config.options.clone();
        options.retain(|key, _| is_kept(key));
        let Some(best) = self.result.trials.first() else {
            return options;
        };
        let mut set = |key: &str, value: Value| drop(options.insert(key.to_owned(), value));
        for (option, value) in &best.configuration.options {
            set(&option.replace('_', "-"), value.clone());
        }
        if let Some(template) = templates.get(best.configuration.template) {
            set("template", json!(template));
            // With several templates, a search leaves `ner` as it is.
            if templates.len() > 1 && !has_models && &**template == "ner" {
                set("document", json!("sentence"));
            }
        }
        if let (Some(iterations), Some(score)) = (self.result.refit_iterations, &best.score) {
            if settings.has_noise() {
                set("warm-up", json!(settings.warm_up()));
            }
            set("max-iterations", json!(iterations));
            set("recall-bias", json!(score.recall_bias));
        }
        options
    }
}

/// Suggests extending the search if the best value of an option is the smallest or largest of
/// several.
fn suggestion(result: &TuneResult, option: &str, name: &str) -> Option<String> {
    let trials = result.trials.iter();
    let values = trials.filter_map(|trial| trial.configuration.value(option).as_f64());
    let best = values.clone().next()?;
    let is_largest = values.clone().all(|x| x <= best);
    let is_smallest = values.clone().all(|x| x >= best);
    let (end, direction) = match (is_largest, is_smallest) {
        (true, false) => ("largest", "larger"),
        (false, true) if best > 0.0 => ("smallest", "smaller"),
        _ => return None,
    };
    Some(format!(
        "the best {name}, {best}, is the {end} value tried; {direction} values may be better"
    ))
}
