//! Everything about a model as text: tables, and lists of weights.

use dropchain_layout::{cut, format_table, wrap};
use serde_json::Value;

/// Number of files that are shown at most.
const MAX_FILES: usize = 20;

/// Columns of the numbers of a template line.
const NUMBERS: usize = 56;

/// Number of strongest transitions that are shown at least.
const MIN_SHOWN: usize = 20;

const START: &str = "(start)";
const END: &str = "(end)";

/// Returns what the page of a model leaves out, as text that fits the terminal, with `top`
/// transitions or more.
pub fn text(model: &Value, top: usize, columns: usize) -> String {
    let options = fields(&model["options"]).filter(|(_, value)| !value.is_null());
    let options =
        options.map(|(name, value)| format!("{} {}", name.replace('_', " "), plain(value)));
    let options = format!("options: {}", options.collect::<Vec<_>>().join(", "));
    let mut text = format!("\n{}\n", wrap(&options, columns, 2));
    text += &files(model);
    text += &sizes(model);
    text += &template_lines(model, columns);
    text += &transitions(model, top.max(MIN_SHOWN));
    for (label, value) in fields(&model["labels"]) {
        let attributes = items(&value["attributes"]).iter();
        text += &format!("\n{label}\n");
        text += &weights(attributes.map(|a| (number(&a["weight"]), plain(&a["attribute"]))));
    }
    let edges = items(&model["edges"]);
    if !edges.is_empty() {
        text += "\nstrongest edge attributes\n";
    }
    text + &weights(edges.iter().map(edge))
}

/// Returns the weights of an attribute as text.
pub fn attribute(attribute: &Value) -> String {
    let nodes = fields(&attribute["weights"]).map(|(name, w)| (number(w), name.to_owned()));
    let edges = items(&attribute["edges"]).iter().map(edge);
    format!("{}\n{}", plain(&attribute["attribute"]), weights(nodes.chain(edges)))
}

/// Returns the weight for a pair of labels, and its name, with that of the attribute if it says.
fn edge(edge: &Value) -> (f64, String) {
    let [from, to, name] = ["from", "to", "attribute"].map(|field| plain(&edge[field]));
    (number(&edge["weight"]), format!("{from} → {to}  {name}").trim_end().to_owned())
}

/// Returns a line for each weight.
fn weights(weights: impl Iterator<Item = (f64, String)>) -> String {
    let lines = weights.map(|(weight, name)| format!("{weight:10.4}  {name}\n"));
    lines.collect()
}

fn fields(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// Formats a value of JSON without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// Returns what the model was trained on, as a table.
fn files(model: &Value) -> String {
    let files = items(&model["files"]);
    let heads = ["trained on", "", "bytes", "sentences", "XXH3"].map(str::to_owned);
    let rows = files.iter().take(MAX_FILES).map(|file| {
        ["role", "name", "bytes", "sentences", "xxh3"].map(|field| plain(&file[field]))
    });
    let table = format_table([heads].into_iter().chain(rows));
    match files.len().checked_sub(MAX_FILES) {
        _ if files.is_empty() => String::new(),
        None | Some(0) => format!("\n{table}"),
        Some(more) => format!("\n{table}and {more} more, which --json lists\n"),
    }
}

/// Returns the sizes of the parts of the file, as a table.
fn sizes(model: &Value) -> String {
    let mut rows = Vec::new();
    for (name, size) in fields(&model["sizes"]) {
        match size {
            Value::Object(_) => {
                rows.extend(fields(size).map(|(part, size)| (format!("{name}: {part}"), size)));
            }
            size => rows.push((name.replace('_', " "), size)),
        }
    }
    let rows = rows.into_iter().filter(|(_, size)| number(size) > 0.0).map(|(name, size)| {
        let share = 100.0 * number(size) / number(&model["bytes"]);
        [name, plain(size), format!("{share:.1} %")]
    });
    format!("\nbytes of the file\n{}", format_table(rows))
}

/// Returns what each template line contributes, as a table; nothing without a template.
fn template_lines(model: &Value, columns: usize) -> String {
    let lines = items(&model["lines"]);
    if lines.is_empty() {
        return String::new();
    }
    let width = columns.saturating_sub(NUMBERS).clamp(16, 60);
    let heads = ["template line", "attributes", "weights", "|weight|", "squares", "bytes"];
    let rows = lines.iter().map(|line| {
        let name = match line["text"].as_str() {
            Some(text) => format!("{} {text}", line["line"]),
            None => "others".to_owned(),
        };
        let [absolute, squares] = ["absolute", "squares"].map(|sum| format_sum(number(&line[sum])));
        let [attributes, weights] = ["attributes", "weights"].map(|count| plain(&line[count]));
        let bytes = format!("{:.0}", number(&line["bytes"]));
        [cut(&name, width), attributes, weights, absolute, squares, bytes]
    });
    let caption = "attributes by template line: number, weights that are not 0, sums of their \
                   absolute values and squares, bytes";
    let rows = [heads.map(str::to_owned)].into_iter().chain(rows);
    format!("\n{}\n{}", wrap(caption, columns, 0), format_table(rows))
}

/// Formats a sum with three or more digits.
fn format_sum(sum: f64) -> String {
    let decimals = match sum {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{sum:.decimals$}")
}

/// Returns the transitions with the largest absolute weights, best first.
fn transitions(model: &Value, count: usize) -> String {
    let mut all: Vec<(f64, &str, &str)> = Vec::new();
    for (from, label) in fields(&model["labels"]) {
        let next = fields(&label["transitions"]).map(|(to, weight)| (number(weight), from, to));
        all.extend(next);
        all.push((number(&label["start"]), START, from));
        all.push((number(&label["end"]), from, END));
    }
    let total = all.len();
    all.retain(|(weight, ..)| *weight != 0.0);
    all.sort_by(|x, y| y.0.abs().total_cmp(&x.0.abs()));
    all.truncate(count);
    all.sort_by(|x, y| y.0.total_cmp(&x.0));
    let title = format!("\nstrongest {} of {total} transition weights\n", all.len());
    title + &weights(all.into_iter().map(|(w, from, to)| (w, format!("{from} → {to}"))))
}
