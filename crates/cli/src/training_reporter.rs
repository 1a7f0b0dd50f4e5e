//! Reports training events to the terminal and the log.

use std::ops::ControlFlow;

use dropchain::train::{self, Iteration, Observer, ObserverError};
use dropchain::{Error, Result};
use dropchain_layout::counted;
use dropchain_report::log::{Header, Log};

use crate::training_arguments::format_match;
use crate::training_table::TrainingTable;
use crate::{Progress, interrupt, terminal};

/// Writes training events to the terminal and the log.
pub struct TrainingReporter<'a> {
    progress: &'a Progress,
    pub log: Log,
    table: TrainingTable,   // on a terminal
    latest: Option<String>, // off a terminal: an iteration without a line
    is_fold: bool,
    said: Vec<String>, // of how the data were read
}

/// Off a terminal, one iteration in this many has a line, and the last.
const LINE_ITERATIONS: usize = 10;

impl<'a> TrainingReporter<'a> {
    /// Creates a reporter; the log begins with `header`.
    pub fn new(progress: &'a Progress, log: Option<Log>, header: Header) -> Self {
        let mut log = log.unwrap_or_default();
        log.set_header(header);
        Self {
            progress,
            log,
            table: TrainingTable::default(),
            latest: None,
            is_fold: false,
            said: Vec::new(),
        }
    }

    /// Returns the columns of the terminal that shows progress, if one does.
    fn columns(&self) -> Option<usize> {
        terminal::of_notices().filter(|_| self.progress.is_terminal())
    }
}

impl Observer for TrainingReporter<'_> {
    fn pass(&mut self, pass: train::Pass) {
        self.is_fold = matches!(pass, train::Pass::Fold { .. });
        self.progress.println(&match pass {
            train::Pass::First => "first pass".to_owned(),
            train::Pass::Fold { number, of } => {
                format!("first pass without fold {number} of {of}, to predict it")
            }
            train::Pass::Second => "second pass, with the predictions of the first".to_owned(),
        });
        self.log.pass(pass);
    }

    fn start(&mut self, start: &train::Start) {
        self.progress.println(&describe(start));
        // Of a fold it may not be true of all data, and the second pass has the lines of the first.
        let is_new = |line: &&String| !self.is_fold && !self.said.contains(line);
        let new: Vec<String> = start.reading.iter().filter(is_new).cloned().collect();
        self.progress.println_all(new.clone());
        self.said.extend(new);
        self.table = TrainingTable::new(start);
        self.log.start(start);
    }

    fn matched(&mut self, found: &train::ModelMatch) {
        self.progress.println(&format_match(found));
        self.log.matched(found);
    }

    fn resumed(&mut self, iterations: usize) {
        interrupt::set_has_result();
        self.progress.println(&match iterations {
            0 => "resuming with this pass".to_owned(),
            _ => format!("resuming after iteration {iterations}"),
        });
        self.log.resumed(iterations);
    }

    fn checkpoint(&mut self) {
        self.log.checkpoint();
    }

    fn checkpoint_failed(&mut self, error: &Error) {
        let line = format!("warning: no checkpoint was written, training continues: {error}");
        self.progress.println(&line);
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        if iteration.number > 0 {
            interrupt::set_has_result();
        }
        if let Some(columns) = self.columns() {
            self.progress.println_all(self.table.lines(iteration, columns));
            self.progress.update(&status(iteration));
        } else {
            let line = describe_iteration(iteration);
            self.latest = if iteration.number.is_multiple_of(LINE_ITERATIONS) {
                self.progress.update(&line);
                None
            } else {
                Some(line)
            };
        }
        self.log.iteration(iteration)
    }

    fn end(&mut self, end: &train::End) {
        interrupt::set_has_result();
        if let Some(line) = self.latest.take() {
            self.progress.update(&line);
        }
        self.progress.println_all(self.columns().and_then(|columns| self.table.kept(columns)));
        let mut line = format!(
            "stopped after {}, {:.1} s: {}",
            counted(end.iterations, "iteration"),
            end.time.as_secs_f64(),
            end.reason.message()
        );
        if let Some(score) = end.dev {
            line.push_str(&format!("; kept iteration {}: {score}", end.best_iteration));
            if let Some(mean) = end.dev_mean {
                line.push_str(&format!(" (mean of 5: {:.2})", 100.0 * mean));
            }
            line.push_str(" on development data");
            if end.recall_bias != 0.0 {
                line.push_str(&format!(", recall bias {}", end.recall_bias));
            }
        }
        let record = end.record();
        if let Some(iterations) = record.noisy_iterations() {
            line.push_str(&format!("; {} with noise", counted(iterations, "iteration")));
        }
        self.progress.println(&line);
        if self.progress.is_terminal() {
            self.progress.println_all(self.table.scores_by_type());
        }
        let warning = record.warning_of_noise().into_iter();
        self.progress.println_all(warning.map(|warning| format!("warning: {warning}")));
        self.log.end(end);
    }

    fn pruned(&mut self, pruned: &train::Pruned) {
        self.progress.println(&format_pruned(pruned));
    }

    fn rounded(&mut self, rounded: &train::Rounded) {
        self.progress.println(&rounded.to_string());
    }
}

