//! Reports training events to the terminal and the log.

use std::ops::ControlFlow;

use dropchain::label::PlainLabels;
use dropchain::train::{self, Observer, ObserverError};
use dropchain::{Error, Result};
use dropchain_knowledge::{Knowledge, KnowledgePart};
use dropchain_report::{Log, Record};
use serde_json::Value;

use super::config::EffectiveConfig;
use super::file_name::FileName;
use super::init_arguments::format_match;
use super::interrupt;
use super::progress::Progress;

/// Writes training events to the terminal and the log.
pub struct TrainingReporter<'a> {
    progress: &'a Progress,
    files: Vec<String>,
    log: Option<Log>,
    log_error: Option<Error>,
    knowledge: Vec<KnowledgePart>,
    config: Option<Value>,
    of_documents: bool,
}

impl<'a> TrainingReporter<'a> {
    /// Creates a reporter for training on `files`.
    pub fn new(progress: &'a Progress, files: &[FileName], log: Option<Log>) -> Self {
        Self {
            progress,
            files: files.iter().map(ToString::to_string).collect(),
            log,
            log_error: None,
            knowledge: Vec::new(),
            config: None,
            of_documents: false,
        }
    }

    /// Sets what was added to the template, for the log.
    pub fn with_knowledge(mut self, knowledge: &Knowledge) -> Self {
        self.knowledge = knowledge.parts().to_vec();
        self
    }

    /// Sets the options of the run, for the log.
    pub fn with_config(mut self, config: &EffectiveConfig) -> Self {
        self.config = Some(config.to_json());
        self
    }

    /// Speaks of documents instead of sentences.
    pub fn of_documents(mut self) -> Self {
        self.of_documents = true;
        self
    }

    /// Returns the error that ended the log early, if any.
    pub fn finish(self) -> Result<()> {
        self.log_error.map_or(Ok(()), Err)
    }

    fn log(&mut self, record: &Record<'_>) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.write(record)
        {
            self.log_failed(error);
        }
    }

    /// Ends the log. The model matters more than the log: training continues, and fails at the end.
    fn log_failed(&mut self, error: Error) {
        self.log = None;
        self.log_error = Some(error);
    }
}

impl Observer for TrainingReporter<'_> {
    fn pass(&mut self, pass: train::Pass) {
        self.progress.println(&match pass {
            train::Pass::First => "first pass".to_owned(),
            train::Pass::Fold { number, of } => {
                format!("first pass without fold {number} of {of}, to predict it")
            }
            train::Pass::Second => "second pass, with the predictions of the first".to_owned(),
        });
        self.log(&Record::Pass(pass));
    }

    fn start(&mut self, start: &train::Start<'_>) {
        self.progress.println(&match self.of_documents {
            true => describe_documents(start),
            false => describe_sentences(start),
        });
        if start.plain_labels && start.options.plain_labels == PlainLabels::Auto {
            self.progress.println(
                "labels have no B- or I-, but look like types: adjacent tokens with the same label \
                 are one span (--plain-labels tags if they are tags)",
            );
        }
        let (files, config) = (self.files.clone(), self.config.clone());
        self.log(&Record::Start(dropchain_report::Start {
            config: config.as_ref(),
            ..dropchain_report::Start::new(&files, start)
        }));
        for part in std::mem::take(&mut self.knowledge) {
            self.log(&Record::Knowledge(&part));
        }
    }

    fn matched(&mut self, found: &train::ModelMatch) {
        self.progress.println(&format_match(found));
        self.log(&Record::Match(found));
    }

    fn resumed(&mut self, iterations: usize) {
        interrupt::set_has_result();
        self.progress.println(&match iterations {
            0 => "resuming with this pass".to_owned(),
            _ => format!("resuming after iteration {iterations}"),
        });
        match self.log.as_mut().map(|log| log.resume(iterations)) {
            None | Some(Ok(true)) => {}
            Some(Ok(false)) => self.progress.println(&match iterations {
                0 => "the log has no earlier passes; it begins with this one".to_owned(),
                _ => format!("the log has no iteration {iterations}; it begins with the next one"),
            }),
            Some(Err(error)) => self.log_failed(error),
        }
    }

    fn checkpoint(&mut self) {
        if let Some(Err(error)) = self.log.as_mut().map(Log::sync) {
            self.log_failed(error);
        }
    }

    fn checkpoint_failed(&mut self, error: &Error) {
        let line = format!("warning: no checkpoint was written, training continues: {error}");
        self.progress.println(&line);
    }

    fn iteration(
        &mut self,
        iteration: &train::Iteration,
    ) -> Result<ControlFlow<()>, ObserverError> {
        if iteration.number > 0 {
            interrupt::set_has_result();
        }
        let mut line = format!(
            "iteration {:4}  objective {:.4}",
            iteration.number, iteration.objective
        );
        if !iteration.gradient_norm.is_nan() {
            line.push_str(&format!("  |gradient| {:.3e}", iteration.gradient_norm));
        }
        line.push_str(&format!("  {:.1} s", iteration.time.as_secs_f64()));
        if let Some(score) = iteration.dev {
            line.push_str(&format!("  dev {score}"));
        }
        self.progress.update(line);
        self.log(&Record::Iteration(iteration));
        Ok(ControlFlow::Continue(()))
    }

    fn end(&mut self, end: &train::End) {
        interrupt::set_has_result();
        let mut line = format!(
            "stopped after {} iterations, {:.1} s: {}",
            end.iterations,
            end.time.as_secs_f64(),
            end.reason
        );
        if let Some(score) = end.dev {
            line.push_str(&format!(
                "; best on development data: {} at iteration {}",
                score, end.best_iteration
            ));
            if end.recall_bias != 0.0 {
                line.push_str(&format!(", recall bias {}", end.recall_bias));
            }
        }
        self.progress.println(&line);
        self.log(&Record::End(end));
    }

    fn pruned(&mut self, pruned: &train::Pruned) {
        self.progress.println(&format_pruned(pruned));
    }

    fn rounded(&mut self, rounded: &train::Rounded) {
        self.progress.println(&rounded.to_string());
    }
}

