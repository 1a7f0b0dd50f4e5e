//! The contents of a model as JSON.

use dropchain::model::{AttributeKind, FORMAT_VERSION, Model};
use dropchain::{Result, Template};
use dropchain_analysis::LineStatistics;
use serde_json::{Map, Value, json};

use super::{Contents, prune_threshold, weights};

/// Describes a model.
pub fn contents(contents: &Contents<'_>) -> Result<Value> {
    let Contents { model, top, lines } = contents;
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
    let mut value = json!({
        "scheme": header.scheme.to_string(),
        "corpus_scheme": header.corpus_scheme.to_string(),
        "columns": header.columns,
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
        "edges": edges,
        "order": header.order,
        "label_column": header.label_name(),
        "recall_bias": header.recall_bias(),
        "sizes": sizes(model),
    });
    if header.joined.is_some() {
        value["joined_columns"] = json!(header.joined_names());
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
    let files: Vec<Value> = files
        .map(|(name, bytes)| json!({"name": name, "bytes": bytes}))
        .collect();
    if !files.is_empty() {
        value["template_files"] = files.into();
    }
    Ok(value)
}

/// Describes label number `i`: its label weights and its top attributes.
fn label_json(model: &Model, i: usize, top: &[(f64, String)]) -> Value {
    let names = model.header().labels.names();
    let weights = &model.header().label_weights;
    let attributes: Vec<Value> = top
        .iter()
        .map(|(weight, name)| json!({"attribute": name, "weight": weight}))
        .collect();
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
        "attributes": attributes,
    })
}

/// Returns the sizes of the parts of the file in bytes.
fn sizes(model: &Model) -> Value {
    let sizes = model.sizes();
    let table = |table: dropchain::tag::TableSizes| {
        json!({
            "slots": table.slots,
            "weights": table.weights,
            "names": table.names,
            "ends": table.ends,
        })
    };
    json!({
        "header": sizes.header,
        "checksums": sizes.checksums,
        "nodes": table(sizes.nodes),
        "edges": table(sizes.edges),
        "first_pass": sizes.first_pass,
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
