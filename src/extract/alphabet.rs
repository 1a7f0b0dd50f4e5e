//! Attribute names and their numbers.

use hashbrown::HashTable;

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::ids::AttributeId;
use crate::template::Attribute;

/// Attribute names, numbered in order of first appearance.
///
/// Names lie end to end in one buffer; looking a known name up allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Alphabet {
    bytes: Vec<u8>,
    ends: Vec<u64>,               // [A] end of each name in `bytes`
    table: HashTable<(u64, u32)>, // key and number
}

impl Alphabet {
    /// Number of attributes A.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of an attribute.
    #[must_use]
    pub fn name(&self, id: AttributeId) -> &[u8] {
        let i = id.index();
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.bytes[start..self.ends[i] as usize]
    }

    /// The number of a name, if it is known.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<AttributeId> {
        self.find(&Attribute::named(name, Fingerprinter::default()))
    }

    /// The number of an attribute, if it is known.
    #[must_use]
    pub fn find(&self, attribute: &Attribute<'_>) -> Option<AttributeId> {
        let key = attribute.key();
        let is_it =
            |&(k, id): &(u64, u32)| k == key && attribute.has_name(self.name(AttributeId(id)));
        let found = self.table.find(key, is_it);
        found.map(|&(_, id)| AttributeId(id))
    }

    /// The number of an attribute, which becomes known.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when there would be more than 2³²−1 attributes.
    pub fn intern(&mut self, attribute: &Attribute<'_>) -> Result<AttributeId> {
        if let Some(id) = self.find(attribute) {
            return Ok(id);
        }
        let id = u32::try_from(self.len())
            .ok()
            .filter(|&id| id < u32::MAX)
            .ok_or_else(|| Error::parameter("more than 4294967295 different attributes"))?;
        attribute.write(&mut self.bytes);
        self.ends.push(self.bytes.len() as u64);
        let key = attribute.key();
        self.table.insert_unique(key, (key, id), |&(key, _)| key);
        Ok(AttributeId(id))
    }

    /// The alphabet of the attributes for which `keep` holds, in the same order, and the new
    /// number of each old one.
    pub(crate) fn retain(self, keep: impl Fn(AttributeId) -> bool) -> (Self, Vec<Option<u32>>) {
        let mut kept = Self::default();
        let mut renumbered = vec![None; self.len()];
        for (i, new) in renumbered.iter_mut().enumerate() {
            let id = AttributeId(i as u32);
            if keep(id) {
                *new = Some(kept.len() as u32);
                kept.bytes.extend_from_slice(self.name(id));
                kept.ends.push(kept.bytes.len() as u64);
            }
        }
        let known = |&(key, id): &(u64, u32)| Some((key, renumbered[id as usize]?));
        let entries: Vec<(u64, u32)> = self.table.iter().filter_map(known).collect();
        kept.table.reserve(entries.len(), |&(key, _)| key);
        for entry in entries {
            kept.table.insert_unique(entry.0, entry, |&(key, _)| key);
        }
        (kept, renumbered)
    }

    /// Forgets how to look names up; [`Alphabet::name`] is all that is left.
    pub(crate) fn close(&mut self) {
        self.table = HashTable::new();
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Bytes of memory that the names and the table take.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 8 + self.table.capacity() * 17
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
    fn retaining_some_renumbers_the_rest_in_order() {
        let mut alphabet = Alphabet::default();
        for i in 0..100 {
            alphabet.intern(&attribute(&format!("x{i}"))).unwrap();
        }
        let (kept, new) = alphabet.retain(|id| id.0 % 10 == 3);
        assert_eq!(kept.len(), 10);
        assert_eq!(new[13], Some(1));
        assert_eq!(new[14], None);
        assert_eq!(kept.get(b"x93"), Some(AttributeId(9)));
        assert_eq!(kept.get(b"x94"), None);
    }
}