/// Describes an iteration in a line of a file.
fn describe_iteration(iteration: &Iteration) -> String {
    let mut line =
        format!("iteration {:4}  objective {:.4}", iteration.number, iteration.objective);
    if !iteration.optimizer.gradient_norm.is_nan() {
        line.push_str(&format!("  |gradient| {:.3e}", iteration.optimizer.gradient_norm));
    }
    line.push_str(&format!("  {:.1} s", iteration.time.as_secs_f64()));
    if let Some(score) = iteration.dev {
        line.push_str(&format!("  dev {score}"));
    }
    line
}

/// Describes an iteration in the status line of a terminal, the most important first.
fn status(iteration: &Iteration) -> String {
    let mut line = format!("iteration {}", iteration.number);
    if let Some(score) = iteration.dev {
        line.push_str(&format!("  dev {score}"));
    }
    if let Some(details) = &iteration.dev_details {
        line.push_str(&format!("  kept {}", details.best_iteration));
    }
    line + &format!("  objective {:.2}", iteration.objective)
}

/// Describes the training data and the model.
fn describe(start: &train::Start) -> String {
    let train::Start { data, model, .. } = start;
    let unlabeled = match data.unlabeled_sentences {
        0 => String::new(),
        n => format!(", {n} unlabeled sentences"),
    };
    let weight = data.total_weight.map_or(String::new(), |w| format!(" of total weight {w}"));
    let tokens = match data.partial_tokens {
        0 => format!(", {} tokens", data.tokens),
        n => format!(", {} tokens ({n} with partial labels)", data.tokens),
    };
    format!(
        "{} sentences{weight}{tokens}, {} labels{unlabeled}; {} attributes ({:.1} per token), \
         {} after collapsing ({:.1}); {} weights; about {} of memory",
        data.sentences,
        data.labels,
        model.attributes,
        model.active_per_token,
        model.collapsed_attributes,
        model.collapsed_active_per_token,
        model.parameters,
        format_megabytes(start.estimated_memory)
    )
}

/// Formats the effect of pruning as a line of text.
pub fn format_pruned(pruned: &train::Pruned) -> String {
    let dropped = pruned.before - pruned.after;
    let mut line = format!("pruned {dropped} of {} weights", pruned.before);
    if let Some([before, after]) = pruned.dev {
        line.push_str(&format!("; on development data: {before} before, {after} after"));
    }
    line
}

/// Formats a number of bytes in megabytes, at least 1.
pub fn format_megabytes(bytes: usize) -> String {
    format!("{:.0} MB", (bytes as f64 / 1e6).max(1.0))
}
