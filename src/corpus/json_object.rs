//! JSON objects with ordered keys and unparsed values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object in their original order, with their values as written.
pub(super) struct JsonObject<'a>(pub Vec<(String, &'a RawValue)>);

impl<'a> JsonObject<'a> {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        let member = self.0.iter().find(|(name, _)| name == key);
        member.map(|(_, value)| *value)
    }

    /// A key that occurs more than once.
    pub fn repeated_key(&self) -> Option<&str> {
        let repeated = |i: &usize| self.0[..*i].iter().any(|(key, _)| *key == self.0[*i].0);
        let position = (0..self.0.len()).find(repeated);
        position.map(|i| self.0[i].0.as_str())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = JsonObject<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object such as {\"tokens\": [\"a\"], \"labels\": [\"O\"]}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(JsonObject(members))
    }
}
