//! `dropchain inspect`

mod config;
mod page;
mod text;

use std::path::PathBuf;

use clap::Args;
use dropchain::kernel::date;
use dropchain::kernel::model::FORMAT_VERSION;
use dropchain::model::{AttributeKind, Model};
use dropchain::{Error, Result, Template};
use dropchain_analysis::{LineStatistics, TopAttribute, similar_attributes, top_attributes};
use serde_json::{Map, Value, json};

use crate::inspect::config::RunConfig;
use crate::tag_input::check_is_tagger;
use crate::{CommandFiles, CommandResult, columns, notice, print, print_json, print_painted};

/// Show what a model is, was trained on and has learned: transitions, top attributes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain inspect ner.model
  dropchain inspect ner.model --all --top 100
  dropchain inspect ner.model --config > ner.options
  dropchain inspect ner.model --attribute 'lower[-1]=in'
  dropchain inspect ner.model --top 50 --json | jq '.labels[\"B-PER\"]'")]
pub struct InspectCommand {
    /// Model file
    model: PathBuf,
    /// Also print all options, files with their XXH3, sizes, what each line of the template
    /// contributes, the strongest transitions, and the top attributes of every label
    #[arg(long, conflicts_with_all = ["json", "config", "attribute"])]
    all: bool,
    /// Number of attributes per label, and of the strongest transitions, of --all and --json
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
            config.warnings.iter().for_each(|warning| notice(&format!("warning: {warning}")));
            return print(&config.text);
        }
        model.verify()?;
        if let Some(name) = &self.attribute {
            let weights = weights_of_attribute(&model, name)?;
            return match self.json {
                true => print_json(&format!("{weights:#}\n")),
                false => print(&text::attribute(&weights)),
            };
        }
        if self.json {
            return print_json(&format!("{:#}\n", describe(&model, self.top)?));
        }
        print_painted(&page::page(&model, columns(), self.all)?)?;
        if let Some(template) = model.header().template.as_ref().filter(|_| self.template) {
            print(&format!("\ntemplate\n{}\n", template.source().trim_end()))?;
        }
        match self.all {
            true => print(&text::text(&describe(&model, self.top)?, self.top, columns())),
            false => Ok(()),
        }
    }
}

/// Describes a model, with the top attributes of each label.
fn describe(model: &Model, top: usize) -> Result<Value> {
    let (header, source) = (model.header(), &model.header().provenance);
    let nodes = top_of(model, AttributeKind::Node, top)?;
    let edges = top_of(model, AttributeKind::Edge, top)?.concat();
    let labels = header.labels.names().iter().enumerate();
    let labels: Map<String, Value> =
        labels.map(|(i, name)| (name.clone(), label_json(model, i, &nodes[i]))).collect();
    let (options, config) = (source.training_options(), source.config().unwrap_or_default());
    let modified = model.path().metadata().and_then(|metadata| metadata.modified()).ok();
    let mut value = json!({
        "labels": labels,
        "scheme": header.labeling.scheme.name(),
        "corpus_scheme": header.corpus_labeling.scheme.name(),
        "labels_read_as": header.corpus_labeling.to_string(),
        "columns": header.columns.names,
        "label_column": header.columns.label_name(),
        "comments": header.columns.lines.comments,
        "header": header.columns.lines.header,
        "bytes": model.as_bytes().len(),
        "format_version": FORMAT_VERSION,
        "precision": header.precision,
        "prune": options["prune"].as_f64().unwrap_or(0.0),
        "order": header.order,
        "fingerprint": format!("{:032x}", model.fingerprint()?),
        "version": source.version,
        "date": source.date.map(date::utc),
        "modified": modified.and_then(date::seconds).map(date::utc),
        "note": config["options"]["note"],
        "files": source.files,
        "sentences": source.sentences,
        "tokens": source.tokens,
        "options": options,
        "template": header.template.as_ref().map(|t| t.source().to_owned()),
        "edges": edges,
        "sizes": model.sizes(),
    });
    if let (Value::Object(all), Value::Object(fields)) = (&mut value, training(model)) {
        all.extend(fields);
    }
    if let Some(first) = model.first_pass() {
        value["first_pass"] = training(first);
    }
    if header.columns.joined().is_some() {
        value["joined_columns"] = json!(header.columns.joined_names());
    }
    if !config.is_null() {
        value["config"] = config;
    }
    if let Some(template) = &header.template {
        value["lines"] = json!(template_lines(model, template)?);
        if let Some(documents) = template.documents() {
            let rule = documents.rule.to_string();
            value["documents"] = json!({"rule": rule, "window": documents.window});
        }
        let files = template.files().map(|(name, bytes)| json!({"name": name, "bytes": bytes}));
        let files: Vec<Value> = files.collect();
        if !files.is_empty() {
            value["template_files"] = files.into();
        }
    }
    Ok(value)
}

