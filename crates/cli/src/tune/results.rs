//! The results of a search, as a table, as JSON, in the log, and as options of `train`.

use std::path::Path;

use dropchain_tune::{Configuration, PARAMETERS, TuneResult, text};
use serde_json::{Map, Value, json};

use crate::arguments::FileName;
use crate::config::EffectiveConfig;
use crate::progress::Progress;
use crate::score_table::score_table;
use crate::training_reporter::format_pruned;
use dropchain_layout::{format_table, printable_lines, wrap};

/// Returns the options with which `train` trains a configuration, as far as they are searched.
pub fn train_flags(configuration: &Configuration) -> String {
    let options = configuration.options.iter();
    let options =
        options.map(|(name, value)| format!("--{} {}", name.replace('_', "-"), text(value)));
    options.collect::<Vec<_>>().join(" ")
}

/// Maximum number of rows in the confusion table.
const CONFUSIONS: usize = 10;

/// What the scores below the table are.
const OUT_OF_FOLD: &str = "out of fold: each sentence tagged by a model of the other folds, which \
                           was trained as the model of all data";

/// The results of a search.
pub struct Results<'a> {
    pub result: &'a TuneResult,
    pub seconds: f64,
}

impl Results<'_> {
    /// Formats the table, best configuration first, what can be said of it, the options of `train`
    /// that reproduce it, and with folds the scores of the out-of-fold predictions. On a terminal
    /// of some columns, lines break between words. Text of files in it is printable.
    pub fn table(&self, terminal: Option<usize>) -> String {
        let line = |text: &str| wrap(text, terminal.unwrap_or(usize::MAX), 2) + "\n";
        let mut text = format_table(self.result.table().into_iter()) + "\n";
        for note in self.result.notes() {
            text += &line(&note);
        }
        if let Some(best) = self.result.trials.first() {
            let flags = train_flags(&best.configuration);
            let defaults = if flags.is_empty() { "the defaults of `train`" } else { "" };
            text += &line(&format!("kept: {flags}{defaults}"));
        }
        if let Some(predictions) = &self.result.out_of_fold {
            let scores = predictions.evaluation();
            let labels = if scores.has_spans() { String::new() } else { scores.label_table() };
            let confusions = scores.confusion_table(CONFUSIONS);
            let out_of_fold = line(OUT_OF_FOLD);
            let table = match terminal {
                Some(_) => score_table(scores, None),
                None => printable_lines(&scores.to_string()).into_owned(),
            };
            let rest = format!("{labels}\n{confusions}");
            return format!(
                "{}\n{out_of_fold}{table}{}",
                printable_lines(&text),
                printable_lines(&rest)
            );
        }
        printable_lines(&text).into_owned()
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
        line.insert("table".to_owned(), json!(self.result.table()));
        line.insert("notes".to_owned(), json!(self.result.notes()));
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
            !["folds", "random", "only-defaults"].contains(&key)
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
