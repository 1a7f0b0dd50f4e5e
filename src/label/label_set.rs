//! The labels of a model: the mapping between names and identifiers.

use std::hash::{Hash, Hasher};

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::ids::LabelId;

/// The K labels of a model, numbered in order of first appearance.
///
/// Serializes as the list of names; deserializing checks what [`LabelSet::insert`] guarantees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct LabelSet {
    names: Vec<String>, // [K]
    ids: HashMap<String, LabelId>,
}

impl LabelSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the identifier of `name`, and adds it to the set if it is new.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the set already has [`LabelId::LIMIT`] others.
    pub fn insert(&mut self, name: &str) -> Result<LabelId> {
        if let Some(id) = self.id(name) {
            return Ok(id);
        }
        if self.names.len() >= LabelId::LIMIT {
            return Err(Error::parameter(format!(
                "'{name}' is one label too many: label ids allow at most {}",
                LabelId::LIMIT
            )));
        }
        let id = LabelId(self.names.len() as u16);
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        Ok(id)
    }

    /// The identifier of `name`, if it is in the set.
    pub fn id(&self, name: &str) -> Option<LabelId> {
        self.ids.get(name).copied()
    }

    /// The name of `id`.
    ///
    /// # Panics
    ///
    /// If `id` is out of range.
    pub fn name(&self, id: LabelId) -> &str {
        &self.names[id.index()]
    }

    /// The names in order of their identifiers: `[K]`.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of labels K.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl TryFrom<Vec<String>> for LabelSet {
    type Error = Error;

    /// # Errors
    ///
    /// [`Error::Parameter`] if a name occurs twice or there are more than [`LabelId::LIMIT`].
    fn try_from(names: Vec<String>) -> Result<Self> {
        let mut set = Self::new();
        for name in &names {
            if set.id(name).is_some() {
                return Err(Error::parameter(format!("two labels have the name '{name}'")));
            }
            set.insert(name)?;
        }
        Ok(set)
    }
}

impl From<LabelSet> for Vec<String> {
    fn from(set: LabelSet) -> Self {
        set.names
    }
}

/// Hashes the names in order.
impl Hash for LabelSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbered_in_order_of_first_appearance() {
        let mut set = LabelSet::new();
        assert!(set.is_empty());
        let ids: Vec<_> =
            ["O", "B-X", "O", "I-X"].iter().map(|name| set.insert(name).unwrap().index()).collect();
        assert_eq!(ids, [0, 1, 0, 2]);
        assert_eq!(set.names(), ["O", "B-X", "I-X"]);
        assert_eq!(set.name(LabelId(2)), "I-X");
        assert_eq!(set.id("B-X"), Some(LabelId(1)));
        assert_eq!(set.id("B-Y"), None);
    }

    #[test]
    fn one_label_too_many_is_rejected() {
        let mut set = LabelSet::new();
        for i in 0..LabelId::LIMIT {
            set.insert(&i.to_string()).unwrap();
        }
        assert_eq!(
            set.insert("x").unwrap_err().to_string(),
            "'x' is one label too many: label ids allow at most 65535"
        );
        assert_eq!(set.insert("65534").unwrap(), LabelId(65534));
        assert_eq!(set.len(), 65535);
    }

    #[test]
    fn a_set_round_trips_through_serialization() {
        let set = LabelSet::try_from(vec!["O".to_owned(), "B-X".to_owned()]).unwrap();
        let json = serde_json::to_string(&set).unwrap();
        assert_eq!(json, r#"["O","B-X"]"#);
        assert_eq!(serde_json::from_str::<LabelSet>(&json).unwrap(), set);
    }

    #[test]
    fn a_repeated_name_is_rejected_when_deserializing() {
        let error = serde_json::from_str::<LabelSet>(r#"["O","X","O"]"#).unwrap_err();
        assert_eq!(error.to_string(), "two labels have the name 'O'");
    }
}
