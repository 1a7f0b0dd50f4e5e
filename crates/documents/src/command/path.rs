//! `dropchain regress path`

use std::path::PathBuf;

use crate::{CrossValidation, DocumentTrainer, PathOptions, PathPoint, RegressionPath, digits};
use clap::{ArgAction, Args};
use serde_json::json;

use super::arguments::TrainingFiles;
use super::learning::NumberLearning;
use dropchain_command::arguments::{Choice, one_of};
use dropchain_command::exit::{CommandError, CommandResult};
use dropchain_command::outputs::ResultFile;
use dropchain_command::progress::Progress;
use dropchain_command::{interrupt, print_report};
use dropchain_layout::format_table;

/// Train with falling strengths of the penalties, and choose one by cross-validation
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # The lasso: which features matter, and in which order
  dropchain regress path homes.csv --label price --columns all

  # The strength with the least error over ten folds; a model with it
  dropchain regress path homes.csv --label price --columns all --folds 10 --model homes.model

  # The elastic net; the strongest penalty within one standard error of the best
  dropchain regress path homes.csv --label price --columns all --l1-ratio 0.5 \\
      --folds 10 --choose one-se --model homes.model

A strength s and the ratio r give the penalties c1 = 2·s·r and c2 = s·(1 − r). The first strength
of the sequence is the least for which all weights are 0.")]
pub struct PathCommand {
    #[command(flatten)]
    files: TrainingFiles,
    /// Write the model with the chosen strength to this file
    #[arg(long, value_name = "FILE", requires = "folds")]
    model: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Print the weights that are not 0 for every strength
    #[arg(long, requires = "json")]
    weights: bool,
    #[command(flatten)]
    learning: NumberLearning,
    #[command(flatten)]
    path: PathArguments,
}

/// Whether the strongest strength within one standard error is chosen.
const CHOICES: [Choice<bool>; 2] =
    [("best", "The least error", false), ("one-se", "One standard error above it at most", true)];

/// The strengths, and how one is chosen.
#[derive(Debug, Args)]
#[command(next_help_heading = "Path")]
struct PathArguments {
    /// Part of the L1 penalty: 1 for the lasso, 0 for ridge regression, else the elastic net
    #[arg(long, value_name = "R", default_value_t = 1.0)]
    l1_ratio: f64,
    /// Number of strengths, from the first to a thousandth of it
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: usize,
    /// Strengths, instead of a geometric sequence
    #[arg(long, value_name = "VALUES", value_delimiter = ',', conflicts_with = "count")]
    strengths: Option<Vec<f64>>,
    /// Score strengths by K-fold cross-validation
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// Random seed of the folds
    #[arg(long, value_name = "N", default_value_t = 1, requires = "folds")]
    seed: u64,
    /// Which strength is chosen: that with the least error, or the strongest within one standard
    /// error of it
    #[arg(
        long,
        action = ArgAction::Set,
        value_parser = one_of(&CHOICES),
        default_value = "best",
        value_name = "CHOICE",
        requires = "folds",
    )]
    choose: bool,
}

impl PathArguments {
    fn options(&self, with_weights: bool) -> PathOptions {
        PathOptions {
            l1_ratio: self.l1_ratio,
            strengths: self.strengths.clone(),
            count: self.count,
            cross_validation: self.folds.map(|folds| CrossValidation {
                folds,
                seed: self.seed,
                one_standard_error: self.choose,
            }),
            with_weights,
        }
    }
}

impl PathCommand {
    pub fn run(&self) -> CommandResult {
        let files = &self.files;
        let mut trainer = DocumentTrainer::new(self.learning.options(files)?)?;
        files.declared(self.model.as_ref()).check()?;
        interrupt::watch();
        let model_file = self.model.as_deref().map(ResultFile::new).transpose()?;
        files.threads.start_pool()?;
        let progress = Progress::new(files.quiet);
        let corpus = files.read(&trainer, &[], &progress)?;
        let counts = format!("{} documents, {} features", corpus.documents(), corpus.features());
        progress.println(&counts);
        trainer.interrupt = Some(interrupt::flag());
        let mut tenths = 0;
        let mut observe = |done: f64| {
            let now = (10.0 * done) as u32;
            if now > tenths {
                tenths = now;
                progress.update(&format!("{} % of the path", 10 * now));
            }
        };
        let path = trainer.path(&corpus, &self.path.options(self.weights), &mut observe)?;
        progress.clear();
        let value = json!({"points": path.points, "chosen": path.chosen});
        if let Some(signal) = interrupt::received().filter(|_| path.interrupted) {
            print_report(self.json, &value, || table(&path))?;
            let fate = self
                .model
                .as_ref()
                .map_or_else(String::new, |model| format!("; {} was not written", model.display()));
            let message = format!("interrupted by {signal} before the end of the path{fate}");
            return Err(CommandError::Interrupted(signal, message));
        }
        if let (Some(file), Some(trained)) = (model_file, &path.trained) {
            file.save(trained.model.as_bytes())?;
            let model = self.model.as_deref().unwrap_or_else(|| "".as_ref());
            progress.println(&format!("wrote {}", model.display()));
        }
        print_report(self.json, &value, || table(&path))
    }
}

/// Returns a line for each strength; the chosen one has a star.
fn table(path: &RegressionPath) -> String {
    let has_errors = path.chosen.is_some();
    let mut heading = vec!["strength", "L2", "L1", "weights", "explained"];
    if has_errors {
        heading.extend(["error", "± SE", ""]);
    }
    let heading: Vec<String> = heading.into_iter().map(str::to_owned).collect();
    let points = path.points.iter().enumerate().map(|(i, point)| {
        let PathPoint { strength, l2, l1, .. } = *point;
        let mut row: Vec<String> = [strength, l2, l1].map(short).to_vec();
        row.push(point.nonzero.to_string());
        row.push(format!("{:.4}", point.explained));
        if has_errors {
            row.extend(
                point.validation.iter().flat_map(|v| [v.error, v.standard_error]).map(short),
            );
            row.push(if path.chosen == Some(i) { "*" } else { "" }.to_owned());
        }
        row
    });
    format_table([heading].into_iter().chain(points))
}

/// Formats a number with four significant digits.
fn short(number: f64) -> String {
    let rounded = format!("{number:.3e}").parse().unwrap_or(number);
    digits(rounded)
}
