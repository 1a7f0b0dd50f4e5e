//! `dropchain inspect`

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dropchain::ids::LabelId;
use dropchain::model::{AttributeKind, Model, Precision};
use dropchain::{Error, Result};
use serde_json::{Map, Value, json};

use super::{CommandResult, print};

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
        let model = Model::open(&self.model)?;
        model.verify()?;
        let top = TopAttributes::find(&model, self.top)?;
        let text = if self.json {
            let value = self.json(&model, &top)?;
            serde_json::to_string_pretty(&value)
                .map_err(|e| Error::parameter(format!("cannot write the model as JSON: {e}")))?
                + "\n"
        } else {
            self.text(&model, &top)
        };
        print(&text)
    }

    fn text(&self, model: &Model, top: &TopAttributes) -> String {
        let header = model.header();
        let source = &header.provenance;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} labels ({}), {} node and {} edge attributes, {} weights, {} bytes",
            header.labels.len(),
            header.scheme,
            model.attributes(AttributeKind::Node),
            model.attributes(AttributeKind::Edge),
            model.weights(AttributeKind::Node) + model.weights(AttributeKind::Edge),
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
        let _ = writeln!(
            text,
            "trained by dropchain {} on {} ({} sentences, {} tokens)\noptions: {}",
            source.version,
            source.files.join(", "),
            source.sentences,
            source.tokens,
            source.options
        );
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
        text
    }

    fn json(&self, model: &Model, top: &TopAttributes) -> Result<Value> {
        let header = model.header();
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
        Ok(json!({
            "scheme": header.scheme.to_string(),
            "corpus_scheme": header.corpus_scheme.to_string(),
            "columns": header.columns,
            "node_attributes": model.attributes(AttributeKind::Node),
            "edge_attributes": model.attributes(AttributeKind::Edge),
            "weights": model.weights(AttributeKind::Node) + model.weights(AttributeKind::Edge),
            "bytes": model.as_bytes().len(),
            "format_version": model.version(),
            "precision": header.precision,
            "prune": prune_threshold(model),
            "version": header.provenance.version,
            "files": header.provenance.files,
            "sentences": header.provenance.sentences,
            "tokens": header.provenance.tokens,
            "options": options,
            "template": header.template.as_ref().map(|t| t.source().to_owned()),
            "labels": labels,
            "edges": edges,
        }))
    }
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

/// Returns the absolute value below which weights were pruned; 0 if none were.
fn prune_threshold(model: &Model) -> f64 {
    let options: Value =
        serde_json::from_str(&model.header().provenance.options).unwrap_or_default();
    options["prune"].as_f64().unwrap_or(0.0)
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

/// How many items a [`TopList`] may hold beyond its limit before it is truncated.
const SLACK: usize = 1 << 16;

/// The attributes with the largest absolute weights.
struct TopAttributes {
    /// Weight and name, per label.
    nodes: Vec<Vec<(f64, String)>>,
    edges: Vec<EdgeWeight>,
}

/// The weight of an edge attribute for a pair of labels.
struct EdgeWeight {
    weight: f64,
    from: LabelId,
    to: LabelId,
    name: String,
}

impl TopAttributes {
    /// Finds the top attributes of each label, and of all pairs of labels together.
    fn find(model: &Model, limit: usize) -> Result<Self> {
        let k = model.header().labels.len();
        let name = |kind, i| -> Result<String> {
            let name = model.attribute_name(kind, i)?;
            Ok(String::from_utf8_lossy(name).into_owned())
        };
        let mut nodes: Vec<TopList<usize>> = (0..k).map(|_| TopList::new(limit)).collect();
        scan_weights(model, AttributeKind::Node, k, &mut |i, weights| {
            for (list, &weight) in nodes.iter_mut().zip(weights) {
                list.push(weight, i);
                list.shrink();
            }
        })?;
        let mut edges = TopList::new(limit);
        scan_weights(model, AttributeKind::Edge, k, &mut |i, weights| {
            for (pair, &weight) in weights.iter().enumerate() {
                edges.push(weight, (pair, i));
            }
            edges.shrink();
        })?;
        let named_nodes = |list: TopList<usize>| -> Result<Vec<_>> {
            let items = list.into_sorted().into_iter();
            items
                .map(|(weight, i)| Ok((weight, name(AttributeKind::Node, i)?)))
                .collect()
        };
        let named_edge = |(weight, (pair, i)): (f64, (usize, usize))| {
            Ok(EdgeWeight {
                weight,
                from: LabelId((pair / k) as u16),
                to: LabelId((pair % k) as u16),
                name: name(AttributeKind::Edge, i)?,
            })
        };
        Ok(Self {
            nodes: nodes.into_iter().map(named_nodes).collect::<Result<_>>()?,
            edges: edges
                .into_sorted()
                .into_iter()
                .map(named_edge)
                .collect::<Result<_>>()?,
        })
    }
}

/// Calls `visit` with the index and the weights of every attribute: `[K]` for node attributes,
/// `[K·K]` for edge attributes.
fn scan_weights(
    model: &Model,
    kind: AttributeKind,
    k: usize,
    visit: &mut dyn FnMut(usize, &[f64]),
) -> Result<()> {
    let width = match kind {
        AttributeKind::Node => k,
        AttributeKind::Edge => k * k,
    };
    let mut weights = vec![0.0; width];
    for i in 0..model.attributes(kind) {
        weights.fill(0.0);
        let name = model.attribute_name(kind, i)?;
        model.add_scores(kind, name, 1.0, k, &mut weights)?;
        visit(i, &weights);
    }
    Ok(())
}

/// Collects the items with the largest absolute weights.
struct TopList<T> {
    limit: usize,
    items: Vec<(f64, T)>,
}

impl<T> TopList<T> {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            items: Vec::new(),
        }
    }

    /// Adds an item, unless its weight is 0.
    fn push(&mut self, weight: f64, item: T) {
        if weight != 0.0 {
            self.items.push((weight, item));
        }
    }

    /// Bounds the memory use: truncates a list that exceeds its limit by more than [`SLACK`].
    fn shrink(&mut self) {
        if self.items.len() > self.limit.saturating_add(SLACK) {
            self.truncate();
        }
    }

    /// Returns the items within the limit, by descending weight.
    fn into_sorted(mut self) -> Vec<(f64, T)> {
        self.truncate();
        self.items
    }

    fn truncate(&mut self) {
        self.items
            .sort_by(|(x, _), (y, _)| y.abs().total_cmp(&x.abs()));
        self.items.truncate(self.limit);
        self.items.sort_by(|(x, _), (y, _)| y.total_cmp(x));
    }
}
