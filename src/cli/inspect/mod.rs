//! `dropchain inspect`

mod top_attributes;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dropchain::internals::model::{AttributeKind, Model, Precision, Provenance};
use dropchain::{Error, Result, Template};
use serde_json::{Map, Value, json};

use super::outputs::CommandFiles;
use super::{CommandResult, print};
use top_attributes::TopAttributes;

/// Show the contents of a model: labels, transition weights, top attributes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain inspect ner.model
  dropchain inspect ner.model --top 50 --json | jq '.labels[\"B-PER\"].attributes'")]
pub struct InspectCommand {
    /// Model file
    model: PathBuf,
    /// Number of attributes to print per label
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Also print the template
    #[arg(long)]
    template: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl InspectCommand {
    pub fn run(&self) -> CommandResult {
        CommandFiles::new(false).read([&self.model]).check()?;
        let model = Model::open(&self.model)?;
        model.verify()?;
        let top = TopAttributes::find(&model, self.top)?;
        let text = if self.json {
            let value = self.json(&model, &top)?;
            serde_json::to_string_pretty(&value)
                .map_err(|e| Error::parameter(format!("cannot write the model as JSON: {e}")))?
                + "\n"
        } else {
            self.text(&model, &top)?
        };
        print(&text)
    }

    fn text(&self, model: &Model, top: &TopAttributes) -> Result<String> {
        let header = model.header();
        let fingerprint = model.fingerprint()?;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} labels ({}), {} node and {} edge attributes, {} weights, {} bytes",
            header.labels.len(),
            header.scheme,
            model.attributes(AttributeKind::Node),
            model.attributes(AttributeKind::Edge),
            weights(model),
            model.as_bytes().len()
        );
        let pruned = match prune_threshold(model) {
            0.0 => String::new(),
            threshold => format!(", pruned below {threshold}"),
        };
        let _ = writeln!(
            text,
            "format version {}, {}-byte weights{pruned}",
            model.version(),
            match header.precision {
                Precision::F32 => 4,
                Precision::F64 => 8,
            }
        );
        if let Some(first) = model.first_pass() {
            let _ = writeln!(
                text,
                "two passes; first pass: {} node and {} edge attributes, {} weights",
                first.attributes(AttributeKind::Node),
                first.attributes(AttributeKind::Edge),
                weights(first)
            );
        }
        let _ = writeln!(text, "fingerprint {fingerprint:032x}");
        let _ = writeln!(text, "{}", origin(&header.provenance));
        let stored = header.template.iter().flat_map(Template::files);
        for (name, bytes) in stored {
            let _ = writeln!(
                text,
                "the template reads {name} ({bytes} bytes, in the model)"
            );
        }
        if self.template
            && let Some(template) = &header.template
        {
            let _ = writeln!(text, "\ntemplate\n{}", template.source().trim_end());
        }
        text.push_str("\ntransition weights, from the label of the row to that of the column\n");
        text.push_str(&transition_table(model));
        for (label, attributes) in header.labels.names().iter().zip(&top.nodes) {
            let _ = writeln!(text, "\n{label}");
            for (weight, name) in attributes {
                let _ = writeln!(text, "{weight:10.4}  {name}");
            }
        }
        if !top.edges.is_empty() {
            text.push_str("\nstrongest edge attributes\n");
        }
        for edge in &top.edges {
            let [from, to] = [edge.from, edge.to].map(|label| header.labels.name(label));
            let _ = writeln!(text, "{:10.4}  {from} → {to}  {}", edge.weight, edge.name);
        }
        Ok(text)
    }

    fn json(&self, model: &Model, top: &TopAttributes) -> Result<Value> {
        let header = model.header();
        let fingerprint = model.fingerprint()?;
        let labels = header.labels.names().iter().enumerate();
        let labels: Map<String, Value> = labels
            .map(|(i, name)| (name.clone(), label_json(model, i, &top.nodes[i])))
            .collect();
        let edges: Vec<Value> = top
            .edges
            .iter()
            .map(|edge| {
                json!({
                    "from": header.labels.name(edge.from),
                    "to": header.labels.name(edge.to),
                    "attribute": edge.name,
                    "weight": edge.weight,
                })
            })
            .collect();
        let options: Value = serde_json::from_str(&header.provenance.options).unwrap_or_default();
        let mut value = json!({
            "scheme": header.scheme.to_string(),
            "corpus_scheme": header.corpus_scheme.to_string(),
            "columns": header.columns,
            "node_attributes": model.attributes(AttributeKind::Node),
            "edge_attributes": model.attributes(AttributeKind::Edge),
            "weights": weights(model),
            "bytes": model.as_bytes().len(),
            "format_version": model.version(),
            "precision": header.precision,
            "prune": prune_threshold(model),
            "fingerprint": format!("{fingerprint:032x}"),
            "version": header.provenance.version,
            "files": header.provenance.files,
            "sentences": header.provenance.sentences,
            "tokens": header.provenance.tokens,
            "options": options,
            "template": header.template.as_ref().map(|t| t.source().to_owned()),
            "labels": labels,
            "edges": edges,
        });
        if let Some(first) = model.first_pass() {
            value["first_pass"] = json!({
                "node_attributes": first.attributes(AttributeKind::Node),
                "edge_attributes": first.attributes(AttributeKind::Edge),
                "weights": weights(first),
            });
        }
        let files = header.template.iter().flat_map(Template::files);
        let files: Vec<Value> = files
            .map(|(name, bytes)| json!({"name": name, "bytes": bytes}))
            .collect();
        if !files.is_empty() {
            value["template_files"] = files.into();
        }
        Ok(value)
    }
}

