//! JSON objects with ordered keys and unparsed values, and what they have for each token in JSON
//! lines: columns of strings, labels, and ready-made attributes as in CRFsuite's format.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::columns::{JOINED_PARTIAL, find_labels, labeled_schema};
use super::crfsuite::edge_name;
use super::lines::InputLine;
use super::parse::ReadOptions;
use super::tag_names::label_column;
use crate::error::{Error, Place, Result};
use crate::sentence::{Attributes, JOINT, Schema, TokenLabel, check_attribute};

/// The members of a JSON object in their original order, with their values as written.
pub struct JsonObject<'a> {
    /// The members in their original order.
    pub members: Vec<(String, &'a RawValue)>,
    by_key: Vec<u32>, // positions in `members`, in the order of their keys
}

impl<'a> JsonObject<'a> {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        let name = |&i: &u32| self.members[i as usize].0.as_str();
        let found = self.by_key.binary_search_by_key(&key, name).ok()?;
        Some(self.members[self.by_key[found] as usize].1)
    }

    /// The object on one line, without some of its members and, if it has a number, with that as
    /// the member `doc` before the others.
    pub fn without(&self, keys: &[&str], document: Option<u64>) -> Arc<str> {
        let document = document.map(|number| format!("\"doc\":{number}"));
        let kept = self.members.iter().filter(|(key, _)| !keys.contains(&key.as_str()));
        let kept = kept.map(|(key, value)| member(key, value));
        // Line breaks between values are white space.
        object(document.into_iter().chain(kept)).replace(['\n', '\r'], " ").into()
    }

    /// The first key that has occurred before.
    pub fn repeated_key(&self) -> Option<&str> {
        let name = |i: u32| self.members[i as usize].0.as_str();
        let repeated = self.by_key.windows(2).filter(|pair| name(pair[0]) == name(pair[1]));
        repeated.map(|pair| pair[1]).min().map(name)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = JsonObject<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object such as {\"tokens\": [\"a\"], \"labels\": [\"O\"]}")
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        let mut members: Vec<(String, &RawValue)> = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        // The length of a line is limited, so 32 bits suffice.
        let mut by_key: Vec<u32> = (0..members.len() as u32).collect();
        by_key.sort_by_key(|&i| members[i as usize].0.as_str());
        Ok(JsonObject { members, by_key })
    }
}

/// A member of an object as JSON.
pub(super) fn member(key: &str, value: impl fmt::Display) -> String {
    format!("{}:{value}", Value::from(key))
}

/// An object with these members.
pub(super) fn object(members: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Parses the object on `line`, whose keys must be unique.
///
/// # Errors
///
/// [`Error::Input`] with the place of what is wrong.
pub fn parse_object<'a>(line: &InputLine<'a>) -> Result<JsonObject<'a>> {
    let object: JsonObject<'a> = serde_json::from_str(line.text).map_err(|error| {
        let message = json_fault(&error);
        if error.is_data() {
            return line.error(message);
        }
        // An object may be on several lines.
        let skipped = error.line().saturating_sub(1);
        let bytes = line.text.split('\n').nth(skipped).unwrap_or_default().as_bytes();
        let before = &bytes[..error.column().saturating_sub(1).min(bytes.len())];
        let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
        let place = Place::column(&**line.file, line.number + skipped as u64, column);
        Error::input(place, format!("not valid JSON: {message}"))
    })?;
    match object.repeated_key() {
        Some(key) => Err(line.error(format!("the key {key:?} occurs twice"))),
        None => Ok(object),
    }
}

/// Says what is wrong with JSON, without the place, which is one in the parsed text alone.
pub fn json_fault(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Names the type of a JSON value in an error message.
pub fn type_name(value: &RawValue) -> &'static str {
    match serde_json::from_str(value.get()) {
        Ok(Value::Null) => "null",
        Ok(Value::Bool(_)) => "a boolean",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Array(_)) => "an array",
        Ok(Value::Object(_)) => "an object",
        Err(_) => "not valid JSON",
    }
}

/// The default key of the labels.
const LABELS: &str = "labels";

