//! What `dropchain classify` does with a model: predict, eval, inspect.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::{ClassReport, DocumentModel, Instance, InstanceContent, Prediction, comparison_text};
use clap::{Args, ValueEnum};
use dropchain_analysis::PairedBootstrap;
use serde_json::{Map, Value, json};

use super::DocumentInput;
use dropchain_command::arguments::FileName;
use dropchain_command::exit::CommandResult;
use dropchain_command::outputs::CommandFiles;
use dropchain_command::progress::notice;
use dropchain_command::terminal::{Rates, damage_table};
use dropchain_command::{json_line, print, print_json, print_report, stdout_error};
use dropchain_layout::format_table;

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
    /// Documents: files, folders, or `-` for standard input; unless the name or --format says
    /// otherwise, texts one on each line, or ready-made features if the model was trained on these
    #[arg(default_value = "-")]
    input: Vec<FileName>,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    output: OutputFormat,
    #[command(flatten)]
    documents: DocumentInput,
    /// Number of classes to print, the best first
    #[arg(long, value_name = "N", default_value_t = 1)]
    top: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// A line for each document, with tabs
    Text,
    /// JSON lines with the place of the document
    Jsonl,
}

impl PredictCommand {
    /// Prints a line for each document, as soon as it is known: the input may be a pipe that stays
    /// open.
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).read(&self.input).check()?;
        let model = DocumentModel::open(&self.model)?;
        let mut out = BufWriter::new(io::stdout().lock());
        let format = model.default_format(false);
        let (mut documents, mut labeled) = (0, 0);
        for document in self.documents.open(&self.input, false, format)? {
            let document = document?;
            let line = self.line(&model, &document, &model.classify(&document)?);
            let written = writeln!(out, "{line}").and_then(|()| out.flush());
            written.map_err(stdout_error)?;
            documents += 1;
            labeled += usize::from(begins_with_class(&model, &document));
        }
        self.documents.print_notices();
        if labeled == documents && documents > 0 {
            notice(
                "warning: all texts begin with a class of the model and a tab, read as words; of \
                 lines, --format labeled leaves it out",
            );
        }
        Ok(())
    }

    fn line(&self, model: &DocumentModel, document: &Instance, prediction: &Prediction) -> String {
        let top = prediction.ranking().into_iter().take(self.top.max(1));
        let top = top.map(|class| (&model.classes()[class], prediction.probabilities[class]));
        if self.output == OutputFormat::Text {
            let cells: Vec<String> = top.map(|(class, p)| format!("{class}\t{p:.4}")).collect();
            return cells.join("\t");
        }
        let top = top.map(|(class, p)| (class.clone(), json!(p)));
        let value = json!({
            "file": &*document.file,
            "line": (document.line > 0).then_some(document.line),
            "label": model.classes()[prediction.best()],
            "probabilities": top.collect::<Map<_, _>>(),
        });
        value.to_string()
    }
}

/// Returns whether a text seems to be a line with the class of a document.
fn begins_with_class(model: &DocumentModel, document: &Instance) -> bool {
    let InstanceContent::Text(text) = &document.content else { return false };
    text.split_once('\t').is_some_and(|(first, _)| model.classes().iter().any(|c| c == first))
}

/// Score a classifier on documents with classes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain classify eval reviews.model test.tsv
  dropchain classify eval reviews.model test.tsv --confusion --calibration
  # Is it better than another model? Paired bootstrap over documents
  dropchain classify eval dropout.model test.tsv --against l2.model
  # How much does it suffer when words are missing?
  dropchain classify eval reviews.model test.tsv --delete 0..0.9

Intervals are 95 % percentile intervals of a bootstrap over documents.")]
pub struct EvalCommand {
    /// Model file
    model: PathBuf,
    /// Documents with labels: files, folders, or `-` for standard input
    #[arg(required = true)]
    gold: Vec<FileName>,
    /// Random seed of the bootstrap, and of what is left out
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Print JSON, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: DocumentInput,
    /// Also print what documents of each class were predicted to be
    #[arg(long, conflicts_with = "delete")]
    confusion: bool,
    /// Also print how often predictions of some probability are right
    #[arg(long, conflicts_with = "delete")]
    calibration: bool,
    /// Compare with another model on the same documents
    #[arg(long, value_name = "MODEL", conflicts_with = "delete")]
    against: Option<PathBuf>,
    /// Leave out words at random, at these rates: 0..0.9 in steps of 0.1, or 0,0.25,0.5
    #[arg(long, value_name = "RATES")]
    delete: Option<Rates>,
}

impl EvalCommand {
    pub fn run(&self) -> CommandResult {
        let Self { model, gold, seed, json, input, .. } = self;
        CommandFiles::default().read([model]).read(&self.against).read(gold).check()?;
        let model = DocumentModel::open(model)?;
        let documents = input.open(gold, true, model.default_format(true))?;
        if let Some(rates) = &self.delete {
            let rates = &rates.0[..];
            let evaluations = model.evaluate_damaged(documents, rates, *seed)?;
            input.print_notices();
            let reports = evaluations.iter().map(|e| e.report(*seed));
            let reports: Vec<_> = rates.iter().copied().zip(reports).collect();
            return print_report(*json, &damaged_json(&reports), || damaged_text(&reports));
        }
        let other = self.against.as_ref().map(DocumentModel::open).transpose()?;
        let (evaluation, bootstrap) = model.evaluate(documents, other.as_ref())?;
        input.print_notices();
        let report = evaluation.report(*seed);
        let comparison =
            other.map(|_| bootstrap.run(PairedBootstrap::SAMPLES, *seed)).transpose()?;
        let comparison = comparison.as_ref();
        if *json {
            return print_json(&json_line(&evaluation.json(&report, comparison))?);
        }
        let mut tables = vec![report.class_rows()];
        tables.extend(self.confusion.then(|| report.confusion_rows()));
        tables.extend(self.calibration.then(|| evaluation.calibration_rows()));
        let tables = tables.into_iter().map(|rows| format_table(rows.into_iter()));
        let mut text = report.summary();
        tables.for_each(|table| text += &format!("\n{table}"));
        text += &comparison.map_or_else(String::new, comparison_text);
        print(&text)
    }
}

/// Returns a table and a plot of scores by the rate of words that are left out.
fn damaged_text(reports: &[(f64, ClassReport)]) -> String {
    let rows = reports.iter().map(|(rate, report)| {
        let macro_f1 = format!("{:.2}", 100.0 * report.macro_f1);
        (*rate, report.accuracy, vec![macro_f1, format!("{:.4}", report.log_loss)])
    });
    let heading = ["left out", "accuracy", "macro-F1", "log-loss"];
    damage_table(&heading, &rows.collect::<Vec<_>>())
}

/// Returns the scores by the rate of words that are left out, as JSON.
fn damaged_json(reports: &[(f64, ClassReport)]) -> Value {
    let rates = reports.iter().map(|(rate, report)| {
        let mut value = json!(report);
        value["rate"] = json!(rate);
        value
    });
    rates.collect()
}

/// Show what a model has learned: its options and its strongest features
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain classify inspect reviews.model --top 50")]
pub struct InspectCommand {
    /// Model file
    model: PathBuf,
    /// Number of features to print, those with the largest absolute weights; of each class
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl InspectCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).check()?;
        let model = DocumentModel::open(&self.model)?;
        let value = model.inspection(self.top);
        print_report(self.json, &value, || model.inspection_text(&value))
    }
}
