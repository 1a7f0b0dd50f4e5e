//! Reports the progress of a search to the terminal and the log.

use std::sync::{Mutex, OnceLock, PoisonError};

use dropchain::Result;
use dropchain_report::log::Log;
use dropchain_tune::{Plan, Search, Trial, TuneObserver};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::interrupt;
use crate::progress::Progress;
use crate::training_arguments::format_match;
use crate::training_reporter::format_megabytes;
use crate::tune::results::train_flags;

/// Maximum number of progress reports, unless they are shown on a terminal.
const REPORTS: usize = 36;

/// Writes the events of a search to the terminal and the log.
pub struct SearchReporter<'a> {
    pub progress: &'a Progress,
    pub search: &'a Search<'a>,
    /// The inputs, for the log.
    pub inputs: &'a Map<String, Value>,
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

    /// Prints how the training data were read, and what the models that training continues from
    /// have in common with them.
    fn print_data(&self, plan: &Plan) {
        self.progress.println_all(plan.reading.iter().cloned());
        for (template, found) in &plan.matches {
            let template = template.as_ref().map(|name| format!("template {name}:"));
            self.progress.println_all(template);
            self.progress.println(&format_match(found));
        }
    }
}

impl TuneObserver for SearchReporter<'_> {
    fn start(&self, plan: &Plan) {
        self.print_data(plan);
        let count = self.search.configurations.len();
        let plural = if count == 1 { "" } else { "s" };
        self.progress.println(&format!(
            "{count} configuration{plural}, {} training runs; {} in parallel; about {} of memory",
            plan.runs,
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
        set("configurations", json!(count));
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
