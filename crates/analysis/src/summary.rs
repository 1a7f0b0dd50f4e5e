//! What a model is, was trained on and has learned, on a page: for the terminal, notebooks and
//! reports.

use dropchain::model::{AttributeKind, FileRole, Header, Model};
use dropchain::train::{TrainOptions, TrainSettings};
use dropchain::{Result, Template, kernel::date};
use dropchain_layout::counted;
use serde::Serialize;
use serde_json::Value;

use crate::attributes::{AttributeWords, TopAttribute, top_attributes};

/// The most names that a fact lists.
const NAMES: usize = 12;

/// The most files that a fact lists.
const FILES: usize = 4;

/// What a model is, was trained on and has learned, of as many labels as a page has room for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelSummary {
    /// What it is and was trained on, with the settings that are not the defaults: names and
    /// values.
    pub facts: Vec<(&'static str, String)>,
    /// The number of labels of the model.
    pub all_labels: usize,
    /// The n labels that are shown, those of a type beside each other: all, or those with the
    /// largest weights of transitions.
    pub labels: Vec<String>,
    /// Weights of transitions from the label of the row to that of the column. First the row of the
    /// beginning of a sentence, `[n]`, then those of the labels, `[n + 1]`, with its end last.
    /// Empty without transitions.
    pub transitions: Vec<Vec<f64>>,
    /// The attributes with the largest weights for each label, `[n]`, in words if there are some.
    pub attributes: Vec<Vec<(f64, String)>>,
}

impl ModelSummary {
    /// Summarizes a model: at most `labels` labels, each with at most `attributes` attributes.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](dropchain::Error::Model) if the file is damaged.
    pub fn of(model: &Model, labels: usize, attributes: usize) -> Result<Self> {
        let header = model.header();
        let shown = shown_labels(header, labels);
        let top = top_attributes(model, AttributeKind::Node, attributes, |weight| weight)?;
        let words = AttributeWords::new(header);
        let named = |top: &TopAttribute<'_>| {
            (top.weight, words.of(false, &String::from_utf8_lossy(top.attribute)))
        };
        let attributes = shown.iter().map(|&i| top[i].iter().map(named).collect());
        Ok(Self {
            facts: facts(model)?,
            all_labels: header.labels.len(),
            labels: shown.iter().map(|&i| header.labels.names()[i].clone()).collect(),
            transitions: transitions(header, &shown),
            attributes: attributes.collect(),
        })
    }
}

/// Returns the numbers of at most `limit` labels, those with the largest weights of transitions,
/// in the order of their types and names.
fn shown_labels(header: &Header, limit: usize) -> Vec<usize> {
    let weights = &header.label_weights;
    let (k, names) = (header.labels.len(), header.labels.names());
    let mut largest: Vec<f64> =
        (0..k).map(|i| weights.start[i].abs().max(weights.end[i].abs())).collect();
    for (position, weight) in weights.transitions.iter().enumerate() {
        for i in [position / k, position % k] {
            largest[i] = largest[i].max(weight.abs());
        }
    }
    let mut shown: Vec<usize> = (0..k).collect();
    shown.sort_by(|&i, &j| largest[j].total_cmp(&largest[i]));
    shown.truncate(limit);
    shown.sort_by_key(|&i| (kind(header, &names[i]), &names[i]));
    shown
}

/// Returns the type of the spans of a label; an empty one if labels encode no spans.
fn kind<'a>(header: &Header, label: &'a str) -> &'a str {
    if header.labeling.scheme.has_spans() { header.labeling.chunk(label).kind } else { "" }
}

/// Returns the weights of transitions among these labels.
fn transitions(header: &Header, shown: &[usize]) -> Vec<Vec<f64>> {
    let weights = &header.label_weights;
    let all = [&weights.transitions, &weights.start, &weights.end];
    if all.iter().all(|weights| weights.iter().all(|weight| *weight == 0.0)) {
        return Vec::new();
    }
    let start = shown.iter().map(|&i| weights.start[i]).collect();
    let rows = shown.iter().map(|&from| {
        let row = shown.iter().map(|&to| weights.transitions[from * header.labels.len() + to]);
        row.chain([weights.end[from]]).collect()
    });
    [start].into_iter().chain(rows).collect()
}

