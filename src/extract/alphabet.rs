//! Attribute names and their numbers.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::ids::AttributeId;

/// Attribute names, numbered in order of first appearance.
///
/// Names lie end to end in one buffer; looking a known name up allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Alphabet {
    bytes: Vec<u8>,
    ends: Vec<u64>,   // [A] end of each name in `bytes`
    hashes: Vec<u64>, // [A]
    table: HashTable<u32>,
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
        self.table
            .find(xxh3_64(name), |&id| self.name(AttributeId(id)) == name)
            .map(|&id| AttributeId(id))
    }

    /// The number of a name, which becomes known.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when there would be more than 2³²−1 attributes.
    pub fn intern(&mut self, name: &[u8]) -> Result<AttributeId> {
        let hash = xxh3_64(name);
        let find = |&id: &u32| self.name(AttributeId(id)) == name;
        if let Some(&id) = self.table.find(hash, find) {
            return Ok(AttributeId(id));
        }
        let id = u32::try_from(self.len())
            .ok()
            .filter(|&id| id < u32::MAX)
            .ok_or_else(|| Error::parameter("more than 4294967295 different attributes"))?;
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len() as u64);
        self.hashes.push(hash);
        let hashes = &self.hashes;
        self.table
            .insert_unique(hash, id, |&id| hashes[id as usize]);
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
                let number = kept.len() as u32;
                kept.bytes.extend_from_slice(self.name(id));
                kept.ends.push(kept.bytes.len() as u64);
                kept.hashes.push(self.hashes[i]);
                *new = Some(number);
            }
        }
        kept.table.reserve(kept.hashes.len(), |_| 0);
        for (i, &hash) in kept.hashes.iter().enumerate() {
            let hashes = &kept.hashes;
            kept.table
                .insert_unique(hash, i as u32, |&id| hashes[id as usize]);
        }
        (kept, renumbered)
    }

    /// Bytes of memory that the names and the table take.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 16 + self.table.capacity() * 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_in_order_of_first_appearance() {
        let mut alphabet = Alphabet::default();
        for name in ["b", "a", "b", "", "a"] {
            alphabet.intern(name.as_bytes()).unwrap();
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
            alphabet.intern(format!("x{i}").as_bytes()).unwrap();
        }
        let (kept, new) = alphabet.retain(|id| id.0 % 10 == 3);
        assert_eq!(kept.len(), 10);
        assert_eq!(new[13], Some(1));
        assert_eq!(new[14], None);
        assert_eq!(kept.get(b"x93"), Some(AttributeId(9)));
        assert_eq!(kept.get(b"x94"), None);
    }
}
