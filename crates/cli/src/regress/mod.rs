//! `dropchain regress`: predicting numbers

mod arguments;
mod train;

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};
use dropchain_documents::NumberReport;
use dropchain_documents::regress::{Regression, digits};

use crate::arguments::{Choice, FileName, one_of};
use crate::classify::place_of;
use crate::outputs::CommandFiles;
use crate::regress::arguments::NumberInput;
use crate::{CommandResult, print_report};
use dropchain_layout::format_table;

/// Predict numbers: train, predict, eval, path, inspect
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # A table with a column `price`; the other columns are numbers, but for one of categories
  dropchain regress train homes.csv --label price --columns all --categories town --model m
  dropchain regress predict m new.csv
  dropchain regress eval m test.csv

  # The lasso, with a strength chosen by cross-validation
  dropchain regress path homes.csv --label price --columns all --categories town \\
      --folds 10 --model m

  # Lines with a number, a tab, and a text
  dropchain regress train ratings.tsv --l2 10 --dropout 0.5 --model m

See docs/regression.md.")]
pub struct RegressCommand {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    Train(Box<train::TrainCommand>),
    Predict(PredictCommand),
    Eval(EvalCommand),
    Path(Box<train::PathCommand>),
    Inspect(InspectCommand),
}

impl RegressCommand {
    pub fn run(&self) -> CommandResult {
        match &self.command {
            Subcommands::Train(command) => command.run(),
            Subcommands::Predict(command) => command.run(),
            Subcommands::Eval(command) => command.run(),
            Subcommands::Path(command) => command.run(),
            Subcommands::Inspect(command) => command.run(),
        }
    }
}

/// Score a regression on documents with numbers
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain regress eval homes.model test.csv
  dropchain regress eval homes.model test.csv --json

Intervals are 95 % percentile intervals of a bootstrap over documents.")]
pub struct EvalCommand {
    /// Model file
    model: PathBuf,
    /// Documents with numbers: files, or `-` for standard input
    #[arg(required = true)]
    gold: Vec<FileName>,
    /// Random seed of the bootstrap
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: NumberInput,
}

impl EvalCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).read(&self.gold).check()?;
        let regression = Regression::open(&self.model)?;
        let documents = self.input.for_model(&self.gold, &regression, true)?;
        let evaluation = regression.evaluate(documents)?;
        self.input.documents.print_notices();
        let report = evaluation.report(self.seed);
        print_report(self.json, &report, || text(&report))
    }
}

fn text(report: &NumberReport) -> String {
    let row = |name: &str, score: f64, interval: Option<[f64; 2]>| {
        let short = |number: f64| format!("{number:.4}");
        let [low, high] = interval.map_or_else(Default::default, |i| i.map(short));
        [name.to_owned(), short(score), low, high]
    };
    let mut rows = vec![
        ["", "", "95 %", "interval"].map(str::to_owned),
        row("RMSE", report.rmse, Some(report.rmse_interval)),
        row("MAE", report.mae, Some(report.mae_interval)),
        row("R²", report.r2, Some(report.r2_interval)),
    ];
    if let Some(deviance) = report.poisson_deviance {
        rows.push(row("Poisson deviance", deviance, None));
    }
    let documents = digits(report.documents as f64);
    format!("{documents} documents\n\n{}", format_table(rows.iter()))
}

/// Predict the numbers of documents
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain regress predict homes.model new.csv
  echo 'a great , funny film' | dropchain regress predict ratings.model

A line for each document, in the order of the input: its number.")]
pub struct PredictCommand {
    /// Model file
    model: PathBuf,
    /// Documents: files, or `-` for standard input; unless the name or --format says otherwise, in
    /// the form that the model was trained on
    #[arg(default_value = "-")]
    input: Vec<FileName>,
    /// Output format
    #[arg(
        long,
        action = ArgAction::Set,
        value_parser = one_of(&OUTPUTS),
        default_value = "text",
        value_name = "FORMAT",
    )]
    output: bool,
    #[command(flatten)]
    documents: NumberInput,
}

/// Whether the output is JSON.
const OUTPUTS: [Choice<bool>; 2] = [
    ("text", "A number on each line", false),
    ("jsonl", "JSON lines with the place of the document", true),
];

impl PredictCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).read(&self.input).check()?;
        let regression = Regression::open(&self.model)?;
        let input = &self.documents;
        let documents = input.for_model(&self.input, &regression, false)?;
        input.documents.print_lines(documents, |document| {
            let number = regression.predict(document)?;
            if !self.output {
                return Ok(digits(number));
            }
            let mut value = place_of(document);
            value["value"] = number.into();
            Ok(value.to_string())
        })
    }
}

/// Show what a regression has learned: its options and strongest features
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain regress inspect homes.model
  dropchain regress inspect homes.model --top 1000 --json")]
pub struct InspectCommand {
    /// Model file
    model: PathBuf,
    /// Number of features to print, those with the largest absolute weights first
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl InspectCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).check()?;
        let regression = Regression::open(&self.model)?;
        regression.file().verify()?;
        let value = regression.inspection(self.top)?;
        print_report(self.json, &value, || regression.inspection_text(&value))
    }
}
