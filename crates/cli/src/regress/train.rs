//! `dropchain regress train` and `dropchain regress path`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{ArgAction, Args};
use dropchain::Result;
use dropchain::train::EndReason;
use dropchain_documents::regress::{
    CrossValidation, PathOptions, PathPoint, RegressionIteration, RegressionOptions,
    RegressionPath, RegressionTrainer, Solver, digits,
};
use serde_json::json;

use crate::arguments::{Choice, FileName, ThreadArguments, one_of};
use crate::exit::{CommandError, training_result};
use crate::outputs::{CommandFiles, ResultFile};
use crate::progress::Progress;
use crate::regress::arguments::{ModelArguments, NumberInput};
use crate::{CommandResult, interrupt, print_report};
use dropchain_layout::format_table;

/// The least time between two lines of progress.
const PAUSE: Duration = Duration::from_millis(500);

/// Train a regression on documents with numbers
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # A table with a column `price`; all other columns are numbers
  dropchain regress train homes.csv --label price --columns all --model homes.model

  # Lines with a number, a tab, and a text; words are dropped at random
  dropchain regress train ratings.tsv --l2 10 --dropout 0.5 --model ratings.model

  # Counts: Poisson regression with an L1 penalty
  dropchain regress train visits.csv --label visits --columns all --loss poisson --l1 5 \\
      --model visits.model

  # Support vector regression on ready-made features
  dropchain regress train a.svm --loss insensitive --epsilon 0.5 --l2 0.1 --model a.model

Ctrl-C stops training and saves the best model so far.")]
pub struct TrainCommand {
    /// Training documents: files, or `-` for standard input
    #[arg(required = true, value_name = "TRAIN")]
    train: Vec<FileName>,
    /// Write the model to this file
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: NumberInput,
    #[command(flatten)]
    arguments: ModelArguments,
    #[command(flatten)]
    penalties: PenaltyArguments,
    /// How the objective is minimized; all solvers find the same minimum
    #[arg(
        long,
        value_parser = one_of(&SOLVERS),
        default_value = "auto",
        help_heading = "Optimization"
    )]
    solver: Solver,
}

/// The penalties.
#[derive(Debug, Args)]
#[command(next_help_heading = "Regularization")]
struct PenaltyArguments {
    /// Strength c2 of the L2 penalty c2·‖w‖²
    #[arg(long, value_name = "C2", default_value_t = 1.0)]
    l2: f64,
    /// Strength c1 of the L1 penalty c1·‖w‖₁; above 0, many weights become exactly 0
    #[arg(long, value_name = "C1", default_value_t = 0.0)]
    l1: f64,
}

const SOLVERS: [Choice<Solver>; 4] = [
    ("auto", "The fastest that fits", Solver::Auto),
    ("cholesky", "Cholesky factorization: squared loss without L1", Solver::Cholesky),
    ("lbfgs", "L-BFGS, with L1 OWL-QN: squared and poisson", Solver::Lbfgs),
    ("coordinate-descent", "Coordinate descent: squared loss with L1", Solver::CoordinateDescent),
];

impl TrainCommand {
    pub fn run(&self) -> CommandResult {
        let mut trainer = RegressionTrainer::new(self.options()?)?;
        CommandFiles::default().read(&self.train).write_model(&self.model, None).check()?;
        interrupt::watch();
        let model_file = ResultFile::new(&self.model)?;
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet);
        let corpus = (self.input).read_training(&mut trainer, &self.train, &progress)?;
        let mut last = Instant::now();
        let mut observe = |iteration: RegressionIteration| {
            if iteration.number > 0 {
                interrupt::set_has_result();
            }
            if last.elapsed() >= PAUSE {
                last = Instant::now();
                let objective = digits(iteration.objective);
                let [number, nonzero] = [iteration.number, iteration.nonzero];
                progress.update(&format!(
                    "iteration {number}: objective {objective}, {nonzero} weights"
                ));
            }
            ControlFlow::Continue(())
        };
        let trained = trainer.train(&corpus, &mut observe)?;
        progress.clear();
        model_file.save(trained.regression.file().as_bytes())?;
        progress.println(&format!(
            "stopped after {} iterations: {}; objective {}",
            trained.iterations,
            trained.stop_reason,
            digits(trained.objective)
        ));
        let model = self.model.display();
        progress.println(&format!("wrote {model}"));
        let fate = format!("{model} has the best weights so far");
        let end = (EndReason::Optimizer(trained.stop_reason), trained.iterations);
        training_result(end, false, true, &fate)
    }

    fn options(&self) -> Result<RegressionOptions> {
        Ok(RegressionOptions {
            l2: self.penalties.l2,
            l1: self.penalties.l1,
            solver: self.solver,
            ..self.arguments.options(&self.input, &self.train)?
        })
    }
}

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
    /// Training documents: files, or `-` for standard input
    #[arg(required = true, value_name = "TRAIN")]
    train: Vec<FileName>,
    /// Write the model with the chosen strength to this file
    #[arg(long, value_name = "FILE", requires = "folds")]
    model: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Print the weights that are not 0 for every strength
    #[arg(long, requires = "json")]
    weights: bool,
    /// Do not print progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    threads: ThreadArguments,
    #[command(flatten)]
    input: NumberInput,
    #[command(flatten)]
    arguments: ModelArguments,
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
    /// Number of strengths
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: usize,
    /// The last strength, relative to the first
    #[arg(long, value_name = "FRACTION", default_value_t = 1e-3)]
    smallest: f64,
    /// Strengths, instead of a geometric sequence
    #[arg(long, value_name = "VALUES", value_delimiter = ',',
          conflicts_with_all = ["count", "smallest"])]
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
            smallest: self.smallest,
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
        let options = self.arguments.options(&self.input, &self.train)?;
        let mut trainer = RegressionTrainer::new(options)?;
        let files = CommandFiles::default().read(&self.train);
        match &self.model {
            Some(model) => files.write_model(model, None),
            None => files,
        }
        .check()?;
        interrupt::watch();
        let model_file = self.model.as_deref().map(ResultFile::new).transpose()?;
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet);
        let corpus = (self.input).read_training(&mut trainer, &self.train, &progress)?;
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
            file.save(trained.regression.file().as_bytes())?;
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
                [point.error, point.standard_error].map(|e| e.map_or_else(String::new, short)),
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
