//! `dropchain regress eval`

use std::path::PathBuf;

use clap::Args;
use dropchain_documents::NumberReport;
use dropchain_documents::regress::{Regression, digits};

use super::input::NumberInput;
use crate::CommandResult;
use crate::file_name::FileName;
use crate::outputs::CommandFiles;
use crate::table::format_table;
use crate::{json_line, print};

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
        CommandFiles::default()
            .read([&self.model])
            .read(&self.gold)
            .check()?;
        let regression = Regression::open(&self.model)?;
        let documents = self.input.for_model(&self.gold, &regression, true)?;
        let evaluation = regression.evaluate(documents)?;
        self.input.documents.print_notices();
        let report = evaluation.report(self.seed);
        print(&match self.json {
            true => json_line(&report)?,
            false => text(&report),
        })
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
    let table = format_table(rows.iter());
    let lines: Vec<&str> = table.lines().map(str::trim_end).collect();
    format!("{documents} documents\n\n{}\n", lines.join("\n"))
}
