//! `dropchain classify inspect`

use std::path::PathBuf;

use clap::Args;
use dropchain_documents::classify::{Classifier, inspection, inspection_text};

use crate::CommandResult;
use crate::outputs::CommandFiles;
use crate::{json_line, print};

/// Show what a classifier has learned: its features, the strongest ones of each class
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain classify inspect reviews.model
  dropchain classify inspect reviews.model --top 50 --json")]
pub struct InspectCommand {
    /// Model file
    model: PathBuf,
    /// Number of features to print per class
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl InspectCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).check()?;
        let classifier = Classifier::open(&self.model)?;
        classifier.file().verify()?;
        let value = inspection(&classifier, self.top)?;
        print(&match self.json {
            true => json_line(&value)?,
            false => inspection_text(&value),
        })
    }
}
