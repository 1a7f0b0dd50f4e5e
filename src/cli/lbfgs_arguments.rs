//! The arguments of L-BFGS.

use clap::{Args, ValueEnum};
use dropchain::optim::{LbfgsOptions, LineSearch};

/// The options of the optimizer.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Optimizer")]
pub struct LbfgsArguments {
    /// Number of curvature pairs that L-BFGS keeps [default: 6]
    #[arg(long, value_name = "N")]
    lbfgs_memory: Option<usize>,
    /// Stop if ‖gradient‖ ≤ EPSILON · max(1, ‖θ‖) [default: 1e-5]
    #[arg(long, value_name = "EPSILON", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Stop if the objective fell by less than this fraction in --period iterations [default: 1e-5]
    #[arg(long, value_name = "DELTA", allow_negative_numbers = true)]
    delta: Option<f64>,
    /// Number of iterations over which --delta is measured [default: 10]
    #[arg(long, value_name = "N")]
    period: Option<usize>,
    /// Line search [default: strong-wolfe]
    ///
    /// With --l1 it is that of OWL-QN.
    #[arg(long, value_enum, value_name = "SEARCH")]
    line_search: Option<LineSearchName>,
    /// Maximum number of evaluations in a line search [default: 20]
    #[arg(long, value_name = "N")]
    max_line_search: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LineSearchName {
    /// Strong Wolfe conditions by interpolation, as Moré and Thuente
    StrongWolfe,
    /// Wolfe conditions by backtracking
    Backtracking,
    /// Strong Wolfe conditions by backtracking
    StrongBacktracking,
}

impl LbfgsArguments {
    /// Returns the options, without a maximum number of iterations.
    pub fn options(&self) -> LbfgsOptions {
        let default = LbfgsOptions::default();
        LbfgsOptions {
            memory: self.lbfgs_memory.unwrap_or(default.memory),
            gradient_tolerance: self.epsilon.unwrap_or(default.gradient_tolerance),
            improvement_tolerance: self.delta.unwrap_or(default.improvement_tolerance),
            period: self.period.unwrap_or(default.period),
            line_search: match self.line_search {
                None => default.line_search,
                Some(LineSearchName::StrongWolfe) => LineSearch::StrongWolfe,
                Some(LineSearchName::Backtracking) => LineSearch::Backtracking,
                Some(LineSearchName::StrongBacktracking) => LineSearch::StrongBacktracking,
            },
            max_line_search: self.max_line_search.unwrap_or(default.max_line_search),
            max_iterations: None,
        }
    }
}