/// Counts the weights of attributes.
fn weights(model: &Model) -> usize {
    model.weights(AttributeKind::Node) + model.weights(AttributeKind::Edge)
}

/// Describes label number `i`: its label weights and its top attributes.
fn label_json(model: &Model, i: usize, top: &[(f64, String)]) -> Value {
    let names = model.header().labels.names();
    let weights = &model.header().label_weights;
    let attributes: Vec<Value> = top
        .iter()
        .map(|(weight, name)| json!({"attribute": name, "weight": weight}))
        .collect();
    let transitions = weights.transition_matrix();
    let transitions: Map<String, Value> = names
        .iter()
        .zip(transitions.row(i))
        .map(|(next, &weight)| (next.clone(), json!(weight)))
        .collect();
    json!({
        "start": weights.start[i],
        "end": weights.end[i],
        "transitions": transitions,
        "attributes": attributes,
    })
}

/// Describes how a model was trained, or which program wrote the one that it was converted from.
fn origin(source: &Provenance) -> String {
    let version = &source.version;
    if let Some(program) = option(source, "converted_from").as_str() {
        return format!("trained by {program}, converted by dropchain {version}");
    }
    format!(
        "trained by dropchain {version} on {} ({} sentences, {} tokens)\noptions: {}",
        source.files.join(", "),
        source.sentences,
        source.tokens,
        source.options
    )
}

/// Returns the absolute value below which weights were pruned; 0 if none were.
fn prune_threshold(model: &Model) -> f64 {
    let threshold = option(&model.header().provenance, "prune");
    threshold.as_f64().unwrap_or(0.0)
}

/// Returns an option that a model was trained with; null if there is none of this name.
fn option(source: &Provenance, name: &str) -> Value {
    let mut options: Value = serde_json::from_str(&source.options).unwrap_or_default();
    options.get_mut(name).map(Value::take).unwrap_or_default()
}

fn transition_table(model: &Model) -> String {
    let header = model.header();
    let names = header.labels.names();
    let weights = &header.label_weights;
    let longest = names.iter().map(|name| name.chars().count()).max();
    let width = longest.unwrap_or(0).max("(start)".len());
    let mut text = format!("{:width$}", "");
    for name in names.iter().map(String::as_str).chain(["(end)"]) {
        let _ = write!(text, "  {name:>width$}");
    }
    let mut push_row = |name: &str, cells: &mut dyn Iterator<Item = f64>, end: Option<f64>| {
        let _ = write!(text, "\n{name:width$}");
        for cell in cells.chain(end) {
            let _ = write!(text, "  {cell:>width$.3}");
        }
    };
    push_row("(start)", &mut weights.start.iter().copied(), None);
    let transitions = weights.transition_matrix();
    for ((name, cells), end) in names.iter().zip(transitions.rows()).zip(&weights.end) {
        push_row(name, &mut cells.iter().copied(), Some(*end));
    }
    text + "\n"
}
