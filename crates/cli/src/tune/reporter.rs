//! Reports the progress of a search to the terminal and the log.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use dropchain::Result;
use dropchain_report::log::Log;
use dropchain_tune::{Phase, Plan, Search, Trial, TuneObserver};
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
    /// What is read, for the log.
    pub inputs: &'a Map<String, Value>,
    /// Short names of the templates.
    pub templates: &'a [String],
    pub log: Mutex<Log>,
    /// How to continue a search that was interrupted.
    pub advice: Option<String>,
    /// Set before the first run.
    pub started: OnceLock<()>,
    pub best: Mutex<Option<Trial>>,
}

/// Formats the score of a configuration, with its standard error if there are folds.
fn format_score(trial: &Trial) -> Option<String> {
    let score = trial.score.as_ref()?;
    let folds = score.folds.as_ref();
    let error = folds.map(|folds| format!(" ± {:.2}", 100.0 * folds.standard_error));
    Some(format!("{}{}", score.score, error.unwrap_or_default()))
}

impl SearchReporter<'_> {
    /// Writes the last line of the log.
    ///
    /// # Errors
    ///
    /// A line of the log could not be written.
    pub fn finish(self, line: Value) -> Result<()> {
        self.log(line, &Map::new());
        let log = self.log.into_inner();
        log.unwrap_or_else(PoisonError::into_inner).finish()
    }

    /// Writes a line of the log with more fields; an older log is replaced with the first, when the
    /// search starts.
    fn log(&self, mut line: Value, more: &Map<String, Value>) {
        if let Some(line) = line.as_object_mut() {
            line.extend(more.clone());
        }
        self.log.lock().unwrap_or_else(PoisonError::into_inner).write(&line, true);
    }

    fn best(&self) -> MutexGuard<'_, Option<Trial>> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints how the training data were read, and what the models that training continues from
    /// have in common with them.
    fn print_data(&self, plan: &Plan) {
        self.progress.println_all(plan.reading.iter().cloned());
        for (name, matches) in self.templates.iter().zip(&plan.matches) {
            for found in matches {
                if plan.matches.len() > 1 {
                    self.progress.println(&format!("template {name}:"));
                }
                self.progress.println(&format_match(found));
            }
        }
    }
}

impl TuneObserver for SearchReporter<'_> {
    fn start(&self, plan: &Plan) {
        self.print_data(plan);
        let count = self.search.configurations.len();
        self.progress.println(&format!(
            "{count} configurations, {} training runs; {} in parallel; about {} of memory",
            plan.runs,
            plan.concurrency,
            format_megabytes(plan.memory as usize)
        ));
        if let Some(resumed) = plan.resumed {
            let rest = if resumed.was_torn {
                "; another one was not written completely and is trained again"
            } else {
                ""
            };
            self.progress.println(&match resumed.runs {
                0 => "there is nothing to resume: starting from the beginning".to_owned(),
                n => format!("resuming: {n} training runs are done{rest}"),
            });
        }
        let _ = self.started.set(());
        if let Some(advice) = &self.advice {
            interrupt::set_advice(advice.clone());
        }
        let line = json!({
            "event": "start",
            "parameters": self.search.settings,
            "configurations": count,
            "plan": {"runs": plan.runs, "parallel": plan.concurrency, "memory": plan.memory},
        });
        self.log(line, self.inputs);
    }

    fn trial(&self, trial: &Trial) {
        let mut best = self.best();
        let is_better = best.as_ref().is_none_or(|best| trial.compare(best).is_lt());
        if let Some(score) = format_score(trial).filter(|_| is_better) {
            interrupt::set_has_result();
            *best = Some(trial.clone());
            let flags = train_flags(&trial.configuration, self.templates);
            self.progress.println(&format!("best so far: {score} with {flags}"));
        }
        drop(best);
        self.log(json!({"event": "configuration"}), &trial.fields(self.templates));
    }

    fn progress(&self, phase: Phase, done: usize, total: usize) {
        if let Phase::Refit(iterations) = phase {
            let what = "training the best configuration on all data";
            return self.progress.update(&format!("{what} for {iterations} iterations"));
        }
        if self.progress.is_terminal() {
            let best = self.best().as_ref().and_then(format_score);
            let best = best.map_or(String::new(), |best| format!("best {best}, "));
            self.progress.advance(&format!("{best}training"), done, total);
        } else if done == total || done.is_multiple_of(total.div_ceil(REPORTS)) {
            self.progress.update(&format!("{done} of {total} training runs done"));
        }
    }
}
