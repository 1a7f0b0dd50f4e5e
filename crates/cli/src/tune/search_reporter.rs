//! Runs a search, and reports its progress and results to the terminal and the log.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use dropchain::Result;
use dropchain::train::DevScore;
use dropchain_report::log::Log;
use dropchain_tune::{
    Phase, ResourcePlan, Resumed, Rung, RungResult, TrialResult, TuneObserver, TuneResult,
    TuningData,
};
use serde_json::Value;

use crate::outputs::ResultFile;
use crate::progress::Progress;
use crate::terminal::of_output;
use crate::training_reporter::format_megabytes;
use crate::tune::arguments::ResumeArguments;
use crate::tune::results::{Results, SearchDescription};
use crate::{CommandResult, interrupt, print, print_json};

/// Maximum number of progress reports per rung.
const REPORTS_PER_RUNG: usize = 12;

/// Writes the events of a search to the terminal and the log.
struct SearchReporter<'a> {
    progress: &'a Progress,
    description: &'a SearchDescription<'a>,
    log: Mutex<Log>,
    advice: Option<String>,
    rungs: OnceLock<usize>,
    best: Mutex<Best>,
}

/// The best result so far.
#[derive(Default)]
struct Best {
    score: f64,
    text: String,
    /// What was last printed of it.
    printed: String,
}

/// Formats a score, with its standard error if there are folds.
fn format_score(score: DevScore, result: &TrialResult) -> String {
    let error = result.standard_error;
    let error = error.map_or(String::new(), |error| format!(" ± {:.2}", 100.0 * error));
    format!("{score}{error}")
}

impl SearchReporter<'_> {
    /// Returns whether the search has started.
    fn has_started(&self) -> bool {
        self.rungs.get().is_some()
    }

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

    fn best(&self) -> MutexGuard<'_, Best> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TuneObserver for SearchReporter<'_> {
    fn start(&self, plan: &ResourcePlan, rungs: &[Rung]) {
        let describe = |rung: &Rung| match rung.iterations {
            Some(iterations) => format!("{} for {iterations} iterations", rung.configurations),
            None => format!("{} until convergence", rung.configurations),
        };
        let descriptions: Vec<String> = rungs.iter().map(describe).collect();
        self.progress.println(&format!(
            "configurations: {}; {} in parallel; about {} of memory",
            descriptions.join(", "),
            plan.concurrency,
            format_megabytes(plan.memory())
        ));
        let _ = self.rungs.set(rungs.len());
        if let Some(advice) = &self.advice {
            interrupt::set_advice(advice.clone());
        }
        self.log(&self.description.start_line(plan, rungs));
    }

    fn resumed(&self, resumed: &Resumed) {
        let rest = if resumed.was_torn {
            "; another one was not written completely and is trained again"
        } else {
            ""
        };
        self.progress.println(&match resumed.segments {
            0 => "there is nothing to resume: starting from the beginning".to_owned(),
            n => format!("resuming: {n} training segments are done{rest}"),
        });
    }

    fn trial(&self, rung: usize, result: &TrialResult) {
        let mut best = self.best();
        if let Some(score) = result.score.filter(|score| score.value() > best.score) {
            best.score = score.value();
            best.text = format!("best {}, ", format_score(score, result));
        }
        drop(best);
        self.log(&self.description.configuration_line(rung, result));
    }

    fn progress(&self, phase: Phase, done: usize, total: usize) {
        // A warm start is a result for configurations without noise.
        interrupt::set_has_result();
        let phase = match phase {
            Phase::WarmStart => "warm-up".to_owned(),
            Phase::Rung(number) => {
                format!("rung {} of {}", number + 1, self.rungs.get().unwrap_or(&0))
            }
            Phase::Refit(iterations) => {
                let what = "training the best configuration on all data";
                return self.progress.update(&format!("{what} for {iterations} iterations"));
            }
        };
        if self.progress.is_terminal() {
            let best = self.best().text.clone();
            self.progress.advance(&format!("{best}{phase}"), done, total);
        } else if done == total || done.is_multiple_of(total.div_ceil(REPORTS_PER_RUNG)) {
            self.progress.update(&format!("{phase}: {done} of {total} training runs done"));
        }
    }

    fn rung(&self, result: &RungResult) {
        let best = result.trials.iter().min_by(|a, b| a.compare(b));
        if let Some((best, score)) = best.and_then(|best| Some((best, best.score?))) {
            let description = self.description;
            let flags = description.train_flags(&best.configuration, description.templates);
            let count = result.trials.len();
            let found = format!("{} with {flags}", format_score(score, best));
            let mut known = self.best();
            if known.printed != found {
                (self.progress).println(&format!("best of {count} so far: {found}"));
                known.printed = found;
            }
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
        data: TuningData,
        contents: impl FnOnce(&TuneResult) -> Result<Vec<u8>>,
    ) -> CommandResult<(TuneResult, CommandResult)> {
        let (progress, resume) = (self.progress, self.resume);
        let reporter = SearchReporter {
            progress,
            description,
            log: Mutex::new(self.log.unwrap_or_default()),
            advice: resume.how_to_continue(),
            rungs: OnceLock::new(),
            best: Mutex::default(),
        };
        let dev_units = data.dev_units();
        let result = description.search.run(data, &reporter);
        let result = result.map_err(|error| resume.failed(error, reporter.has_started()))?;
        let failed = |error| resume.failed(error, true);
        if result.refit_iterations != Some(0) {
            let saved = contents(&result).and_then(|contents| self.file.save(&contents));
            saved.map_err(failed)?;
        }
        progress.clear();
        let results = Results {
            description,
            result: &result,
            dev_units,
            seconds: self.started.elapsed().as_secs_f64(),
        };
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
