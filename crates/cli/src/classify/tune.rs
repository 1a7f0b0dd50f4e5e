//! `dropchain classify tune`

use std::time::Instant;

use clap::Args;
use dropchain::train::{BaseModels, Folds, TrainSettings, TrainingCorpora};
use dropchain::{Error, Result};
use dropchain_documents::classify::ClassifierTrainer;
use dropchain_report::log::Log;
use dropchain_tune::{Axis, Parameter, Search, SearchSpace, TuningData};
use serde_json::{Map, Value, json};

use crate::arguments::FileName;
use crate::classify::arguments::{LearningArguments, TrainingFiles};
use crate::outputs::ResultFile;
use crate::progress::Progress;
use crate::tune::{ResumeArguments, SearchDescription, SearchOutput, StrategyArguments};
use crate::{CommandResult, interrupt};

/// The rates of dropout that are searched by default.
const RATES: [f64; 5] = [0.0, 0.3, 0.5, 0.7, 0.9];

/// Search for the best training parameters of a classifier and write the best model
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # A small grid around the defaults, by 10-fold cross-validation
  dropchain classify tune reviews.tsv --folds 10 --model reviews.model

  # Your own grid, scored on development documents
  dropchain classify tune train/ --dev dev/ --dropout 0,0.3,0.5,0.7 --l2 0.01,0.1,1 \\
      --model reviews.model

Ctrl-C ends the search and writes the best model so far. After a crash, the same command with
--checkpoint and --resume continues it.

VALUES are numbers (0,0.3,0.5), ranges for --random (0.01:1), or both (0,0.01:1). Folds have about
the same fraction of each class. The rest is as in `dropchain tune`.")]
pub struct TuneCommand {
    #[command(flatten)]
    files: TrainingFiles,
    /// Development documents to score configurations on; may be repeated
    #[arg(long, value_name = "FILE", required_unless_present = "folds", conflicts_with = "folds")]
    dev: Vec<FileName>,
    /// Score configurations by K-fold cross-validation on the training documents
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..))]
    folds: Option<u32>,
    /// Print JSON instead of a table, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    space: SpaceArguments,
    #[command(flatten)]
    strategy: StrategyArguments,
    #[command(flatten)]
    checkpoint: ResumeArguments,
    #[command(flatten)]
    learning: LearningArguments,
}

/// The parameters that are searched.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search space")]
struct SpaceArguments {
    /// Amount of feature noise; 0 for none [default: 0,0.3,0.5,0.7,0.9]
    #[arg(long, value_name = "VALUES")]
    dropout: Option<Axis>,
    /// Strength of the L2 penalty [default: several strengths around the defaults of `train`]
    #[arg(long, value_name = "VALUES")]
    l2: Option<Axis>,
    /// Strength of the L1 penalty [default: 0]
    #[arg(long, value_name = "VALUES")]
    l1: Option<Axis>,
    /// Weight of an unlabeled document, relative to a labeled one [default: that of `train`]
    #[arg(long, value_name = "VALUES", requires = "unlabeled")]
    unlabeled_weight: Option<Axis>,
}

impl SpaceArguments {
    /// Returns the search space.
    fn space(&self, settings: &TrainSettings) -> SearchSpace {
        let rates = Axis::from_values(&RATES);
        let mut space = SearchSpace::new(1, settings)
            .with(Parameter::Dropout, self.dropout.clone().unwrap_or(rates))
            .with(Parameter::EdgeDropout, Axis::from_values(&[0.0])); // none on the bias
        for (parameter, axis) in [
            (Parameter::L2, &self.l2),
            (Parameter::L1, &self.l1),
            (Parameter::UnlabeledWeight, &self.unlabeled_weight),
        ] {
            if let Some(axis) = axis {
                space = space.with(parameter, axis.clone());
            }
        }
        space
    }
}

