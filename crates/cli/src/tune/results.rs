//! The results of a search, as a table, as JSON, in the log, and as options of `train`.

use std::path::Path;

use dropchain::train::{DevScore, Lbfgs};
use dropchain_tune::{Configuration, NoiseGain, Parameter, TuneResult, text};
use serde_json::{Map, Value, json};

use crate::arguments::FileName;
use crate::config::{EffectiveConfig, options_of};
use crate::definition;
use crate::progress::Progress;
use crate::training_reporter::format_pruned;
use dropchain_layout::format_table;

/// Returns the options with which `train` trains a configuration: strengths, rates, what else was
/// searched, and the template if there are several.
pub fn train_flags(configuration: &Configuration, templates: &[String]) -> String {
    let template = (templates.len() > 1).then(|| &templates[configuration.template]);
    let template = template.map(|name| format!("--template {name}"));
    let options = configuration.options();
    let options = options.map(|(name, value)| format!("--{name} {}", text(&value)));
    template.into_iter().chain(options).collect::<Vec<_>>().join(" ")
}

/// The results of a search.
pub struct Results<'a> {
    pub result: &'a TuneResult,
    /// Short names of the templates.
    pub templates: &'a [String],
    /// What scores on development data count, in spans or tokens.
    pub dev_units: Option<usize>,
    pub seconds: f64,
}

impl Results<'_> {
    /// Formats the table, best configuration first, without its last columns if they do not fit on
    /// a terminal of this width, and the flags for `train` to reproduce it.
    pub fn table(&self, width: Option<usize>) -> String {
        let mut rows = self.result.table(self.templates);
        if let Some(width) = width {
            narrow(&mut rows, width);
        }
        let mut text = format_table(rows.into_iter());
        if let Some(best) = self.result.trials.first() {
            let best = train_flags(&best.configuration, self.templates);
            let uncertainty = self.uncertainty().unwrap_or_default();
            text += &format!("\n{uncertainty}best: {best}\n");
        }
        if let Some(gain) = self.result.noise_gain() {
            text += &format!("{}\n", self.format_gain(&gain));
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

    /// Returns all results as one JSON object, with what was read.
    pub fn json(&self, mut inputs: Map<String, Value>) -> Value {
        inputs.extend(self.result.outcome());
        inputs.insert("seconds".to_owned(), json!(self.seconds));
        let trials = self.result.trials.iter().map(|trial| trial.fields(self.templates));
        inputs.insert("configurations".to_owned(), trials.collect());
        Value::Object(inputs)
    }

    /// Returns the last line of the log.
    pub fn end_line(&self) -> Value {
        let best = self.result.trials.first().map(|best| best.number);
        let mut line = json!({"event": "end", "best": best, "seconds": self.seconds});
        if let Some(line) = line.as_object_mut() {
            line.extend(self.result.outcome());
        }
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
        for parameter in [Parameter::Dropout, Parameter::EdgeDropout, Parameter::L2] {
            progress.println_all(suggestion(result, parameter));
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
        let program = definition();
        let [train, tune] = ["train", "tune"].map(|name| program.find_subcommand(name));
        let (Some(train), Some(tune)) = (train, tune) else {
            return Map::new();
        };
        let mut found = self.found(templates, has_models);
        let settings = &self.result.settings;
        let is_random = settings.learner().name() != Lbfgs::NAME
            || settings.regularization().noise.kind.is_sampled();
        let is_kept = |key: &str| {
            options_of(tune).any(|(other, _)| other == key)
                && !Parameter::ALL.iter().any(|parameter| parameter.option() == key)
                && (settings.has_noise() || !OF_NOISE.contains(&key))
                && (is_random || key != "seed")
        };
        let options = options_of(train).filter_map(|(key, _)| {
            let kept = config.options.get(key).filter(|_| is_kept(key));
            Some((key.to_owned(), found.remove(key).or_else(|| kept.cloned())?))
        });
        options.collect()
    }

    /// Returns the options that the search found.
    fn found(&self, templates: &[FileName], has_models: bool) -> Map<String, Value> {
        let Some(best) = self.result.trials.first() else {
            return Map::new();
        };
        let mut found: Map<_, _> = best.configuration.options().collect();
        let mut set = |key: &str, value: Value| drop(found.insert(key.to_owned(), value));
        if let Some(template) = templates.get(best.configuration.template) {
            set("template", json!(template));
            // With several templates, a search leaves `ner` as it is.
            if templates.len() > 1 && !has_models && &**template == "ner" {
                set("document", json!("sentence"));
            }
        }
        if let (Some(iterations), Some(score)) = (self.result.refit_iterations, &best.score) {
            let settings = &self.result.settings;
            if settings.has_noise() {
                set("warm-up", json!(settings.warm_up()));
            }
            set("max-iterations", json!(iterations));
            set("recall-bias", json!(score.recall_bias));
        }
        found
    }
}

/// Options that `train` rejects without noise, or that have no effect then.
const OF_NOISE: [&str; 4] = ["noise", "masks", "samples", "unlabeled"];

/// Suggests extending the search if the best value of a parameter is the smallest or largest of
/// several.
fn suggestion(result: &TuneResult, parameter: Parameter) -> Option<String> {
    let values = |parameter| {
        let trials = result.trials.iter();
        trials.filter_map(move |trial| trial.configuration.value(parameter).as_f64())
    };
    let best = values(parameter).next()?;
    let is_own =
        parameter == Parameter::Dropout || values(parameter).ne(values(Parameter::Dropout));
    let is_largest = values(parameter).all(|x| x <= best);
    let is_smallest = values(parameter).all(|x| x >= best);
    let (end, direction) = match (is_largest, is_smallest) {
        (true, false) if is_own => ("largest", "larger"),
        (false, true) if is_own && best > 0.0 => ("smallest", "smaller"),
        _ => return None,
    };
    let name = parameter.name();
    Some(format!(
        "the best {name}, {best}, is the {end} value tried; {direction} values may be better"
    ))
}

/// Removes the last columns until all others fit.
fn narrow(rows: &mut [Vec<String>], width: usize) {
    let total = |rows: &[Vec<String>]| -> usize {
        let lengths = |column: usize| rows.iter().map(move |row| row[column].chars().count() + 2);
        (0..rows[0].len()).filter_map(|column| lengths(column).max()).sum()
    };
    while total(rows) > width + 2 && rows[0].len() > 1 {
        rows.iter_mut().for_each(|row| drop(row.pop()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_table_has_the_first_columns() {
        let mut rows = [["dropout", "dev F1", "stopped by"], ["0", "69.16", "max_iterations"]]
            .map(|row| row.map(str::to_owned).to_vec());
        narrow(&mut rows, 40);
        assert_eq!(rows[0].len(), 3);
        narrow(&mut rows, 20);
        assert_eq!(rows.map(|row| row.join(" ")), ["dropout dev F1", "0 69.16"]);
    }
}
