//! `dropchain regress inspect`

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dropchain_documents::regress::Regression;
use serde_json::{Value, json};

use super::digits;
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
        CommandFiles::new(false).read([&self.model]).check()?;
        let regression = Regression::open(&self.model)?;
        regression.file().verify()?;
        let mut weights = regression.weights()?;
        let features = weights.len();
        weights.sort_by(|(a, v), (b, w)| w.abs().total_cmp(&v.abs()).then_with(|| a.cmp(b)));
        weights.truncate(self.top);
        let documents = regression.documents();
        if self.json {
            let weights = weights.iter();
            let weights = weights.map(|(name, w)| json!({"feature": name, "weight": w}));
            return print(&json_line(&json!({
                "documents": documents,
                "options": regression.options(),
                "bias": regression.bias(),
                "features": features,
                "weights": weights.collect::<Value>(),
            }))?);
        }
        let options = regression.options();
        let number = |name: &str| digits(options[name].as_f64().unwrap_or_default());
        let mut text = format!(
            "trained on {documents} documents\nloss: {}, L2 {}, L1 {}\n\
             {features} features with a weight\n\n",
            regression.loss(),
            number("l2"),
            number("l1"),
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:>14}  (bias)", digits(regression.bias()));
        for (name, weight) in &weights {
            let _ = writeln!(text, "{:>14}  {name}", digits(*weight));
        }
        print(&text)
    }
}
