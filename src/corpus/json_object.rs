//! JSON objects with ordered keys and unparsed values.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::lines::InputLine;
use crate::error::{Error, Place, Result};

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
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or_default();
        if error.is_data() {
            return line.error(message);
        }
        // An object may be on several lines.
        let skipped = error.line().saturating_sub(1);
        let bytes = line.text.split('\n').nth(skipped).unwrap_or_default().as_bytes();
        let before = &bytes[..error.column().saturating_sub(1).min(bytes.len())];
        let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
        Error::input(
            Place::column(&**line.file, line.number + skipped as u64, column),
            format!("not valid JSON: {message}"),
        )
    })?;
    match object.repeated_key() {
        Some(key) => Err(line.error(format!("the key {key:?} occurs twice"))),
        None => Ok(object),
    }
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
