//! `dropchain classify eval`

use std::path::PathBuf;

use clap::Args;
use dropchain_analysis::PairedBootstrap;
use dropchain_documents::classify::Classifier;
use dropchain_documents::{ClassReport, comparison_text};
use serde_json::{Value, json};

use crate::arguments::FileName;
use crate::classify::arguments::DocumentInput;
use crate::outputs::CommandFiles;
use crate::terminal::{Rates, damage_table};
use crate::{CommandResult, json_line, print, print_json, print_report};
use dropchain_layout::format_table;

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
    /// Documents with classes: files, folders, or `-` for standard input
    #[arg(required = true)]
    gold: Vec<FileName>,
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
    /// Random seed of the bootstrap and of what is left out
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Print JSON, with scores as fractions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: DocumentInput,
}

impl EvalCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).read(&self.against).read(&self.gold).check()?;
        let classifier = Classifier::open(&self.model)?;
        let documents = self.input.labeled(&self.gold)?;
        if let Some(rates) = &self.delete {
            let rates = &rates.0[..];
            let evaluations = classifier.evaluate_damaged(documents, rates, self.seed)?;
            self.input.print_notices();
            let reports = evaluations.iter().map(|e| e.report(self.seed));
            let reports: Vec<_> = rates.iter().copied().zip(reports).collect();
            return print_report(self.json, &damaged_json(&reports), || damaged_text(&reports));
        }
        let other = self.against.as_ref().map(Classifier::open).transpose()?;
        let (evaluation, bootstrap) = classifier.evaluate(documents, other.as_ref())?;
        self.input.print_notices();
        let report = evaluation.report(self.seed);
        let comparison =
            other.map(|_| bootstrap.run(PairedBootstrap::SAMPLES, self.seed)).transpose()?;
        let comparison = comparison.as_ref();
        if self.json {
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
        let others = vec![macro_f1, format!("{:.4}", report.log_loss)];
        (*rate, report.accuracy, others)
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