/// Describes the weights of a model or of its first pass, and how training them ended.
fn training(model: &Model) -> Value {
    let record = model.header().provenance.training();
    let kinds = [AttributeKind::Node, AttributeKind::Edge];
    let [nodes, edges] = kinds.map(|kind| model.attributes(kind));
    let mut value = json!({
        "node_attributes": nodes,
        "edge_attributes": edges,
        "weights": kinds.map(|kind| model.weights(kind)).iter().sum::<usize>(),
        "recall_bias": model.header().recall_bias(),
    });
    if let Some(record) = record {
        value["training"] = json!(record);
        if let Some(warning) = record.warning_of_noise() {
            value["warning"] = warning.into();
        }
    }
    value
}

/// Describes label number `i`: its label weights and its top attributes.
fn label_json(model: &Model, i: usize, top: &[Value]) -> Value {
    let names = model.header().labels.names();
    let weights = &model.header().label_weights;
    let transitions = weights.transition_rows().nth(i).unwrap_or_default();
    let transitions = names.iter().zip(transitions);
    let transitions = transitions.map(|(next, &weight)| (next.clone(), json!(weight)));
    json!({
        "start": weights.start[i],
        "end": weights.end[i],
        "transitions": transitions.collect::<Map<_, _>>(),
        "attributes": top,
    })
}

/// Returns what each template line contributes; the last one stands for attributes of no line.
fn template_lines(model: &Model, template: &Template) -> Result<Vec<Value>> {
    let names = template.attribute_lines();
    let names = names.lines().iter().map(|(number, text)| (Some(*number), Some(*text)));
    let statistics = LineStatistics::of(model)?;
    let lines = names.chain([(None, None)]).zip(&statistics);
    let lines = lines.filter(|((number, _), line)| number.is_some() || line.attributes > 0);
    let lines = lines.map(|((number, text), line)| {
        let mut value = json!(line);
        (value["line"], value["text"]) = (json!(number), json!(text));
        value
    });
    Ok(lines.collect())
}

/// Number of names to suggest for an attribute that does not exist.
const SUGGESTED: usize = 10;

/// Describes the weights of an attribute that are not 0: by label, and by pairs of labels.
///
/// # Errors
///
/// The model does not have the attribute.
fn weights_of_attribute(model: &Model, attribute: &str) -> Result<Value> {
    let names = model.header().labels.names();
    let k = names.len();
    let weights = |kind, count| {
        let mut weights = vec![0.0; count];
        let is_known = model.add_scores(kind, attribute.as_bytes(), 1.0, k, &mut weights)?;
        let weights = weights.into_iter().enumerate().filter(|(_, w)| *w != 0.0);
        Ok::<_, Error>((is_known, weights))
    };
    let (is_node, nodes) = weights(AttributeKind::Node, k)?;
    let (is_edge, edges) = weights(AttributeKind::Edge, k * k)?;
    if !is_node && !is_edge {
        let similar = similar_attributes(model, attribute, SUGGESTED)?;
        let similar = match &similar[..] {
            [] => "no name is like it".to_owned(),
            similar => format!("similar: {}", similar.join("  ")),
        };
        let message = format!("the model has no attribute '{attribute}'; {similar}");
        return Err(Error::parameter(message));
    }
    let nodes = nodes.map(|(label, weight)| (names[label].clone(), json!(weight)));
    let edges: Vec<Value> = edges.map(|(pair, weight)| edge(names, pair, weight)).collect();
    Ok(json!({"attribute": attribute, "weights": nodes.collect::<Map<_, _>>(), "edges": edges}))
}

/// Describes a weight for a pair of labels, numbered K·from + to.
fn edge(labels: &[String], pair: usize, weight: f64) -> Value {
    let (from, to) = (pair / labels.len(), pair % labels.len());
    json!({"from": labels[from], "to": labels[to], "weight": weight})
}

/// Describes the attributes of a kind with the largest absolute weights: for each label, or for
/// pairs of labels.
///
/// # Errors
///
/// The file is damaged.
fn top_of(model: &Model, kind: AttributeKind, limit: usize) -> Result<Vec<Vec<Value>>> {
    let named = |top: &TopAttribute<'_>| {
        let mut value = match kind {
            AttributeKind::Node => json!({"weight": top.weight}),
            AttributeKind::Edge => edge(model.header().labels.names(), top.column, top.weight),
        };
        value["attribute"] = String::from_utf8_lossy(top.attribute).into();
        value
    };
    let top = top_attributes(model, kind, limit, f64::abs)?.into_iter();
    Ok(top.map(|list| list.iter().map(named).collect()).collect())
}
