//! `dropchain inspect`

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dropchain::Error;
use dropchain::Result;
use dropchain::ids::LabelId;
use dropchain::model::{AttributeKind, Model, Precision};
use serde_json::{Value, json};

use super::{Outcome, print};

/// Show what a model has learned: labels, transitions, strongest attributes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dropchain inspect ner.model
  dropchain inspect ner.model --top 50 --json | jq '.labels[\"B-PER\"].attributes'")]
pub struct Arguments {
    /// The model
    model: PathBuf,
    /// How many attributes to show for each label
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Show the template as well
    #[arg(long)]
    template: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Runs the command.
    pub fn run(&self) -> Outcome {
        let model = Model::open(&self.model)?;
        model.verify()?;
        let strongest = Strongest::of(&model, self.top)?;
        let text = if self.json {
            let value = self.json(&model, &strongest)?;
            serde_json::to_string_pretty(&value)
                .map_err(|e| Error::parameter(format!("cannot write the model as JSON: {e}")))?
                + "\n"
        } else {
            self.text(&model, &strongest)
        };
        print(&text)
    }

    fn text(&self, model: &Model, strongest: &Strongest) -> String {
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
        let pruned = match pruned(model) {
            0.0 => String::new(),
            least => format!(", those below {least} pruned"),
        };
        let _ = writeln!(
            text,
            "format version {}, weights of {} bytes{pruned}",
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
        text.push_str("\nweights of transitions, from the row's label to the column's\n");
        text.push_str(&transition_table(model));
        for (label, attributes) in header.labels.names().iter().zip(&strongest.nodes) {
            let _ = writeln!(text, "\n{label}");
            for (weight, name) in attributes {
                let _ = writeln!(text, "{weight:10.4}  {name}");
            }
        }
        if !strongest.edges.is_empty() {
            text.push_str("\nstrongest edge attributes\n");
        }
        for (weight, a, b, name) in &strongest.edges {
            let name_of = |&label: &u16| header.labels.name(LabelId(label));
            let _ = writeln!(
                text,
                "{weight:10.4}  {} → {}  {name}",
                name_of(a),
                name_of(b)
            );
        }
        text
    }

    fn json(&self, model: &Model, strongest: &Strongest) -> Result<Value> {
        let header = model.header();
        let weights = &header.label_weights;
        let transition_weights = weights.transition_matrix();
        let mut labels = serde_json::Map::new();
        for (i, name) in header.labels.names().iter().enumerate() {
            let attributes: Vec<Value> = strongest.nodes[i]
                .iter()
                .map(|(weight, name)| json!({"attribute": name, "weight": weight}))
                .collect();
            let transitions: serde_json::Map<String, Value> = header
                .labels
                .names()
                .iter()
                .zip(transition_weights.row(i))
                .map(|(next, &weight)| (next.clone(), json!(weight)))
                .collect();
            labels.insert(
                name.clone(),
                json!({
                    "start": weights.start[i],
                    "end": weights.end[i],
                    "transitions": transitions,
                    "attributes": attributes,
                }),
            );
        }
        let edges: Vec<Value> = strongest
            .edges
            .iter()
            .map(|(weight, a, b, name)| {
                let label = |&l: &u16| header.labels.name(LabelId(l));
                json!({"from": label(a), "to": label(b), "attribute": name, "weight": weight})
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
            "prune": pruned(model),
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

/// The size below which weights were left out; 0 if none were.
fn pruned(model: &Model) -> f64 {
    let options: Value =
        serde_json::from_str(&model.header().provenance.options).unwrap_or_default();
    options["prune"].as_f64().unwrap_or(0.0)
}

fn transition_table(model: &Model) -> String {
    let header = model.header();
    let names = header.labels.names();
    let weights = &header.label_weights;
    let width = names
        .iter()
        .map(|n| n.chars().count())
        .max()
        .unwrap_or(0)
        .max(7);
    let mut text = String::new();
    let mut row = |name: &str, cells: &mut dyn Iterator<Item = f64>, end: Option<f64>| {
        let _ = write!(text, "\n{name:width$}");
        for cell in cells.chain(end) {
            let _ = write!(text, "  {cell:>width$.3}");
        }
    };
    row("(start)", &mut weights.start.iter().copied(), None);
    let rows = weights.transition_matrix();
    for ((name, cells), end) in names.iter().zip(rows.rows()).zip(&weights.end) {
        row(name, &mut cells.iter().copied(), Some(*end));
    }
    let mut header_line = format!("{:width$}", "");
    for name in names.iter().map(String::as_str).chain(["(end)"]) {
        let _ = write!(header_line, "  {name:>width$}");
    }
    header_line + &text + "\n"
}

/// The strongest attributes of a model.
struct Strongest {
    nodes: Vec<Vec<(f64, String)>>,
    edges: Vec<(f64, u16, u16, String)>,
}

impl Strongest {
    fn of(model: &Model, top: usize) -> Result<Self> {
        let k = model.header().labels.len();
        let mut nodes: Vec<Vec<(f64, usize)>> = vec![Vec::new(); k];
        let mut scores = vec![0.0; k];
        for i in 0..model.attributes(AttributeKind::Node) {
            scores.fill(0.0);
            let name = model.attribute_name(AttributeKind::Node, i)?;
            model.add_scores(AttributeKind::Node, name, 1.0, k, &mut scores)?;
            for (list, &weight) in nodes.iter_mut().zip(&scores) {
                if weight != 0.0 {
                    list.push((weight, i));
                }
            }
            nodes
                .iter_mut()
                .for_each(|list| cut(list, top, 1 << 16, |x| x.0));
        }
        let mut edges = Vec::new();
        let mut scores = vec![0.0; k * k];
        for i in 0..model.attributes(AttributeKind::Edge) {
            scores.fill(0.0);
            let name = model.attribute_name(AttributeKind::Edge, i)?;
            model.add_scores(AttributeKind::Edge, name, 1.0, k, &mut scores)?;
            for (place, &weight) in scores.iter().enumerate() {
                if weight != 0.0 {
                    edges.push((weight, place, i));
                }
            }
            cut(&mut edges, top, 1 << 16, |x| x.0);
        }
        cut(&mut edges, top, 0, |x| x.0);
        let name = |kind, i| -> Result<String> {
            let name = model.attribute_name(kind, i)?;
            Ok(String::from_utf8_lossy(name).into_owned())
        };
        let mut named = Vec::with_capacity(k);
        for mut list in nodes {
            cut(&mut list, top, 0, |x| x.0);
            let list: Result<Vec<_>> = list
                .into_iter()
                .map(|(weight, i)| Ok((weight, name(AttributeKind::Node, i)?)))
                .collect();
            named.push(list?);
        }
        let edges: Result<Vec<_>> = edges
            .into_iter()
            .map(|(weight, place, i)| {
                let (a, b) = ((place / k) as u16, (place % k) as u16);
                Ok((weight, a, b, name(AttributeKind::Edge, i)?))
            })
            .collect();
        Ok(Self {
            nodes: named,
            edges: edges?,
        })
    }
}

/// Keeps the `top` items of largest absolute weight, largest weight first, once there are more
/// than `top + slack`.
fn cut<T>(items: &mut Vec<T>, top: usize, slack: usize, weight: impl Fn(&T) -> f64) {
    if slack > 0 && items.len() <= top.saturating_add(slack) {
        return;
    }
    items.sort_by(|x, y| weight(y).abs().total_cmp(&weight(x).abs()));
    items.truncate(top);
    items.sort_by(|x, y| weight(y).total_cmp(&weight(x)));
}
