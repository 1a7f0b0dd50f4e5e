//! Runs a search, and reports its progress and results to the terminal and the log.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use dropchain::Result;
use dropchain_report::log::Log;
use dropchain_tune::{Phase, Plan, Trial, TuneObserver, TuneResult, TuningData};
use serde_json::Value;

use crate::outputs::ResultFile;
use crate::progress::Progress;
use crate::terminal::of_output;
use crate::training_arguments::format_match;
use crate::training_reporter::format_megabytes;
use crate::tune::arguments::ResumeArguments;
use crate::tune::results::{Results, SearchDescription};
use crate::{CommandResult, interrupt, print, print_json};

/// Maximum number of progress reports, unless they are shown on a terminal.
const REPORTS: usize = 36;

/// Writes the events of a search to the terminal and the log.
struct SearchReporter<'a> {
    progress: &'a Progress,
    description: &'a SearchDescription<'a>,
    log: Mutex<Log>,
    advice: Option<String>,
    started: OnceLock<()>,
    best: Mutex<Option<Trial>>,
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
    fn finish(self, line: &Value) -> Result<()> {
        self.log(line);
        let log = self.log.into_inner();
        log.unwrap_or_else(PoisonError::into_inner).finish()
    }

    /// Writes a line of the log; an older one is replaced with the first, when the search starts.
    fn log(&self, line: &Value) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(line, true);
    }

    fn best(&self) -> MutexGuard<'_, Option<Trial>> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints how the training data were read, and what the models that training continues from
    /// have in common with them.
    fn print_data(&self, plan: &Plan) {
        self.progress.println_all(plan.reading.iter().cloned());
        for (name, matches) in self.description.templates.iter().zip(&plan.matches) {
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
        self.progress.println(&format!(
            "{} configurations, {} training runs; {} in parallel; about {} of memory",
            self.description.search.configurations.len(),
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
        self.log(&self.description.start_line(plan));
    }

    fn trial(&self, trial: &Trial) {
        let mut best = self.best();
        let is_better = best.as_ref().is_none_or(|best| trial.compare(best).is_lt());
        if let Some(score) = format_score(trial).filter(|_| is_better) {
            interrupt::set_has_result();
            *best = Some(trial.clone());
            let flags = self.description.train_flags(&trial.configuration);
            self.progress.println(&format!("best so far: {score} with {flags}"));
        }
        drop(best);
        self.log(&self.description.configuration_line(trial));
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

/// What a search writes.
pub struct SearchOutput<'a> {
    pub progress: &'a Progress,
    pub resume: &'a ResumeArguments,
    pub model: &'a Path,
    pub file: ResultFile,
    pub log: Option<Log>,
    pub json: bool,
    pub started: Instant,
}

impl SearchOutput<'_> {
    /// Searches, writes the model with these contents, if there is a result, and prints all
    /// results. Returns what was found, and whether it could be printed.
    pub fn run(
        self,
        description: &SearchDescription<'_>,
        data: &TuningData<'_>,
        contents: impl FnOnce(&TuneResult) -> Result<Vec<u8>>,
    ) -> CommandResult<(TuneResult, CommandResult)> {
        let (progress, resume) = (self.progress, self.resume);
        let reporter = SearchReporter {
            progress,
            description,
            log: Mutex::new(self.log.unwrap_or_default()),
            advice: resume.how_to_continue(),
            started: OnceLock::new(),
            best: Mutex::default(),
        };
        let result = description.search.run(data, &reporter);
        let has_started = reporter.started.get().is_some();
        let result = result.map_err(|error| resume.failed(error, has_started))?;
        let failed = |error| resume.failed(error, true);
        if result.refit_iterations != Some(0) {
            let saved = contents(&result).and_then(|contents| self.file.save(&contents));
            saved.map_err(failed)?;
        }
        progress.clear();
        let seconds = self.started.elapsed().as_secs_f64();
        let dev_units = data.dev_units(&description.search.settings);
        let results = Results { description, result: &result, dev_units, seconds };
        results.print_notices(self.model, progress);
        let logged = reporter.finish(&results.end_line());
        let printed = match self.json {
            true => print_json(&format!("{:#}\n", results.json())),
            false => print(&results.table(of_output())),
        };
        logged.map_err(failed)?;
        Ok((result, printed))
    }
}
