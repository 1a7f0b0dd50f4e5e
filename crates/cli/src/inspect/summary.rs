//! What a model is and how it was trained.

use std::fmt::Write as _;

use dropchain::corpus::DocumentRule;
use dropchain::model::{AttributeKind, FORMAT_VERSION, Model, Provenance};
use dropchain::tag::Order;
use dropchain::{Result, Template};
use serde_json::Value;

use super::{option, prune_threshold, weights};
use crate::terminal::wrap;

/// Columns before the continuation of a line.
const INDENT: usize = 2;

/// Describes a model, without its weights.
pub fn text(model: &Model, columns: usize) -> Result<String> {
    let header = model.header();
    let mut lines = vec![
        format!(
            "{} labels ({}), {} node and {} edge attributes, {} weights, {} bytes",
            header.labels.len(),
            header.scheme,
            model.attributes(AttributeKind::Node),
            model.attributes(AttributeKind::Edge),
            weights(model),
            model.as_bytes().len()
        ),
        format(model),
    ];
    if let Some(first) = model.first_pass() {
        lines.push(format!(
            "two passes; first pass: {} node and {} edge attributes, {} weights",
            first.attributes(AttributeKind::Node),
            first.attributes(AttributeKind::Edge),
            weights(first)
        ));
    }
    lines.push(format!("fingerprint {:032x}", model.fingerprint()?));
    lines.push(origin(&header.provenance));
    lines.extend(training(model));
    if !header.columns.is_empty() {
        lines.push(data(model));
    }
    if let Some(documents) = header.template.as_ref().and_then(Template::documents) {
        lines.push(format!(
            "the template looks at documents: {}, {} tokens before and after",
            rule(documents.rule),
            documents.window
        ));
    }
    let options = header.provenance.training_options();
    let converted = option(&header.provenance, "converted_from");
    if let Some(options) = options.as_object().filter(|_| converted.is_null()) {
        let options = options
            .iter()
            .map(|(name, value)| format!("{name} {}", plain(value)));
        let options: Vec<String> = options.collect();
        if !options.is_empty() {
            lines.push(format!("options: {}", options.join(", ")));
        }
    }
    let stored = header.template.iter().flat_map(Template::files);
    lines.extend(
        stored.map(|(name, bytes)| {
            format!("the template reads {name} ({bytes} bytes, in the model)")
        }),
    );
    let mut text = String::new();
    for line in lines {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", wrap(&line, columns, INDENT));
    }
    Ok(text)
}

fn format(model: &Model) -> String {
    let pruned = match prune_threshold(model) {
        0.0 => String::new(),
        threshold => format!(", pruned below {threshold}"),
    };
    let bytes = model.header().precision.bytes();
    let order = match model.header().order {
        Order::Zero => "0 (no transitions)",
        Order::One => "1",
    };
    format!("format version {FORMAT_VERSION}, {bytes}-byte weights{pruned}, order {order}")
}

/// Describes how a model was trained, or which program wrote the one that it was converted from.
fn origin(source: &Provenance) -> String {
    let version = &source.version;
    if let Some(program) = option(source, "converted_from").as_str() {
        return format!("trained by {program}, converted by dropchain {version}");
    }
    format!(
        "trained by dropchain {version} on {} ({} sentences, {} tokens)",
        source.files.join(", "),
        source.sentences,
        source.tokens
    )
}

/// Describes how the training of a model and of its first pass ended, as far as they say.
fn training(model: &Model) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, model) in [
        ("", Some(model)),
        ("first pass: ", model.first_pass().map(|m| &**m)),
    ] {
        let Some(model) = model else {
            continue;
        };
        let bias = match model.header().recall_bias() {
            Some(bias) if bias != 0.0 => format!("recall bias {bias}"),
            _ => String::new(),
        };
        let Some(record) = model.header().provenance.training() else {
            if !bias.is_empty() {
                lines.push(format!("{name}{bias}"));
            }
            continue;
        };
        let mut line = format!(
            "{name}weights of iteration {} of {}",
            record.best_iteration, record.iterations
        );
        if let Some((metric, score)) = record.dev_score() {
            line += &format!(", {metric} {:.2} on development data", 100.0 * score);
        }
        if !bias.is_empty() {
            line += &format!(", {bias}");
        }
        if let Some(reason) = record.stop_reason {
            line += &format!("; ended by {}", reason.replace('_', " "));
        }
        lines.push(line);
    }
    lines
}

/// Describes the columns and the labels of the training data.
fn data(model: &Model) -> String {
    let header = model.header();
    let labels = match (&header.joined, header.label_name()) {
        (Some(joined), _) => format!("; labels join {}", joined.names().join(" and ")),
        (None, Some(column)) => format!(", labels {column} ({})", header.corpus_scheme),
        (None, None) => String::new(),
    };
    format!(
        "columns of the training data: {}{labels}",
        header.columns.join(" ")
    )
}

fn rule(rule: DocumentRule) -> &'static str {
    match rule {
        DocumentRule::Auto => "auto",
        DocumentRule::Sentence => "sentence",
        DocumentRule::File => "file",
        DocumentRule::Marks => "marks",
        DocumentRule::BlankLine => "blank-line",
        DocumentRule::FormFeed => "form-feed",
        DocumentRule::Line => "line",
    }
}

/// Formats a value of JSON without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    }
}
