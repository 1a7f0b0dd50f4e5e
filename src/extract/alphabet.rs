//! Interned attribute names.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::ids::AttributeId;
use crate::name_list::NameList;
use crate::template::Attribute;

/// A string interner for attribute names, numbered in order of first appearance.
///
/// Names are concatenated in one buffer, and looking one up does not allocate.
#[derive(Clone, Debug, Default)]
pub struct Alphabet {
    /// The names, in the order of their ids, `[A]`.
    pub names: NameList,
    index: HashTable<(u64, u32)>, // key and id
}

impl Alphabet {
    /// Returns the number of attributes A.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of an attribute.
    pub fn name(&self, id: AttributeId) -> &[u8] {
        self.names.get(id.index())
    }

    /// Returns the names of all attributes, by number.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|id| self.names.get(id))
    }

    /// Returns the id of a name, if it is interned.
    pub fn get(&self, name: &[u8]) -> Option<AttributeId> {
        self.find(&Attribute::named(name, Fingerprinter::default()))
    }

    /// Returns the id of an attribute, if it is interned.
    pub fn find(&self, attribute: &Attribute<'_>) -> Option<AttributeId> {
        let key = attribute.key();
        let is_match =
            |&(k, id): &(u64, u32)| k == key && attribute.has_name(self.name(AttributeId(id)));
        self.index.find(key, is_match).map(|&(_, id)| AttributeId(id))
    }

    /// Interns an attribute and returns its id.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there would be more than 2³²−1 attributes.
    pub fn intern(&mut self, attribute: &Attribute<'_>) -> Result<AttributeId> {
        if let Some(id) = self.find(attribute) {
            return Ok(id);
        }
        let id = u32::try_from(self.len())
            .ok()
            .filter(|&id| id < u32::MAX)
            .ok_or_else(|| Error::parameter("more than 4294967295 different attributes"))?;
        self.names.push_with(|bytes| attribute.write(bytes));
        let key = attribute.key();
        self.index.insert_unique(key, (key, id), |&(key, _)| key);
        Ok(AttributeId(id))
    }

    /// Retains the attributes for which `keep` holds, renumbered in the same order. Returns the new
    /// id of each old one.
    pub fn retain(&mut self, keep: impl Fn(AttributeId) -> bool) -> Vec<Option<u32>> {
        let mut renumbered = vec![None; self.len()];
        let mut kept = 0;
        self.names.retain(|i| {
            let is_kept = keep(AttributeId(i as u32));
            if is_kept {
                renumbered[i] = Some(kept);
                kept += 1;
            }
            is_kept
        });
        self.index.retain(|(_, id)| {
            let new = renumbered[*id as usize];
            *id = new.unwrap_or(*id);
            new.is_some()
        });
        renumbered
    }

    /// Frees the hash index and excess capacity. After this, only [`Alphabet::name`] works:
    /// look-ups find nothing.
    pub fn drop_index(&mut self) {
        self.index = HashTable::new();
        self.shrink_to_fit();
    }

    /// Frees excess capacity.
    pub(super) fn shrink_to_fit(&mut self) {
        self.names.shrink_to_fit();
        self.index.shrink_to_fit(|&(key, _)| key);
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        self.names.memory() + self.index.capacity() * 17
    }
}

/// Hashes the names in the order of their ids.
impl Hash for Alphabet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names.hash(state);
    }
}

/// The names of node and of edge attributes.
#[derive(Clone, Debug, Default, Hash)]
pub struct Alphabets {
    /// Node attributes.
    pub nodes: Alphabet,
    /// Edge attributes.
    pub edges: Alphabet,
}

impl Alphabets {
    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        self.nodes.memory() + self.edges.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: &str) -> Attribute<'_> {
        Attribute::named(name.as_bytes(), Fingerprinter::default())
    }

    #[test]
    fn names_are_numbered_in_order_of_first_appearance() {
        let mut alphabet = Alphabet::default();
        for name in ["b", "a", "b", "", "a"] {
            alphabet.intern(&attribute(name)).unwrap();
        }
        assert_eq!(alphabet.len(), 3);
        assert_eq!(alphabet.get(b"a"), Some(AttributeId(1)));
        assert_eq!(alphabet.name(AttributeId(2)), b"");
        assert_eq!(alphabet.get(b"c"), None);
    }

    #[test]
    fn retained_names_are_renumbered_in_order() {
        let mut alphabet = Alphabet::default();
        for i in 0..100 {
            alphabet.intern(&attribute(&format!("x{i}"))).unwrap();
        }
        let new = alphabet.retain(|id| id.0 % 10 == 3);
        assert_eq!(alphabet.len(), 10);
        assert_eq!(new[13], Some(1));
        assert_eq!(new[14], None);
        assert_eq!(alphabet.get(b"x93"), Some(AttributeId(9)));
        assert_eq!(alphabet.get(b"x94"), None);
    }
}