/// Describes the data of a tagger.
fn describe_sentences(start: &train::Start<'_>) -> String {
    let unlabeled = match start.unlabeled_sentences {
        0 => String::new(),
        n => format!(", {n} unlabeled sentences"),
    };
    let weight = start
        .total_weight
        .map_or(String::new(), |weight| format!(" of total weight {weight}"));
    let partial = match start.partial_tokens {
        0 => String::new(),
        n => format!(" ({n} with partial labels)"),
    };
    format!(
        "{} sentences{weight}, {} tokens{partial}, {} labels{unlabeled}; {} attributes ({:.1} \
         per token), {} after collapsing ({:.1}); {} weights; about {} of memory",
        start.sentences,
        start.tokens,
        start.labels,
        start.attributes,
        start.active_per_token,
        start.collapsed_attributes,
        start.collapsed_active_per_token,
        start.parameters,
        format_megabytes(start.estimated_memory)
    )
}

/// Describes the data of a classifier, whose documents are sentences of one token.
fn describe_documents(start: &train::Start<'_>) -> String {
    let unlabeled = match start.unlabeled_sentences {
        0 => String::new(),
        n => format!(", {n} unlabeled documents"),
    };
    format!(
        "{} documents, {} classes{unlabeled}; {} features ({:.1} per document), {} after \
         collapsing ({:.1}); {} weights; about {} of memory",
        start.sentences,
        start.labels,
        start.attributes,
        start.active_per_token,
        start.collapsed_attributes,
        start.collapsed_active_per_token,
        start.parameters,
        format_megabytes(start.estimated_memory)
    )
}

/// Formats the effect of pruning as a line of text.
pub fn format_pruned(pruned: &train::Pruned) -> String {
    let dropped = pruned.before - pruned.after;
    let mut line = format!("pruned {dropped} of {} weights", pruned.before);
    if let Some([before, after]) = pruned.dev {
        line.push_str(&format!(
            "; on development data: {before} before, {after} after"
        ));
    }
    line
}

/// Formats a number of bytes in megabytes, at least 1.
pub fn format_megabytes(bytes: usize) -> String {
    format!("{:.0} MB", (bytes as f64 / 1e6).max(1.0))
}
