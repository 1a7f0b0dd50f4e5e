//! `dropchain check`

use std::ffi::OsString;
use std::ops::ControlFlow;

use clap::Args;
use dropchain::train::{BaseModels, Iteration, Observer, ObserverError, Pass, Trainer};
use dropchain::{Corpus, Error};
use dropchain_analysis::Predictions;
use dropchain_check::{
    Check, CheckOptions, CheckReport, Outcome, Role, Severity, SuspicionOptions,
    SuspiciousSentence, suspicious, suspicious_by, variations,
};
use dropchain_options::LabelOptions;

use crate::arguments::{InputArguments, PartialLabelArguments};
use crate::template_arguments::{TemplateLimits, load_template, template_files, template_for};
use crate::{
    CommandError, CommandFiles, CommandResult, FileName, Progress, ThreadArguments,
    check_stdin_once, columns, interrupt, json_line, notice, print_json, print_painted, progress,
};

/// Check corpora before training: sizes, labels, mistakes in files and annotation
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  dropchain check train.conll --dev dev.conll --test test.conll
  dropchain check train.conll --suspicious 50  # where models disagree
  dropchain check train.conll --inconsistent   # phrases with different labels
  dropchain check train.conllu --label upos --strict --json | jq .findings

All problems are counted, and the first ones shown with their places. Errors are what training would
refuse; warnings are most likely mistakes: invalid labels, sentences of test data in training data,
characters that nobody sees. docs/checking.md explains each.

Exit codes: 0 no errors; 1 errors, with --strict also warnings; 2 invalid arguments.")]
pub struct CheckCommand {
    /// Training files; `-` is standard input, .gz files are decompressed
    #[arg(required = true, value_name = "CORPUS")]
    train: Vec<FileName>,
    /// Development file, compared with the training files; may be repeated
    #[arg(long, value_name = "FILE")]
    dev: Vec<FileName>,
    /// Test file, compared with the others; may be repeated
    #[arg(long, value_name = "FILE")]
    test: Vec<FileName>,
    /// List the N phrases whose labels differ most suspiciously from place to place
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    inconsistent: Option<u32>,
    /// List the N sentences whose labels models trained on the other folds find most improbable
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    suspicious: Option<u32>,
    /// Predictions for --suspicious, by models that did not see the sentences: a file of
    /// `tune --predictions` [default: train such models]
    #[arg(long, value_name = "PRED", requires = "suspicious",
          conflicts_with_all = ["template", "folds"])]
    predictions: Option<FileName>,
    /// Feature template for --suspicious [default: as in `train`]
    #[arg(long, value_name = "TEMPLATE", requires = "suspicious")]
    template: Option<FileName>,
    #[command(flatten)]
    template_limits: TemplateLimits,
    /// Number of folds for --suspicious, each checked by a model of the others
    #[arg(long, value_name = "K", default_value_t = 5, requires = "suspicious",
          value_parser = clap::value_parser!(u32).range(2..=1000), hide_short_help = true)]
    folds: u32,
    /// Number of examples of each kind of problem
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(0..=1_000_000), hide_short_help = true)]
    examples: u32,
    /// Fail if there are warnings
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    labels: LabelOptions,
    #[command(flatten)]
    partial: PartialLabelArguments,
}

