//! JSON objects with ordered keys and unparsed values.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object in their original order, with their values as written.
pub(super) struct JsonObject<'a> {
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

    /// A key that occurs more than once.
    pub fn repeated_key(&self) -> Option<&str> {
        let mut known = HashSet::with_capacity(self.members.len());
        let mut keys = self.members.iter().map(|(key, _)| key.as_str());
        keys.find(|key| !known.insert(*key))
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
