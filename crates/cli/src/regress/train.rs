//! `dropchain regress train`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use dropchain::Result;
use dropchain::optim::StopReason;
use dropchain_documents::regress::{
    RegressionIteration, RegressionOptions, RegressionTrainer, Solver, digits,
};

use super::input::NumberInput;
use super::model::ModelArguments;
use crate::CommandResult;
use crate::arguments::ThreadArguments;
use crate::exit::CommandError;
use crate::file_name::FileName;
use crate::interrupt;
use crate::named::{Named, named};
use crate::outputs::{CommandFiles, ResultFile};
use crate::progress::Progress;

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
        value_parser = named(&SOLVERS),
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
    #[arg(
        long,
        value_name = "C2",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    l2: f64,
    /// Strength c1 of the L1 penalty c1·‖w‖₁; above 0, many weights become exactly 0
    #[arg(
        long,
        value_name = "C1",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    l1: f64,
}

const SOLVERS: [Named<Solver>; 4] = [
    ("auto", "The fastest that fits", Solver::Auto),
    (
        "cholesky",
        "Cholesky factorization: squared loss without L1",
        Solver::Cholesky,
    ),
    (
        "lbfgs",
        "L-BFGS, with L1 OWL-QN: squared and poisson",
        Solver::Lbfgs,
    ),
    (
        "coordinate-descent",
        "Coordinate descent: squared loss with L1",
        Solver::CoordinateDescent,
    ),
];

impl TrainCommand {
    pub fn run(&self) -> CommandResult {
        let trainer = RegressionTrainer::new(self.options()?)?;
        CommandFiles::default()
            .read(&self.train)
            .write_model(&self.model, None)
            .check()?;
        interrupt::watch();
        let model_file = ResultFile::new(&self.model)?;
        self.threads.start_pool()?;
        let progress = Progress::new(self.quiet);
        let (trainer, corpus) = self.input.read_training(trainer, &self.train, &progress)?;
        let mut last = Instant::now();
        let mut observe = |iteration: RegressionIteration| {
            if iteration.number > 0 {
                interrupt::set_has_result();
            }
            if last.elapsed() >= PAUSE {
                last = Instant::now();
                let objective = digits(iteration.objective);
                let [number, nonzero] = [iteration.number, iteration.nonzero];
                progress.update(format!(
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
        if let Some(signal) = interrupt::received() {
            let message = format!(
                "interrupted by {signal} after {} iterations; {fate}",
                trained.iterations
            );
            return Err(CommandError::Interrupted(signal, message));
        }
        if trained.stop_reason == StopReason::LineSearch {
            return Err(CommandError::NotConverged(format!(
                "training did not converge: the line search found no lower value after {} \
                 iterations; {fate}",
                trained.iterations
            )));
        }
        Ok(())
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
