//! Reports a search: its progress to the terminal and the log, and its results as a table, as JSON,
//! in the log, and as options of `train`.

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use dropchain::Result;
use dropchain_layout::{counted, format_table, printable_lines, wrap};
use dropchain_report::log::Log;
use dropchain_tune::{
    Configuration, PARAMETERS, Plan, Search, Trial, TuneObserver, TuneResult, text,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::config::EffectiveConfig;
use crate::score_table::score_table;
use crate::training_arguments::format_match;
use crate::training_reporter::{format_megabytes, format_pruned};
use crate::{FileName, Progress, interrupt};

/// Maximum number of progress reports, unless they are shown on a terminal.
const REPORTS: usize = 36;

/// Writes the events of a search to the terminal and the log.
pub struct SearchReporter<'a> {
    pub progress: &'a Progress,
    pub search: &'a Search<'a>,
    /// The inputs, for the log.
    pub inputs: Map<String, Value>,
    pub log: Mutex<Log>,
    /// How to continue a search that was interrupted.
    pub advice: Option<String>,
    /// Set before the first run.
    pub started: OnceLock<()>,
}

/// Formats the score of a configuration, with its standard error if there are folds.
fn format_score(trial: &Trial) -> Option<String> {
    let score = trial.score.as_ref()?;
    let folds = score.folds.as_ref();
    let error = folds.map(|folds| format!(" ± {:.2}", 100.0 * folds.standard_error));
    Some(format!("{}{}", score.score, error.unwrap_or_default()))
}

/// A line of the log.
#[derive(Serialize)]
struct Line<T> {
    event: &'static str,
    #[serde(flatten)]
    fields: T,
}

impl SearchReporter<'_> {
    /// Writes the last line of the log.
    ///
    /// # Errors
    ///
    /// A line of the log could not be written.
    pub fn finish(self, fields: Map<String, Value>) -> Result<()> {
        self.log("end", fields);
        let log = self.log.into_inner();
        log.unwrap_or_else(PoisonError::into_inner).finish()
    }

    /// Writes a line of the log; an older log is replaced with the first, when the search starts.
    fn log(&self, event: &'static str, fields: impl Serialize) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(&Line { event, fields }, true);
    }
}

impl TuneObserver for SearchReporter<'_> {
    fn start(&self, plan: &Plan) {
        self.progress.println_all(plan.reading.iter().cloned());
        for (template, found) in &plan.matches {
            let template = template.as_ref().map(|name| format!("template {name}:"));
            self.progress.println_all(template);
            self.progress.println(&format_match(found));
        }
        self.progress.println(&format!(
            "{}, {}; {} in parallel; about {} of memory",
            counted(self.search.configurations.len(), "configuration"),
            counted(plan.runs, "training run"),
            plan.concurrency,
            format_megabytes(plan.memory as usize)
        ));
        if let Some(resumed) = plan.resumed {
            self.progress.println(&match resumed {
                0 => "there is nothing to resume: starting from the beginning".to_owned(),
                n => format!("resuming: {n} training runs are done"),
            });
        }
        let _ = self.started.set(());
        if let Some(advice) = &self.advice {
            interrupt::set_advice(advice.clone());
        }
        let mut fields = self.inputs.clone();
        let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        set("parameters", json!(self.search.settings));
        set("configurations", json!(self.search.configurations.len()));
        let Plan { runs, concurrency, memory, .. } = plan;
        set("plan", json!({"runs": runs, "parallel": concurrency, "memory": memory}));
        self.log("start", fields);
    }

    fn trial(&self, trial: &Trial, is_best: bool) {
        if let Some(score) = format_score(trial).filter(|_| is_best) {
            interrupt::set_has_result();
            let flags = train_flags(&trial.configuration);
            let with = if flags.is_empty() { "" } else { " with " };
            self.progress.println(&format!("best so far: {score}{with}{flags}"));
        }
        self.log("configuration", trial);
    }

    fn progress(&self, done: usize, total: usize, best: Option<&Trial>) {
        let best = best.and_then(format_score);
        let best = best.map_or(String::new(), |best| format!("best {best}, "));
        self.progress.advance(&format!("{best}training"), done, total);
        let is_report = done == total || done.is_multiple_of(total.div_ceil(REPORTS));
        if is_report && !self.progress.is_terminal() {
            self.progress.update(&format!("{done} of {total} training runs done"));
        }
    }

    fn refit(&self, iterations: usize) {
        let what = "training the best configuration on all data";
        self.progress.update(&format!("{what} for {iterations} iterations"));
    }

    fn predicted(&self, number: usize, of: usize) {
        self.progress.advance("predicting each fold with a model of the others", number, of);
        if number == of && !self.progress.is_terminal() {
            self.progress.update("predicted each fold with a model of the others");
        }
    }
}

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