impl TuneCommand {
    pub fn run(&self) -> CommandResult {
        let files = &self.files;
        let mut options = self.learning.options(files)?;
        options.train.seed = self.strategy.seed;
        let mut trainer = ClassifierTrainer::new(options)?;
        trainer.memory = files.input.limits.memory();
        let settings = trainer.settings().clone();
        let configurations =
            self.strategy.configurations(&self.space.space(&settings), &settings)?;
        let (file, resume) = (self.checkpoint.checkpoint.as_deref(), self.checkpoint.resume);
        let declared = files.declared(&self.dev);
        declared.write_checkpoint(file, resume).check()?;
        interrupt::watch();
        let model_file = ResultFile::new(&files.model)?;
        let log = files.log.as_deref().map(Log::create).transpose()?;
        let checkpoint = self.checkpoint.open()?;
        files.threads.start_pool()?;
        let started = Instant::now();
        let progress = Progress::new(files.quiet);
        progress.update(&format!("reading {}", files.train.join(", ")));
        let (corpora, classes) = self.read(&trainer, &progress)?;
        if classes > 2 && !trainer.is_joint() {
            let message = match self.learning.hidden() {
                0 => "--multiclass one-vs-rest: `tune` trains all classes at a time; expected \
                      --loss logistic, hinge or squared, or --multiclass softmax"
                    .to_owned(),
                units => format!(
                    "--hidden {units} with {classes} classes: `tune` trains all classes at a time; \
                     expected two classes"
                ),
            };
            return Err(Error::parameter(message).into());
        }
        let folds = self.folds.map(|count| {
            let sentences = corpora.labeled.sentences();
            Folds::new(sentences, count as usize, self.strategy.seed).map_err(|_| {
                Error::parameter(format!(
                    "--folds {count}: there are {} documents; expected at least one per fold",
                    sentences.len()
                ))
            })
        });
        let (templates, models) = (vec![None], BaseModels::default());
        let data = TuningData { folds: folds.transpose()?, corpora, templates, models };
        let search = Search {
            settings,
            configurations,
            threads: files.threads.count(),
            memory: files.input.limits.memory(),
            checkpoint: checkpoint.as_ref(),
            interrupt: Some(interrupt::flag()),
        };
        let description = SearchDescription {
            search: &search,
            inputs: self.inputs(),
            templates: &["–".to_owned()],
            has_folds: self.folds.is_some(),
            has_unlabeled: !files.unlabeled.is_empty(),
            has_edge_axis: false,
            is_of_documents: true,
        };
        let output = SearchOutput {
            progress: &progress,
            resume: &self.checkpoint,
            model: &files.model,
            file: model_file,
            log,
            json: self.json,
            started,
        };
        let (result, printed) = output.run(&description, &data, |result| {
            let classifier = trainer.classifier(result.file.clone())?;
            Ok(classifier.file().as_bytes().to_vec())
        })?;
        self.checkpoint.end(&files.model, &result, printed, checkpoint)
    }

    /// Returns what is read, for the log and for JSON.
    fn inputs(&self) -> Map<String, Value> {
        let mut inputs = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "files": self.files.train,
            "templates": [],
            "dev": self.dev,
            "folds": self.folds,
            "seed": self.strategy.seed,
        });
        inputs.as_object_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Reads all documents, and returns the number of classes.
    fn read(
        &self,
        trainer: &ClassifierTrainer<'_>,
        progress: &Progress,
    ) -> Result<(TrainingCorpora, usize)> {
        let input = &self.files.input;
        let (labeled, counts) = trainer.sentences(input.labeled(&self.files.train)?)?;
        trainer.check_classes(&counts)?;
        progress.println_all(self.folds.into_iter().flat_map(|n| counts.notices_of_folds(n)));
        let dev = match &self.dev[..] {
            [] => None,
            files => Some(trainer.sentences(input.labeled(files)?)?.0),
        };
        let unlabeled = trainer.sentences(self.files.unlabeled()?)?.0;
        input.print_notices();
        let corpora = TrainingCorpora { labeled, dev, unlabeled, ..TrainingCorpora::default() };
        Ok((corpora, counts.classes.len()))
    }
}
