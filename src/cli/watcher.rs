//! What `dropchain train` tells while it runs: a line on the terminal, a line in the log.

use dropchain::report::{self, Log, Record};
use dropchain::train::{self, DevScore, Observer};
use dropchain::{Error, Result};

use super::progress::Progress;

/// Passes what training tells on to the terminal and the log.
pub struct Watcher<'a> {
    progress: &'a Progress,
    files: &'a [String],
    log: Option<Log>,
    fault: Option<Error>,
}

impl<'a> Watcher<'a> {
    /// A watcher of training on `files`.
    pub fn new(progress: &'a Progress, files: &'a [String], log: Option<Log>) -> Self {
        Self {
            progress,
            files,
            log,
            fault: None,
        }
    }

    /// What went wrong with the log, if anything did.
    pub fn finish(self) -> Result<()> {
        self.fault.map_or(Ok(()), Err)
    }

    fn log(&mut self, record: &Record) {
        if let Some(log) = &mut self.log
            && let Err(fault) = log.write(record)
        {
            // The model matters more than the log: train on, and say it at the end.
            self.log = None;
            self.fault = Some(fault);
        }
    }
}

impl Observer for Watcher<'_> {
    fn start(&mut self, start: &train::Start<'_>) {
        let unlabeled = match start.unlabeled_sentences {
            0 => String::new(),
            n => format!(", {n} unlabeled sentences"),
        };
        self.progress.say(&format!(
            "{} sentences, {} tokens, {} labels{unlabeled}; {} attributes ({:.1} per token), {} after \
             collapsing ({:.1}); {} weights; about {} of memory",
            start.sentences,
            start.tokens,
            start.labels,
            start.attributes,
            start.per_token[0],
            start.collapsed,
            start.per_token[1],
            start.parameters,
            megabytes(start.memory)
        ));
        let record = Record::Start(report::Start {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            parameters: serde_json::to_value(start.options).unwrap_or_default(),
            files: self.files.to_vec(),
            threads: rayon::current_num_threads(),
            sentences: start.sentences,
            tokens: start.tokens,
            unlabeled_sentences: start.unlabeled_sentences,
            dev_sentences: start.dev_sentences,
            labels: start.labels,
            attributes: start.attributes,
            collapsed_attributes: start.collapsed,
            weights: start.parameters,
            active_per_token: start.per_token[0],
            collapsed_active_per_token: start.per_token[1],
            estimated_memory: start.memory,
        });
        self.log(&record);
    }

    fn iteration(&mut self, iteration: &train::Iteration) {
        let mut line = format!(
            "iteration {:4}  objective {:.4}  |gradient| {:.3e}  {:.1} s",
            iteration.number,
            iteration.objective,
            iteration.gradient_norm,
            iteration.time.as_secs_f64()
        );
        if let Some(score) = iteration.dev {
            line.push_str(&format!("  dev {}", describe(score)));
        }
        self.progress.step(line);
        let (mut dev_f1, mut dev_accuracy) = (None, None);
        match iteration.dev {
            Some(DevScore::F1(score)) => dev_f1 = Some(score),
            Some(DevScore::Accuracy(score)) => dev_accuracy = Some(score),
            None => {}
        }
        self.log(&Record::Iteration(report::Iteration {
            iteration: iteration.number,
            objective: iteration.objective,
            log_likelihood: iteration.log_likelihood,
            dropout: iteration.noise,
            l2: iteration.l2,
            l1: iteration.l1,
            gradient_norm: iteration.gradient_norm,
            evaluations: iteration.evaluations,
            nonzero: iteration.nonzero,
            seconds: iteration.time.as_secs_f64(),
            dev_f1,
            dev_accuracy,
            recall_bias: iteration.recall_bias,
        }));
    }

    fn end(&mut self, end: &train::End) {
        let mut line = format!(
            "stopped after {} iterations, {:.1} s: {}",
            end.iterations,
            end.time.as_secs_f64(),
            end.reason
        );
        if let Some(score) = end.dev {
            line.push_str(&format!(
                "; best on development data: {} at iteration {}",
                describe(score),
                end.best_iteration
            ));
            if end.recall_bias != 0.0 {
                line.push_str(&format!(", recall bias {}", end.recall_bias));
            }
        }
        self.progress.say(&line);
        self.log(&Record::End(report::End {
            stop_reason: end.reason.name().to_owned(),
            iterations: end.iterations,
            seconds: end.time.as_secs_f64(),
            best_iteration: end.best_iteration,
            recall_bias: end.recall_bias,
        }));
    }

    fn pruned(&mut self, pruned: &train::Pruned) {
        self.progress.say(&describe_pruned(pruned));
    }
}

/// What pruning did, as a line.
pub fn describe_pruned(pruned: &train::Pruned) -> String {
    let dropped = pruned.before - pruned.after;
    let mut line = format!("pruned {dropped} of {} weights", pruned.before);
    if let Some([before, after]) = pruned.dev {
        line.push_str(&format!(
            "; on development data: {} before, {} after",
            describe(before),
            describe(after)
        ));
    }
    line
}

/// A score, as a percentage.
pub fn describe(score: DevScore) -> String {
    match score {
        DevScore::F1(f1) => format!("F1 {:.2}", 100.0 * f1),
        DevScore::Accuracy(accuracy) => format!("accuracy {:.2}", 100.0 * accuracy),
    }
}

/// An amount of memory.
pub fn megabytes(bytes: usize) -> String {
    format!("{:.0} MB", (bytes as f64 / 1e6).max(1.0))
}
