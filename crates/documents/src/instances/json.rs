//! Documents as JSON lines.

use serde_json::Value;
use serde_json::value::RawValue;

use super::instance::{InstanceContent, InstanceReadOptions, checked_label};
use dropchain::corpus::InputLine;
use dropchain::corpus::JsonObject;
use dropchain::error::Result;

/// Parses an object with a text and a class, which may be a string, an integer or a Boolean.
pub(super) fn parse(
    line: &InputLine<'_>,
    options: &InstanceReadOptions,
) -> Result<(Option<String>, InstanceContent)> {
    let object: JsonObject<'_> = serde_json::from_str(line.text)
        .map_err(|error| line.error(format!("{error}; expected a JSON object")))?;
    let value = |key: &str| -> Option<Value> {
        let raw: &RawValue = object.get(key)?;
        serde_json::from_str(raw.get()).ok()
    };
    let key = &options.text;
    let text = match value(key) {
        Some(Value::String(text)) => text,
        Some(_) => return Err(line.error(format!("the key \"{key}\" holds no string"))),
        None => return Err(line.error(format!("found no key \"{key}\"; expected the text"))),
    };
    let key = &options.label;
    let label = match value(key) {
        None | Some(Value::Null) => None,
        Some(Value::String(label)) => Some(label),
        Some(Value::Bool(label)) => Some(label.to_string()),
        Some(Value::Number(label)) if options.labels_are_numbers || !label.is_f64() => {
            Some(label.to_string())
        }
        Some(_) => {
            let message = match options.labels_are_numbers {
                true => "holds no number",
                false => "holds no class; expected a string",
            };
            return Err(line.error(format!("the key \"{key}\" {message}")));
        }
    };
    let label = checked_label(label.as_deref(), options, |message| {
        line.error(format!("key \"{key}\": {message}"))
    })?;
    Ok((label, InstanceContent::Text(text)))
}