/// Keys that are never columns: the other keys of JSON output, so that it can be read back, and
/// the column names of tokens and labels.
const RESERVED_KEYS: [&str; 11] = [
    "tokens",
    "text",
    "offset",
    LABELS,
    "spans",
    "offsets",
    "probability",
    "marginals",
    "nbest",
    "word",
    "label",
];

/// What is expected of a key that is missing.
const EXPECTED: &str = "expected a string for each token there";

/// The columns, which the first object determines for the rest of the file.
pub(super) struct JsonColumns {
    pub schema: Arc<Schema>,
    pub keys: Vec<String>, // [C] the key of each column
    /// The names of labels that are numbers.
    pub names: Vec<String>,
}

impl JsonColumns {
    /// Determines the columns from the first object: `word`, others in its order, the label. Labels
    /// that join several keys have no column of their own.
    pub fn detect(
        line: &InputLine,
        object: &JsonObject,
        tokens: usize,
        options: &ReadOptions,
    ) -> Result<Self> {
        let chosen = options.label.as_deref();
        let present = chosen.filter(|key| object.get(key).is_some());
        let several = chosen.filter(|key| present.is_none() && key.contains(JOINT));
        let joined = several.filter(|_| !options.unlabeled);
        if joined.is_some() && options.supervision.partial_labels {
            return Err(line.error(JOINED_PARTIAL));
        }
        let is_missing = present.or(several).is_none() && object.get(LABELS).is_none();
        let found = match is_missing && !options.unlabeled {
            true => Some(found_labels(line, object, tokens, options)?),
            false => None,
        };
        let (key, label) = present.or(found).map_or((LABELS, "label"), |key| (key, key));
        let parts: Vec<&str> =
            several.map_or_else(|| vec![key], |label| label.split(JOINT).collect());
        let mut keys = column_keys(object, tokens, options, &parts);
        for &part in parts.iter().filter(|_| joined.is_some()) {
            if object.get(part).is_some() && !keys.iter().any(|key| key == part) {
                keys.push(part.to_owned());
            }
        }
        let others = keys.iter().skip(1).cloned();
        let mut names: Vec<String> = ["word".to_owned()].into_iter().chain(others).collect();
        let found = joined.map(|label| find_labels(&names, label));
        let schema = match found.transpose().map_err(|message| line.error(message))? {
            Some(Some(label)) => labeled_schema(names, &label),
            None if !options.unlabeled => {
                keys.push(key.to_owned());
                names.push(label.to_owned());
                Schema::new(names, Some(keys.len() - 1))
            }
            _ => Schema::new(names, None),
        };
        let schema = schema.map_err(|error| line.error(error.to_string()))?;
        Ok(Self { schema: Arc::new(schema), keys, names: Vec::new() })
    }
}

/// The key of the labels where that of the options, or the usual one, is missing.
fn found_labels<'a>(
    line: &InputLine,
    object: &'a JsonObject,
    tokens: usize,
    options: &ReadOptions,
) -> Result<&'a str> {
    let is_label = |item: &Value| item.is_string() || item.is_i64();
    let are_labels = |(key, value): &&(String, &RawValue)| {
        let items: Result<Vec<Value>, _> = serde_json::from_str(value.get());
        !["tokens", "word"].contains(&&**key)
            && items.is_ok_and(|items| items.len() == tokens && items.iter().all(is_label))
    };
    let keys: Vec<&str> = object.members.iter().filter(are_labels).map(|(key, _)| &**key).collect();
    if let Some(key) = label_column(&keys).filter(|_| options.label.is_none()) {
        let said = format!("read the labels under \"{key}\" (`label` chooses another key)");
        options.report.say(Place::file(&**line.file), said);
        return Ok(key);
    }
    let found = match &keys[..] {
        [] => String::new(),
        _ => format!(" (found a value for each under \"{}\": `label` KEY)", keys.join("\", \"")),
    };
    let key = options.label.as_deref().unwrap_or(LABELS);
    Err(line.error(format!("the key \"{key}\" is missing; {EXPECTED}{found}")))
}

