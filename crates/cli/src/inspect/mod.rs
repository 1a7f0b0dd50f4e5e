//! `dropchain inspect`

mod config;
mod summary;
mod weights;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dropchain::model::{AttributeKind, FORMAT_VERSION, Model, Provenance};
use dropchain::{Result, Template};
use dropchain_analysis::LineStatistics;
use serde_json::{Map, Value, json};

use crate::inspect::config::RunConfig;
use crate::inspect::weights::{AttributeWeights, EdgeWeight, NodeWeight, TopAttributes};
use crate::outputs::CommandFiles;
use crate::progress::notice;
use crate::tag_input::check_is_tagger;
use crate::terminal::columns;
use crate::{CommandResult, print, print_json};

/// Show the contents of a model: training, sizes, transitions, top attributes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain inspect ner.model
  dropchain inspect ner.model --config > ner.options
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
            let weights = AttributeWeights::find(&model, name)?;
            return match self.json {
                true => print_json(&format!("{:#}\n", json!(weights))),
                false => print(&weights.text()),
            };
        }
        let top = TopAttributes::find(&model, self.top)?;
        let lines = LineStatistics::of(&model)?;
        match self.json {
            true => print_json(&format!("{:#}\n", describe(&model, &top, &lines)?)),
            false => print(&self.text(&model, &top, &lines)?),
        }
    }

    fn text(&self, model: &Model, top: &TopAttributes, lines: &[LineStatistics]) -> Result<String> {
        let (header, columns) = (model.header(), columns());
        let mut text = summary::text(model, columns)?;
        if self.template
            && let Some(template) = &header.template
        {
            text += &format!("\ntemplate\n{}\n", template.source().trim_end());
        }
        text += &summary::sizes_text(model);
        text += &summary::lines_text(model, lines, columns);
        text += &summary::transitions(model, self.top, columns);
        for (label, attributes) in header.labels.names().iter().zip(&top.nodes) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n{label}");
            for NodeWeight { attribute, weight } in attributes {
                let _ = writeln!(text, "{weight:10.4}  {attribute}");
            }
        }
        if !top.edges.is_empty() {
            text.push_str("\nstrongest edge attributes\n");
        }
        for edge in &top.edges {
            let EdgeWeight { from, to, weight, .. } = edge;
            let name = edge.attribute.as_deref().unwrap_or_default();
            let _ = writeln!(text, "{weight:10.4}  {from} → {to}  {name}");
        }
        Ok(text)
    }
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

/// Describes a model.
fn describe(model: &Model, top: &TopAttributes, lines: &[LineStatistics]) -> Result<Value> {
    let header = model.header();
    let fingerprint = model.fingerprint()?;
    let labels = header.labels.names().iter().enumerate();
    let labels: Map<String, Value> =
        labels.map(|(i, name)| (name.clone(), label_json(model, i, &top.nodes[i]))).collect();
    let mut value = json!({
        "scheme": header.labeling.scheme.name(),
        "corpus_scheme": header.corpus_labeling.scheme.name(),
        "labels_read_as": header.corpus_labeling.to_string(),
        "columns": header.columns.names,
        "node_attributes": model.attributes(AttributeKind::Node),
        "edge_attributes": model.attributes(AttributeKind::Edge),
        "weights": weights(model),
        "bytes": model.as_bytes().len(),
        "format_version": FORMAT_VERSION,
        "precision": header.precision,
        "prune": prune_threshold(model),
        "fingerprint": format!("{fingerprint:032x}"),
        "version": header.provenance.version,
        "files": header.provenance.files,
        "sentences": header.provenance.sentences,
        "tokens": header.provenance.tokens,
        "options": header.provenance.training_options(),
        "template": header.template.as_ref().map(|t| t.source().to_owned()),
        "labels": labels,
        "edges": top.edges,
        "order": header.order,
        "label_column": header.columns.label_name(),
        "comments": header.columns.lines.comments,
        "header": header.columns.lines.header,
        "recall_bias": header.recall_bias(),
        "sizes": model.sizes(),
    });
    if header.columns.joined().is_some() {
        value["joined_columns"] = json!(header.columns.joined_names());
    }
    if let Some(record) = header.provenance.training() {
        value["training"] = json!(record);
    }
    if let Some(config) = header.provenance.config() {
        value["config"] = config;
    }
    if header.template.is_some() {
        value["lines"] = template_lines(model, lines);
    }
    if let Some(first) = model.first_pass() {
        value["first_pass"] = json!({
            "node_attributes": first.attributes(AttributeKind::Node),
            "edge_attributes": first.attributes(AttributeKind::Edge),
            "weights": weights(first),
            "training": first.header().provenance.training(),
            "recall_bias": first.header().recall_bias(),
        });
    }
    let files = header.template.iter().flat_map(Template::files);
    let files: Vec<Value> =
        files.map(|(name, bytes)| json!({"name": name, "bytes": bytes})).collect();
    if !files.is_empty() {
        value["template_files"] = files.into();
    }
    Ok(value)
}

/// Describes label number `i`: its label weights and its top attributes.
fn label_json(model: &Model, i: usize, top: &[NodeWeight]) -> Value {
    let names = model.header().labels.names();
    let weights = &model.header().label_weights;
    let transitions = weights.transition_rows().nth(i).unwrap_or_default();
    let transitions: Map<String, Value> = names
        .iter()
        .zip(transitions)
        .map(|(next, &weight)| (next.clone(), json!(weight)))
        .collect();
    json!({
        "start": weights.start[i],
        "end": weights.end[i],
        "transitions": transitions,
        "attributes": top,
    })
}

/// Returns what each template line contributes; the last one stands for attributes of no line.
fn template_lines(model: &Model, lines: &[LineStatistics]) -> Value {
    let template = model.header().template.as_ref();
    let names = template.map(Template::attribute_lines);
    let names = names.as_ref().map_or(&[][..], |names| names.lines()).iter();
    let names = names.map(|(number, text)| (Some(*number), Some(*text)));
    let lines = names.chain([(None, None)]).zip(lines);
    let lines = lines.filter(|((number, _), line)| number.is_some() || line.attributes > 0);
    lines
        .map(|((number, text), line)| {
            json!({
                "line": number,
                "text": text,
                "attributes": line.attributes,
                "weights": line.weights,
                "absolute": line.absolute,
                "squares": line.squares,
                "bytes": line.bytes.round(),
            })
        })
        .collect()
}