/// Returns what a model is and was trained on.
fn facts(model: &Model) -> Result<Vec<(&'static str, String)>> {
    let (header, source) = (model.header(), &model.header().provenance);
    let config = source.config().unwrap_or_default();
    let modified = model.path().metadata().and_then(|metadata| metadata.modified()).ok();
    let date = match source.date {
        Some(date) => Some(format!(", {}", date::utc(date))),
        None => modified.and_then(date::seconds).map(|s| format!("; file of {}", date::utc(s))),
    };
    let first_pass = model.first_pass().and_then(|first| training(first.header()));
    let warning = source.training().and_then(|record| record.warning_of_noise());
    let template = header.template.iter().flat_map(Template::files);
    let inside: Vec<String> =
        template.map(|(name, bytes)| format!("{name} ({bytes} bytes)")).collect();
    let trained_on = (source.sentences > 0).then(|| {
        format!("{} sentences, {} tokens{}", source.sentences, source.tokens, files(header))
    });
    let made_by = format!("dropchain {}{}", source.version, date.unwrap_or_default());
    let facts = [
        ("labels", Some(labels(header))),
        ("columns", columns(header)),
        ("size", Some(size(model))),
        ("trained on", trained_on),
        ("first pass", first_pass),
        ("training", training(header)),
        ("settings", settings(&source.training_options())),
        ("contains", (!inside.is_empty()).then(|| listed(&inside, NAMES))),
        ("note", config["options"]["note"].as_str().map(str::to_owned)),
        ("made by", (!source.version.is_empty()).then_some(made_by)),
        ("fingerprint", Some(format!("{:032x}", model.fingerprint()?))),
        ("warning", warning),
    ];
    Ok(facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

/// Returns the number of labels, how they are read, and their types or names.
fn labels(header: &Header) -> String {
    let names = header.labels.names().iter();
    let mut kinds: Vec<&str> = match header.labeling.scheme.has_spans() {
        true => names.map(|name| kind(header, name)).filter(|kind| !kind.is_empty()).collect(),
        false => names.map(String::as_str).collect(),
    };
    kinds.sort_unstable();
    kinds.dedup();
    let kinds: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
    let read_as = &header.corpus_labeling;
    format!("{}, read as {read_as}: {}", header.labels.len(), listed(&kinds, NAMES))
}

/// Returns names as a list, with the number of those that have no room.
fn listed(names: &[String], limit: usize) -> String {
    let shown = names[..names.len().min(limit)].join(", ");
    match names.len() - names.len().min(limit) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the columns of the input, if it had some.
fn columns(header: &Header) -> Option<String> {
    let columns = &header.columns;
    let names = listed(&columns.names, NAMES);
    (!names.is_empty()).then(|| match columns.label_name() {
        None => names,
        Some(label) => format!("{names}; labels from {label}"),
    })
}

/// Returns the size of a model.
fn size(model: &Model) -> String {
    let kinds = [AttributeKind::Node, AttributeKind::Edge];
    let [nodes, edges] = kinds.map(|kind| model.attributes(kind));
    let of_pairs = if edges > 0 { format!(", {edges} of pairs of labels") } else { String::new() };
    let weights: usize = kinds.iter().map(|&kind| model.weights(kind)).sum();
    let (precision, size) = (model.header().precision, model.as_bytes().len() as f64 / 1e6);
    let precision = precision.name();
    format!("{nodes} attributes{of_pairs}, {weights} weights ({precision}), {size:.1} MB")
}

/// Returns the files that a model was trained on.
fn files(header: &Header) -> String {
    let files = header.provenance.files.iter().map(|file| match file.role {
        FileRole::Train => file.name.clone(),
        role => format!("{} ({})", file.name, role.name()),
    });
    let files: Vec<String> = files.collect();
    if files.is_empty() { String::new() } else { format!(": {}", listed(&files, FILES)) }
}

/// Returns how training ended, and what is kept of it.
fn training(header: &Header) -> Option<String> {
    let record = header.provenance.training()?;
    let mut text = counted(record.iterations, "iteration");
    if let Some(reason) = &record.stop_reason {
        text += &format!(" (stopped by {})", reason.replace('_', " "));
    }
    text += &format!(", kept {}", record.best_iteration);
    if let Some((name, score)) = record.dev_score() {
        text += &format!(": dev {name} {:.2}", 100.0 * score);
        if let Some(mean) = record.dev_mean {
            text += &format!(", mean of 5 {:.2}", 100.0 * mean);
        }
    }
    if let Some(held_out) = &record.held_out {
        text += &format!(" on {held_out}");
    }
    if !record.regularization.is_empty() {
        text += &format!("; {}", record.regularization);
    }
    if record.recall_bias != 0.0 {
        text += &format!("; recall bias {}", record.recall_bias);
    }
    Some(text)
}

/// Returns the settings that are not the defaults.
fn settings(options: &Value) -> Option<String> {
    let defaults = TrainSettings::new(TrainOptions::default()).ok();
    let defaults = serde_json::to_value(defaults).unwrap_or_default();
    let is_other = |(name, value): &(&String, &Value)| {
        !value.is_null() && defaults.get(name.as_str()) != Some(*value)
    };
    let others = options.as_object()?.iter().filter(is_other).map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} {value}", name.replace('_', " "))
    });
    let others: Vec<String> = others.collect();
    Some(if others.is_empty() { "the defaults".to_owned() } else { others.join(", ") })
}
