//! Documents on lines: a class and a text, text alone, JSON, or ready-made features in the format
//! of SVMlight and LIBSVM.

use serde_json::Value;

use super::{Instance, InstanceContent, InstanceFormat, InstanceReadOptions};
use dropchain::Result;
use dropchain::corpus::{InputLine, LineReader, Repair};
use dropchain::kernel::corpus::{JsonObject, is_blank};
use dropchain_formats::JsonObjects;

/// An object with what is needed.
pub(super) const JSON_EXAMPLE: &str = r#"{"text": "a great film", "label": "pos"}"#;

/// Documents whose class the annotator did not accept (Prodigy).
const REJECTED: Repair = Repair {
    one: "document was rejected or ignored by its annotator",
    many: "documents were rejected or ignored by their annotator",
    fate: "left out",
};

/// The class of a document, if it is known, and its content.
type Document = (Option<String>, InstanceContent);

/// Reads the next document. Blank lines are skipped, but not among lines of text alone, where each
/// is a document.
pub(super) fn read(
    lines: &mut LineReader,
    format: InstanceFormat,
    options: &InstanceReadOptions,
) -> Result<Option<Instance>> {
    loop {
        lines.begin_sentence();
        let Some(line) = lines.next_line()? else { return Ok(None) };
        if format != InstanceFormat::Text && is_blank(line.text) {
            continue;
        }
        let document = match format {
            InstanceFormat::Svmlight => svmlight(&line)?,
            InstanceFormat::Text => Some((None, InstanceContent::Text(line.text.to_owned()))),
            _ => Some(labeled(&line)?),
        };
        let Some((label, content)) = document else { continue }; // a comment
        let label = options.check_label(label, |message| line.error(message))?;
        return Ok(Some(Instance { label, content, file: line.file.clone(), line: line.number }));
    }
}

/// Parses a class, a tab, and a text.
fn labeled(line: &InputLine<'_>) -> Result<Document> {
    let Some((label, text)) = line.text.split_once('\t') else {
        return Err(line.error("found no tab; expected a class, a tab, and the text"));
    };
    Ok((Some(label.trim().to_owned()), InstanceContent::Text(text.to_owned())))
}

/// Reads the next document of JSON objects, one on a line or in an array.
pub(super) fn read_json(
    lines: &mut LineReader,
    objects: &mut JsonObjects,
    options: &InstanceReadOptions,
) -> Result<Option<Instance>> {
    let file = lines.file().clone();
    while let Some((text, number)) = objects.next(lines)? {
        let line = InputLine::new(&text, &file, number);
        if let Some((label, content)) = json(&line, options)? {
            return Ok(Some(Instance { label, content, file, line: number }));
        }
    }
    Ok(None)
}

/// Parses an object with a text and a label: a string, a number or a Boolean, perhaps in an array.
/// `None` if its label was not accepted.
fn json(line: &InputLine<'_>, options: &InstanceReadOptions) -> Result<Option<Document>> {
    let object: JsonObject<'_> = serde_json::from_str(line.text)
        .map_err(|error| line.error(format!("{error}; expected a JSON object")))?;
    let value = |key: &str| -> Option<Value> { serde_json::from_str(object.get(key)?.get()).ok() };
    let answer = value("answer").filter(|_| options.needs_labels);
    if answer.is_some_and(|answer| answer == "reject" || answer == "ignore") {
        options.read.report.add(&REJECTED, 1);
        return Ok(None);
    }
    let key = &options.text;
    let text = match value(key) {
        Some(Value::String(text)) => text,
        Some(_) => return Err(line.error(format!("the key \"{key}\" holds no string"))),
        None => return Err(line.error(format!("found no key \"{key}\"; expected the text"))),
    };
    let key = options.label();
    // Prodigy has the options that were chosen under this key.
    let chosen = || value("accept").filter(|_| options.label.is_none());
    let label = match value(key).or_else(chosen) {
        Some(Value::Array(mut labels)) if labels.len() < 2 => labels.pop(),
        label => label,
    };
    let wrong = |what: &str| Err(line.error(format!("the key \"{key}\" holds {what}")));
    let label = match label {
        None | Some(Value::Null) => None,
        Some(Value::String(label)) => Some(label),
        Some(label @ (Value::Bool(_) | Value::Number(_))) => Some(label.to_string()),
        Some(Value::Array(labels)) => {
            return wrong(&format!("{} labels; expected only one", labels.len()));
        }
        Some(Value::Object(_)) => return wrong("no label; expected a string or a number"),
    };
    let fault = |message: &str| line.error(format!("key \"{key}\": {message}"));
    Ok(Some((options.check_label(label, fault)?, InstanceContent::Text(text))))
}

/// Parses a line; `None` if it is a comment. A feature is named by its index. `qid:N` is ignored.
/// Classes that are numbers are compared as such: `+1` and `1.0` are `1`.
fn svmlight(line: &InputLine<'_>) -> Result<Option<Document>> {
    let text = line.text.split('#').next().unwrap_or_default();
    let mut fields = text.split_ascii_whitespace();
    let Some(label) = fields.next() else { return Ok(None) };
    if label.contains(':') {
        return Err(line.error(format!("found '{label}' first; expected the class")));
    }
    let number = label.parse().ok().filter(|number: &f64| number.is_finite());
    let label = number.map_or_else(|| label.to_owned(), |number| (number + 0.0).to_string());
    let (mut features, mut last) = (Vec::new(), 0);
    for field in fields {
        let Some((index, value)) = field.split_once(':') else {
            return Err(line.error(format!("found '{field}'; expected index:value")));
        };
        if index == "qid" {
            continue;
        }
        let Some(number) = index.parse().ok().filter(|&number: &u64| number > 0) else {
            return Err(line.error(format!("found the index '{index}'; expected 1 or more")));
        };
        if number <= last {
            return Err(line
                .error(format!("the index {number} follows {last}; expected ascending indices")));
        }
        last = number;
        let Some(value) = value.parse().ok().filter(|value: &f64| value.is_finite()) else {
            return Err(line.error(format!(
                "the feature {number} has the value '{value}'; expected a finite number"
            )));
        };
        features.push((number.to_string(), value));
    }
    Ok(Some((Some(label), InstanceContent::Features(features))))
}
