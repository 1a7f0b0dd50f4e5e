//! `dropchain regress inspect`

use std::path::PathBuf;

use clap::Args;
use dropchain_documents::regress::Regression;

use crate::CommandResult;
use crate::outputs::CommandFiles;
use crate::{json_line, print};

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
        print(&match self.json {
            true => json_line(&value)?,
            false => regression.inspection_text(&value),
        })
    }
}
