//! A model as text: what it is, how it was trained, what takes how much of it, its transitions.

use std::fmt::Write as _;

use dropchain::model::{AttributeKind, FORMAT_VERSION, Model, Provenance};
use dropchain::tag::Order;
use dropchain::{Result, Template};
use dropchain_analysis::LineStatistics;
use serde_json::Value;

use crate::inspect::{option, prune_threshold, weights};
use dropchain_layout::{cut, format_table, width, wrap};

/// Columns before the continuation of a line.
const INDENT: usize = 2;

/// Describes a model, without its weights.
pub fn text(model: &Model, columns: usize) -> Result<String> {
    let header = model.header();
    let mut lines = vec![
        format!(
            "{} labels ({}), {} node and {} edge attributes, {} weights, {} bytes",
            header.labels.len(),
            header.labeling,
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
    if !header.columns.names.is_empty() {
        lines.push(data(model));
    }
    if let Some(documents) = header.template.as_ref().and_then(Template::documents) {
        lines.push(format!(
            "the template looks at documents: {}, {} tokens before and after",
            documents.rule, documents.window
        ));
    }
    let options = header.provenance.training_options();
    let converted = option(&header.provenance, "converted_from");
    if let Some(options) = options.as_object().filter(|_| converted.is_null()) {
        let options = options.iter().map(|(name, value)| format!("{name} {}", plain(value)));
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
    for (name, model) in [("", Some(model)), ("first pass: ", model.first_pass().map(|m| &**m))] {
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
        if let Some(reason) = &record.stop_reason {
            line += &format!("; stop reason: {}", reason.replace('_', " "));
        }
        if !record.regularization.is_empty() {
            line += &format!("; regularized by {}", record.regularization);
        }
        if let Some(iterations) = record.noisy_iterations() {
            line += &format!(" ({iterations} iterations with noise)");
        }
        lines.push(line);
        let warning = record.warning_of_noise().into_iter();
        lines.extend(warning.map(|warning| format!("warning: {name}{warning}")));
    }
    lines
}

/// Describes the columns and the labels of the training data.
fn data(model: &Model) -> String {
    let header = model.header();
    let labels = match (header.columns.joined(), header.columns.label_name()) {
        (Some(joined), _) => format!("; labels join {}", joined.names().join(" and ")),
        (None, Some(column)) => format!(", labels {column} ({})", header.corpus_labeling),
        (None, None) => String::new(),
    };
    format!("columns of the training data: {}{labels}", header.columns.names.join(" "))
}

/// Formats a value of JSON without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    }
}

/// Columns of the numbers of a template line.
const NUMBERS: usize = 56;

/// Returns the sizes of the parts of the file, as a table.
pub fn sizes_text(model: &Model) -> String {
    let total = model.as_bytes().len();
    let rows = parts(model).into_iter().filter(|(_, bytes)| *bytes > 0);
    let rows = rows.map(|(name, bytes)| {
        let share = 100.0 * bytes as f64 / total as f64;
        [name.to_owned(), bytes.to_string(), format!("{share:.1} %")]
    });
    format!("\nbytes of the file\n{}", format_table(rows))
}

/// Returns the parts of the file with their sizes in bytes.
fn parts(model: &Model) -> [(&'static str, usize); 11] {
    let sizes = model.sizes();
    let (nodes, edges) = (sizes.nodes, sizes.edges);
    [
        ("header: labels, transitions, template", sizes.header),
        ("checksums", sizes.checksums),
        ("node attributes: hash table", nodes.slots),
        ("node attributes: weights", nodes.weights),
        ("node attributes: names", nodes.names),
        ("node attributes: lengths of names", nodes.ends),
        ("edge attributes: hash table", edges.slots),
        ("edge attributes: weights", edges.weights),
        ("edge attributes: names", edges.names),
        ("edge attributes: lengths of names", edges.ends),
        ("first pass", sizes.first_pass),
    ]
}

/// Returns what each template line contributes, as a table that fits the terminal; nothing without
/// a template.
pub fn lines_text(model: &Model, lines: &[LineStatistics], columns: usize) -> String {
    let Some(template) = &model.header().template else {
        return String::new();
    };
    let width = columns.saturating_sub(NUMBERS).clamp(16, 60);
    let index = template.attribute_lines();
    let names = index.lines().iter().map(|(number, text)| format!("{number} {text}"));
    let names = names.chain([String::from("others")]);
    let mut rows = vec![
        ["template line", "attributes", "weights", "|weight|", "squares", "bytes"]
            .map(str::to_owned),
    ];
    for (name, line) in names.zip(lines) {
        let is_last = rows.len() == lines.len();
        if is_last && line.attributes == 0 {
            continue;
        }
        rows.push([
            cut(&name, width),
            line.attributes.to_string(),
            line.weights.to_string(),
            number(line.absolute),
            number(line.squares),
            format!("{:.0}", line.bytes),
        ]);
    }
    let caption = "attributes by template line: number, weights that are not 0, sums of their \
                   absolute values and squares, bytes";
    format!("\n{}\n{}", wrap(caption, columns, 0), format_table(rows.into_iter()))
}

/// Formats a sum with three or more digits.
fn number(sum: f64) -> String {
    let decimals = match sum {
        sum if sum >= 100.0 => 0,
        sum if sum >= 10.0 => 1,
        _ => 2,
    };
    format!("{sum:.decimals$}")
}

/// Number of labels up to which all transitions are shown.
const MAX_LABELS: usize = 24;

/// Longest name of a label in the table; longer ones are cut.
const MAX_NAME: usize = 14;

/// Columns of a weight.
const WEIGHT: usize = 8;

/// Columns between cells.
const GAP: usize = 2;

/// Number of strongest transitions that are shown at least.
const MIN_SHOWN: usize = 20;

const START: &str = "(start)";
const END: &str = "(end)";

/// Returns all transitions as a table that fits the terminal, in several blocks if need be; of many
/// labels, the strongest ones.
pub fn transitions(model: &Model, top: usize, columns: usize) -> String {
    match model.header().labels.len() {
        0..=MAX_LABELS => table(model, columns),
        _ => strongest(model, top.max(MIN_SHOWN)),
    }
}

fn table(model: &Model, columns: usize) -> String {
    let header = model.header();
    let weights = &header.label_weights;
    let names = header.labels.names().iter().map(|name| cut(name, MAX_NAME));
    let names: Vec<String> = names.collect();
    let longest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let (first, cell) = (longest.max(START.len()), longest.max(WEIGHT));
    let in_block = columns.saturating_sub(first) / (GAP + cell);
    let targets: Vec<usize> = (0..=names.len()).collect(); // labels, then the end
    let blocks = targets.chunks(in_block.max(1)).map(|block| {
        let row = |name: &str, value: &dyn Fn(usize) -> String| -> Vec<String> {
            let values = block.iter().map(|&target| value(target));
            [name.to_owned()].into_iter().chain(values).collect()
        };
        let name = |target| names.get(target).map_or(END.to_owned(), String::clone);
        let start = |target| weights.start.get(target).map_or(String::new(), format_weight);
        let transitions = names.iter().zip(weights.transition_rows());
        let rows = transitions.zip(&weights.end).map(|((name, transitions), end)| {
            let weight = |target: usize| transitions.get(target).unwrap_or(end);
            row(name, &|target| format_weight(weight(target)))
        });
        format_table([row("", &name), row(START, &start)].into_iter().chain(rows))
    });
    let title = "transition weights, from the label of the row to that of the column";
    format!("\n{title}\n{}", blocks.collect::<Vec<_>>().join("\n"))
}

fn format_weight(weight: &f64) -> String {
    format!("{weight:.3}")
}

/// Returns the transitions with the largest absolute weights, best first.
fn strongest(model: &Model, count: usize) -> String {
    let header = model.header();
    let weights = &header.label_weights;
    let names: Vec<&str> = header.labels.names().iter().map(String::as_str).collect();
    let rows = names.iter().zip(weights.transition_rows());
    let pairs =
        rows.flat_map(|(&from, row)| row.iter().zip(&names).map(move |(&w, &to)| (w, from, to)));
    let starts = weights.start.iter().zip(&names).map(|(&w, name)| (w, START, *name));
    let ends = weights.end.iter().zip(&names).map(|(&w, name)| (w, *name, END));
    let mut all: Vec<(f64, &str, &str)> = pairs.chain(starts).chain(ends).collect();
    let total = all.len();
    all.retain(|(weight, ..)| *weight != 0.0);
    all.sort_by(|x, y| y.0.abs().total_cmp(&x.0.abs()));
    all.truncate(count);
    all.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut text =
        format!("\nstrongest {} of {total} transition weights (--json has all)\n", all.len());
    for (weight, from, to) in all {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{weight:10.4}  {from} → {to}");
    }
    text
}