impl CheckCommand {
    pub fn run(&self) -> CommandResult {
        let roles = [(Role::Train, &self.train), (Role::Dev, &self.dev), (Role::Test, &self.test)];
        let files = roles.into_iter();
        let files = files.flat_map(|(role, files)| files.iter().map(move |file| (role, file)));
        let files: Vec<(Role, &FileName)> = files.collect();
        CommandFiles::default()
            .read(files.iter().map(|(_, file)| file))
            .read(&self.predictions)
            .check()?;
        check_stdin_once(self.train.iter().chain(&self.dev).chain(&self.test))?;
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet);
        progress.update("reading");
        let options = CheckOptions {
            read: self.partial.apply(self.input.read_options()),
            labels: self.labels.detector(),
            examples: self.examples as usize,
        };
        let mut check = Check::read(&files, options)?;
        let report = check.report();
        let inconsistent = self
            .inconsistent
            .map(|limit| variations(check.sentences(Role::Train), &report.labels, limit as usize));
        let corpus = check.take_corpus(Role::Train);
        let suspicious = match self.suspicious {
            None => None,
            Some(_) if report.kinds(Severity::Error) > 0 => {
                notice("--suspicious: nothing can be trained before the errors are corrected");
                None
            }
            Some(limit) => Some(match &self.predictions {
                Some(file) => {
                    let options = self.partial.apply(self.input.read_options());
                    let predictions = Predictions::read(file.as_ref(), &corpus, options)?;
                    suspicious_by(&predictions, &corpus, limit as usize)?
                }
                None => self.suspicious(&corpus, &report, limit, &progress)?,
            }),
        };
        progress.clear();
        let outcome = Outcome { report, inconsistent, suspicious };
        match self.json {
            true => print_json(&json_line(&outcome)?)?,
            false => print_painted(&progress::with_flags(&outcome.painted_text(columns())))?,
        }
        self.verdict(&outcome.report)
    }

    /// Compares the training data with the predictions of models of the other folds.
    fn suspicious<'c>(
        &self,
        corpus: &'c Corpus,
        report: &CheckReport,
        limit: u32,
        progress: &Progress,
    ) -> CommandResult<Vec<SuspiciousSentence<'c>>> {
        let default = report.default_template(corpus);
        let default = default.map(|name| FileName::from(OsString::from(name)));
        let name = self.template.as_ref().or(default.as_ref());
        let none = BaseModels::default();
        let template = load_template(name, self.template_limits, &self.train, &self.input, &none)?;
        CommandFiles::default().read(template_files(name, template.as_ref())).check()?;
        let template = template_for(template, corpus, progress)?;
        interrupt::watch();
        let trainer = Trainer::new(report.train_options())?
            .interrupt(interrupt::flag())
            .memory(self.input.limits.memory());
        let options = SuspicionOptions {
            folds: self.folds as usize,
            limit: limit as usize,
            ..SuspicionOptions::default()
        };
        let mut observer = FoldReporter { progress, fold: String::new() };
        let found = suspicious(&trainer, corpus, template.as_ref(), options, &mut observer)?;
        match (found, interrupt::received()) {
            (Some(found), None) => Ok(found),
            (_, Some(signal)) => {
                let message = format!("interrupted by {signal}; nothing was printed");
                Err(CommandError::Interrupted(signal, message))
            }
            (None, None) => Err(Error::parameter("training was interrupted").into()),
        }
    }

    /// Fails if there are errors, or warnings that count as such.
    fn verdict(&self, report: &CheckReport) -> CommandResult {
        let [errors, warnings] = [Severity::Error, Severity::Warning].map(|s| report.kinds(s));
        let message = match (errors, warnings) {
            (0, 0) => return Ok(()),
            (0, _) if !self.strict => return Ok(()),
            (0, _) => "found warnings, which fail with --strict",
            _ => "found errors, which training or evaluation would refuse",
        };
        Err(Error::parameter(message).into())
    }
}

/// Shows which model is being trained.
struct FoldReporter<'a> {
    progress: &'a Progress,
    fold: String, // description of the current step
}

impl Observer for FoldReporter<'_> {
    fn pass(&mut self, pass: Pass) {
        if let Pass::Fold { number, of } = pass {
            self.fold = format!("training without fold {number} of {of}");
            self.progress.update(&self.fold);
        }
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        if self.progress.is_terminal() {
            self.progress.update(&format!("{}, iteration {}", self.fold, iteration.number));
        }
        Ok(ControlFlow::Continue(()))
    }
}
