//! The arguments of L-BFGS.

use clap::{Args, ValueEnum};
use dropchain::optim::{LbfgsOptions, LineSearch};

/// The options of L-BFGS, except those that other algorithms share.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Only with --algorithm lbfgs")]
pub struct LbfgsArguments {
    /// Number of curvature pairs to keep [default: 6]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub lbfgs_memory: Option<usize>,
    /// Line search [default: strong-wolfe]
    ///
    /// With --l1 it is that of OWL-QN.
    #[arg(long, value_enum, value_name = "SEARCH", hide_short_help = true)]
    pub line_search: Option<LineSearchName>,
    /// Maximum number of evaluations in a line search [default: 20]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_line_search: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LineSearchName {
    /// Strong Wolfe conditions by interpolation, as Moré and Thuente
    StrongWolfe,
    /// Wolfe conditions by backtracking
    Backtracking,
    /// Strong Wolfe conditions by backtracking
    StrongBacktracking,
}

impl LbfgsArguments {
    /// Returns the options, with defaults for those that other algorithms share.
    pub fn options(&self) -> LbfgsOptions {
        let default = LbfgsOptions::default();
        LbfgsOptions {
            memory: self.lbfgs_memory.unwrap_or(default.memory),
            line_search: match self.line_search {
                None => default.line_search,
                Some(LineSearchName::StrongWolfe) => LineSearch::StrongWolfe,
                Some(LineSearchName::Backtracking) => LineSearch::Backtracking,
                Some(LineSearchName::StrongBacktracking) => LineSearch::StrongBacktracking,
            },
            max_line_search: self.max_line_search.unwrap_or(default.max_line_search),
            ..default
        }
    }
}
