//! `dropchain inspect`

mod attribute;
mod config;
mod json;
mod sizes;
mod summary;
mod top_attributes;
mod transitions;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dropchain::model::{AttributeKind, Model, Provenance};
use dropchain::{Error, Result};
use dropchain_analysis::LineStatistics;
use serde_json::Value;

use super::model_input::check_is_tagger;
use super::outputs::CommandFiles;
use super::terminal::columns;
use super::{CommandResult, print};
use crate::progress::notice;
use config::RunConfig;
use top_attributes::TopAttributes;

/// Show the contents of a model: training, sizes, transitions, top attributes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain inspect ner.model
  dropchain inspect ner.model --config > ner.toml
  dropchain inspect ner.model --attribute 'word[-1]=in'
  dropchain inspect ner.model --top 50 --json | jq '.labels[\"B-PER\"]'")]
pub struct InspectCommand {
    /// Model file
    model: PathBuf,
    /// Number of attributes to print per label, and of transitions if there are many labels
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print only the weights of this attribute, by label; if the model does not have it, name
    /// some that are like it
    #[arg(long, value_name = "NAME", conflicts_with = "template")]
    attribute: Option<String>,
    /// Also print the template
    #[arg(long)]
    template: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print the configuration file that repeats the run of the model (docs/config.md)
    #[arg(long, conflicts_with_all = ["json", "template"])]
    config: bool,
}

/// What is shown of a model.
struct Contents<'a> {
    model: &'a Model,
    top: TopAttributes,
    lines: Vec<LineStatistics>,
}

impl InspectCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::default().read([&self.model]).check()?;
        check_is_tagger(&self.model)?;
        let model = dropchain_crfsuite::open(&self.model)?;
        if self.config {
            let config = RunConfig::new(&model)?;
            for warning in &config.warnings {
                notice(&format!("warning: {warning}"));
            }
            return print(&config.text);
        }
        model.verify()?;
        if let Some(name) = &self.attribute {
            let weights = attribute::AttributeWeights::find(&model, name)?;
            return print(&match self.json {
                true => pretty(&weights.json())?,
                false => weights.text(),
            });
        }
        let contents = Contents {
            model: &model,
            top: TopAttributes::find(&model, self.top)?,
            lines: LineStatistics::of(&model)?,
        };
        print(&match self.json {
            true => pretty(&json::contents(&contents)?)?,
            false => self.text(&contents)?,
        })
    }

    fn text(&self, contents: &Contents<'_>) -> Result<String> {
        let (model, header) = (contents.model, contents.model.header());
        let columns = columns();
        let mut text = summary::text(model, columns)?;
        if self.template
            && let Some(template) = &header.template
        {
            text += &format!("\ntemplate\n{}\n", template.source().trim_end());
        }
        text += &sizes::sizes_text(model);
        text += &sizes::lines_text(model, &contents.lines, columns);
        text += &transitions::text(model, self.top, columns);
        for (label, attributes) in header.labels.names().iter().zip(&contents.top.nodes) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n{label}");
            for (weight, name) in attributes {
                let _ = writeln!(text, "{weight:10.4}  {name}");
            }
        }
        if !contents.top.edges.is_empty() {
            text.push_str("\nstrongest edge attributes\n");
        }
        for edge in &contents.top.edges {
            let [from, to] = [edge.from, edge.to].map(|label| header.labels.name(label));
            let _ = writeln!(text, "{:10.4}  {from} → {to}  {}", edge.weight, edge.name);
        }
        Ok(text)
    }
}

fn pretty(value: &Value) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::parameter(format!("cannot write the model as JSON: {e}")))?;
    Ok(text + "\n")
}

/// Counts the weights of attributes.
fn weights(model: &Model) -> usize {
    model.weights(AttributeKind::Node) + model.weights(AttributeKind::Edge)
}

/// Returns the absolute value below which weights were pruned; 0 if none were.
fn prune_threshold(model: &Model) -> f64 {
    let threshold = option(&model.header().provenance, "prune");
    threshold.as_f64().unwrap_or(0.0)
}

/// Returns an option that a model was trained with; null if there is none of this name.
fn option(source: &Provenance, name: &str) -> Value {
    let mut options = source.training_options();
    options.get_mut(name).map(Value::take).unwrap_or_default()
}
