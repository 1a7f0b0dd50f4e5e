//! Ready-made attributes in JSON lines, as CRFsuite's format has them.

use serde_json::Value;
use serde_json::value::RawValue;

use super::crfsuite::edge_name;
use super::json_object::type_name;
use super::lines::InputLine;
use crate::error::Result;
use crate::sentence::{Attributes, check_attribute};

/// The key of the attributes.
pub(super) const ATTRIBUTES: &str = "attributes";

/// The items of a value of the key `attributes`, one for each token: arrays or objects. `None` if
/// it is something else, such as a column of strings.
pub(super) fn items(value: &RawValue) -> Option<Vec<&RawValue>> {
    let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
    let is_set = |item: &&RawValue| item.get().starts_with(['[', '{']);
    (!items.is_empty() && items.iter().all(is_set)).then_some(items)
}

/// Parses the attributes of each token: an array of names and of pairs of a name and a number, or
/// an object of names and numbers.
pub(super) fn parse(line: &InputLine, items: &[&RawValue]) -> Result<Attributes> {
    let mut attributes = Attributes::default();
    for (t, item) in items.iter().enumerate() {
        add_token(item, &mut attributes).map_err(|fault| {
            line.error(format!("key \"{ATTRIBUTES}\", item {}: {fault}", t + 1))
        })?;
        attributes.end_token();
    }
    attributes.shrink();
    Ok(attributes)
}

/// Adds the attributes of a token, or says what is wrong with them.
fn add_token(item: &RawValue, attributes: &mut Attributes) -> Result<(), String> {
    let value: Value = serde_json::from_str(item.get()).map_err(|error| error.to_string())?;
    match value {
        Value::Object(members) => {
            for (name, value) in &members {
                add(attributes, name, value)?;
            }
        }
        Value::Array(items) => {
            for item in &items {
                match item {
                    Value::String(name) => add(attributes, name, &Value::from(1.0))?,
                    Value::Array(pair) => match &pair[..] {
                        [Value::String(name), value] => add(attributes, name, value)?,
                        _ => {
                            return Err("expected pairs of a name and a number, such as \
                                        [\"w=Ann\", 0.5]"
                                .to_owned());
                        }
                    },
                    _ => {
                        return Err("expected names, or pairs of a name and a number, in an array"
                            .to_owned());
                    }
                }
            }
        }
        _ => {
            return Err(format!(
                "expected an array of names, or an object of names and numbers, found {}",
                type_name(item)
            ));
        }
    }
    Ok(())
}

/// Adds an attribute. `edge:name` is one of the pair of the previous token and this one.
fn add(attributes: &mut Attributes, name: &str, value: &Value) -> Result<(), String> {
    let number = value.as_f64().ok_or_else(|| {
        format!("attribute '{name}' has the value {value}; expected a finite number")
    })?;
    check_attribute(name, number)?;
    match edge_name(name) {
        Some(edge) => attributes.push_edge(edge, number),
        None => attributes.push(name, number),
    }
    Ok(())
}