/// Formats the table, best configuration first, what can be said of it, the options of `train`
/// that reproduce it, and with folds the scores of the out-of-fold predictions. On a terminal
/// of some columns, lines break between words. Text of files in it is printable.
pub fn table(result: &TuneResult, terminal: Option<usize>) -> String {
    let line = |text: &str| wrap(text, terminal.unwrap_or(usize::MAX), 2) + "\n";
    let mut text = format_table(result.table().into_iter()) + "\n";
    for note in result.notes() {
        text += &line(&note);
    }
    if let Some(best) = result.trials.first() {
        let flags = train_flags(&best.configuration);
        let defaults = if flags.is_empty() { "the defaults of `train`" } else { "" };
        text += &line(&format!("kept: {flags}{defaults}"));
    }
    if let Some(predictions) = &result.out_of_fold {
        let scores = predictions.evaluation();
        let labels = if scores.has_spans() { String::new() } else { scores.label_table() };
        let confusions = scores.confusion_table(CONFUSIONS);
        let out_of_fold = line(OUT_OF_FOLD);
        let table = match terminal {
            Some(_) => score_table(scores, None),
            None => printable_lines(&scores.to_string()).into_owned(),
        };
        let rest = format!("{labels}\n{confusions}");
        let [text, rest] = [&text, &rest].map(|text| printable_lines(text));
        return format!("{text}\n{out_of_fold}{table}{rest}");
    }
    printable_lines(&text).into_owned()
}

/// Returns all results as one JSON object.
pub fn results_json(result: &TuneResult, seconds: f64) -> Map<String, Value> {
    let mut results = json!(result);
    results["seconds"] = json!(seconds);
    results.as_object_mut().map(std::mem::take).unwrap_or_default()
}

/// Turns all results into the last line of the log.
pub fn end_line(result: &TuneResult, mut line: Map<String, Value>) -> Map<String, Value> {
    line.shift_remove("configurations");
    let best = result.trials.first().map(|best| best.number);
    line.insert("best".to_owned(), json!(best));
    line.insert("table".to_owned(), json!(result.table()));
    line.insert("notes".to_owned(), json!(result.notes()));
    line
}

/// Prints notices about the outcome, and what became of the model.
pub fn print_notices(result: &TuneResult, model: &Path, progress: &Progress) {
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
        progress
            .println(&format!("retrained on all data for {}", counted(iterations, "iteration")));
    }
    if result.has_learned() {
        progress.println(&format!("wrote {}", model.display()));
    }
}

/// Returns the options with which `train` trains the best configuration of a search with these
/// options and templates; `has_models`: training continues from models.
pub fn train_options(
    result: &TuneResult,
    config: &EffectiveConfig,
    templates: &[FileName],
    has_models: bool,
) -> Map<String, Value> {
    let settings = &result.settings;
    let is_kept = |key: &str| {
        let option = key.replace('-', "_");
        !["folds", "random", "only-defaults"].contains(&key)
            && !PARAMETERS.iter().any(|parameter| parameter.option == option)
            && (settings.has_noise() || !["noise", "unlabeled"].contains(&key))
    };
    let mut options = config.options.clone();
    options.retain(|key, _| is_kept(key));
    let Some(best) = result.trials.first() else { return options };
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
    if let (Some(iterations), Some(score)) = (result.refit_iterations, &best.score) {
        if settings.has_noise() {
            set("warm-up", json!(settings.warm_up()));
        }
        set("max-iterations", json!(iterations));
        set("recall-bias", json!(score.recall_bias));
    }
    options
}
