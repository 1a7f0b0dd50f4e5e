//! JSON objects with ordered keys and unparsed values.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
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
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        let name = |&i: &u32| self.members[i as usize].0.as_str();
        let found = self.by_key.binary_search_by_key(&key, name).ok()?;
        Some(self.members[self.by_key[found] as usize].1)
    }

    /// The object on one line, without some of its members and, if it has a number, with that as
    /// the member `doc` before the others.
    #[must_use]
    pub fn without(&self, keys: &[&str], document: Option<u64>) -> Arc<str> {
        let rest = OtherMembers {
            members: &self.members,
            keys,
            document,
        };
        // Keys are strings and values are JSON, so nothing can fail; line breaks are white space.
        let json = serde_json::to_string(&rest).unwrap_or_default();
        match json.contains(['\n', '\r']) {
            true => json.replace(['\n', '\r'], " ").into(),
            false => json.into(),
        }
    }

    /// A key that occurs more than once.
    #[must_use]
    pub fn repeated_key(&self) -> Option<&str> {
        let mut known = HashSet::with_capacity(self.members.len());
        let mut keys = self.members.iter().map(|(key, _)| key.as_str());
        keys.find(|key| !known.insert(*key))
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

/// The members of an object but for some.
struct OtherMembers<'a, 'b> {
    members: &'b [(String, &'a RawValue)],
    keys: &'b [&'b str],
    document: Option<u64>,
}

impl Serialize for OtherMembers<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(document) = self.document {
            map.serialize_entry("doc", &document)?;
        }
        let kept = self.members.iter();
        for (key, value) in kept.filter(|(key, _)| !self.keys.contains(&key.as_str())) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
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
        let bytes = line
            .text
            .split('\n')
            .nth(skipped)
            .unwrap_or_default()
            .as_bytes();
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
#[must_use]
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
