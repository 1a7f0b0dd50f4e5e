//! `dropchain classify`: classification of whole documents

mod arguments;
mod eval;
mod train;
mod tune;

pub use arguments::{DocumentInput, FeatureArguments, place_of};

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};
use dropchain_documents::classify::{Classifier, Prediction, inspection, inspection_text};
use serde_json::{Map, json};

use crate::arguments::{Choice, FileName, one_of};
use crate::outputs::CommandFiles;
use crate::{CommandResult, print_report};

/// Classify whole documents: train, predict, eval, tune, inspect
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Lines with a class, a tab, and a text; or a folder per class, CSV, JSON lines, SVMlight
  dropchain classify train reviews.tsv --model reviews.model
  echo 'a great , funny film' | dropchain classify predict reviews.model
  dropchain classify eval reviews.model test.tsv
  dropchain classify tune reviews.tsv --folds 10 --model reviews.model
  dropchain classify inspect reviews.model

See docs/classification.md.")]
pub struct ClassifyCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    Train(Box<train::TrainCommand>),
    Predict(PredictCommand),
    Eval(eval::EvalCommand),
    Tune(Box<tune::TuneCommand>),
    Inspect(InspectCommand),
}

impl ClassifyCommand {
    pub fn run(&self) -> CommandResult {
        match &self.command {
            Subcommands::Train(command) => command.run(),
            Subcommands::Predict(command) => command.run(),
            Subcommands::Eval(command) => command.run(),
            Subcommands::Tune(command) => command.run(),
            Subcommands::Inspect(command) => command.run(),
        }
    }
}

/// Predict the classes of documents, with probabilities
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'a great , funny film' | dropchain classify predict reviews.model
  dropchain classify predict reviews.model new.csv --text body --top 3
  dropchain classify predict reviews.model folder/ --output jsonl

A line for each document, in the order of the input: its class and the probability, separated by a
tab. With --top N, the N best classes, each with its probability.")]
pub struct PredictCommand {
    /// Model file
    model: PathBuf,
    /// Documents: files, folders, or `-` for standard input; a text on each line unless the name
    /// or --format says otherwise
    #[arg(default_value = "-")]
    input: Vec<FileName>,
    /// Output format
    #[arg(
        long,
        action = ArgAction::Set,
        value_parser = one_of(&OUTPUTS),
        default_value = "tsv",
        value_name = "FORMAT",
    )]
    output: bool,
    /// Number of classes to print, the best first
    #[arg(long, value_name = "N", default_value_t = 1)]
    top: usize,
    #[command(flatten)]
    documents: DocumentInput,
}

/// Whether the output is JSON.
const OUTPUTS: [Choice<bool>; 2] = [
    ("tsv", "Classes and probabilities, separated by tabs", false),
    ("jsonl", "JSON lines with the place of the document", true),
];

impl PredictCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).read(&self.input).check()?;
        let classifier = Classifier::open(&self.model)?;
        let documents = self.documents.unlabeled(&self.input)?;
        self.documents.print_lines(documents, |document| {
            let prediction = classifier.classify(document)?;
            let top = self.top(&classifier, &prediction);
            if self.output {
                let top: Map<_, _> = top.map(|(class, p)| (class.to_owned(), json!(p))).collect();
                let mut value = place_of(document);
                value["label"] = json!(classifier.classes()[prediction.best()]);
                value["probabilities"] = top.into();
                return Ok(value.to_string());
            }
            let cells: Vec<String> = top.map(|(class, p)| format!("{class}\t{p:.4}")).collect();
            Ok(cells.join("\t"))
        })
    }

    /// Returns the best classes with their probabilities.
    fn top<'a>(
        &self,
        classifier: &'a Classifier,
        prediction: &Prediction,
    ) -> impl Iterator<Item = (&'a str, f64)> {
        let ranking = prediction.ranking().into_iter().take(self.top.max(1));
        ranking.map(|class| {
            let probability = prediction.probabilities[class];
            (classifier.classes()[class].as_str(), probability)
        })
    }
}

/// Show what a classifier has learned: its features, the strongest ones of each class
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain classify inspect reviews.model
  dropchain classify inspect reviews.model --top 50 --json")]
pub struct InspectCommand {
    /// Model file
    model: PathBuf,
    /// Number of features to print per class
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl InspectCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).check()?;
        let classifier = Classifier::open(&self.model)?;
        classifier.file().verify()?;
        let value = inspection(&classifier, self.top)?;
        print_report(self.json, &value, || inspection_text(&value))
    }
}