/// The keys of the columns `word` and others than the labels, in the order of the first object.
fn column_keys(
    object: &JsonObject,
    tokens: usize,
    options: &ReadOptions,
    labels: &[&str],
) -> Vec<String> {
    let is_column = |(name, value): &&(String, &RawValue)| {
        options.columns.as_ref().is_none_or(|c| c.contains(name))
            && !labels.contains(&name.as_str())
            && !RESERVED_KEYS.contains(&name.as_str())
            && serde_json::from_str::<Vec<String>>(value.get()).is_ok_and(|c| c.len() == tokens)
    };
    let others = object.members.iter().filter(is_column).map(|(name, _)| name.clone());
    ["tokens".to_owned()].into_iter().chain(others).collect()
}

/// The cells of the column `key`, one per token.
pub(super) fn column(
    line: &InputLine,
    value: Option<&RawValue>,
    key: &str,
    tokens: usize,
) -> Result<Vec<String>> {
    let missing = || line.error(format!("the key \"{key}\" is missing; {EXPECTED}"));
    let cells = strings(line, key, value.ok_or_else(missing)?)?;
    match cells.len() {
        found if found == tokens => Ok(cells),
        found => Err(line.error(format!(
            "key \"{key}\": expected as many strings as tokens ({tokens}), found {found}"
        ))),
    }
}

/// The labels of an object, which may be partial.
pub(super) fn partial_labels(
    line: &InputLine,
    value: Option<&RawValue>,
    key: &str,
    tokens: usize,
) -> Result<Vec<TokenLabel>> {
    let Some(value) = value else { return column(line, value, key, tokens).map(|_| Vec::new()) };
    let items: Vec<Value> = serde_json::from_str(value.get()).map_err(|_| {
        let found = type_name(value);
        line.error(format!("key \"{key}\": expected an array of labels, found {found}"))
    })?;
    let labels = TokenLabel::all_from_json(&items, tokens);
    labels.map_err(|fault| line.error(format!("key \"{key}\"{fault}")))
}

/// Parses an array of strings.
pub(super) fn strings(line: &InputLine, key: &str, value: &RawValue) -> Result<Vec<String>> {
    if let Ok(strings) = serde_json::from_str(value.get()) {
        return Ok(strings);
    }
    let items: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    let is_other = |item: &&RawValue| serde_json::from_str::<String>(item.get()).is_err();
    Err(line.error(match items.iter().position(is_other) {
        Some(i) => {
            let found = type_name(items[i]);
            format!("key \"{key}\": expected an array of strings, but item {} is {found}", i + 1)
        }
        None => format!("key \"{key}\": expected an array of strings, found {}", type_name(value)),
    }))
}

/// The key of the attributes.
pub(super) const ATTRIBUTES: &str = "attributes";

/// The items of a value of the key `attributes`, one for each token: arrays or objects. `None` if
/// it is something else, such as a column of strings.
pub(super) fn attribute_items(value: &RawValue) -> Option<Vec<&RawValue>> {
    let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
    let is_set = |item: &&RawValue| item.get().starts_with(['[', '{']);
    (!items.is_empty() && items.iter().all(is_set)).then_some(items)
}

/// Parses the attributes of each token: an array of names and of pairs of a name and a number, or
/// an object of names and numbers.
pub(super) fn attributes(line: &InputLine, items: &[&RawValue]) -> Result<Attributes> {
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
    let mut add = |name: &str, value: &Value| add(attributes, name, value);
    match &value {
        Value::Object(members) => members.iter().try_for_each(|(name, value)| add(name, value)),
        Value::Array(items) => items.iter().try_for_each(|item| match item {
            Value::String(name) => add(name, &Value::from(1.0)),
            Value::Array(pair) => match &pair[..] {
                [Value::String(name), value] => add(name, value),
                _ => {
                    let expected = "a name and a number, such as [\"w=Ann\", 0.5]";
                    Err(format!("expected pairs of {expected}"))
                }
            },
            _ => Err("expected names, or pairs of a name and a number, in an array".to_owned()),
        }),
        _ => Err(format!(
            "expected an array of names, or an object of names and numbers, found {}",
            type_name(item)
        )),
    }
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
