//! Names, concatenated.

use std::convert::Infallible;

/// A list of byte strings in one buffer: a model has millions of names.
#[derive(Clone, Debug, Default, Hash)]
pub struct NameList {
    /// All names, one after another.
    pub bytes: Vec<u8>,
    /// The end of each name in `bytes`.
    pub ends: Vec<u64>,
}

impl NameList {
    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns where name `i` starts in the bytes of all.
    pub fn start(&self, i: usize) -> u64 {
        if i == 0 { 0 } else { self.ends[i - 1] }
    }

    /// Returns name `i`.
    pub fn get(&self, i: usize) -> &[u8] {
        &self.bytes[self.start(i) as usize..self.ends[i] as usize]
    }

    /// Appends a name.
    pub fn push(&mut self, name: &[u8]) {
        self.push_with(|bytes| bytes.extend_from_slice(name));
    }

    /// Appends the name that `write` appends to the bytes.
    pub fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len() as u64);
    }

    /// Removes the names for which `keep`, given the index, does not hold.
    pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let Ok(()) = self.try_retain(|i, _| Ok::<_, Infallible>(keep(i)));
    }

    /// Removes the names for which `keep`, given the index and the name, does not hold.
    ///
    /// # Errors
    ///
    /// The first of `keep`.
    pub fn try_retain<E>(
        &mut self,
        mut keep: impl FnMut(usize, &[u8]) -> Result<bool, E>,
    ) -> Result<(), E> {
        let (mut start, mut length, mut kept) = (0, 0, 0);
        for i in 0..self.ends.len() {
            let end = self.ends[i] as usize;
            if keep(i, &self.bytes[start..end])? {
                self.bytes.copy_within(start..end, length);
                length += end - start;
                self.ends[kept] = length as u64;
                kept += 1;
            }
            start = end;
        }
        self.bytes.truncate(length);
        self.ends.truncate(kept);
        Ok(())
    }

    /// Frees excess capacity.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn list(names: &[&str]) -> NameList {
        let mut list = NameList::default();
        names.iter().for_each(|name| list.push(name.as_bytes()));
        list
    }

    fn names(list: &NameList) -> Vec<&[u8]> {
        (0..list.len()).map(|i| list.get(i)).collect()
    }

    #[test]
    fn retained_names_stay_in_order() {
        let mut list = list(&["a", "", "long name", "b", "", "c"]);
        let mut seen = Vec::new();
        list.try_retain(|i, name| {
            seen.push(name.to_vec());
            Ok::<_, Error>(i % 2 == 0)
        })
        .unwrap();
        assert_eq!(seen, [&b"a"[..], b"", b"long name", b"b", b"", b"c"]);
        assert_eq!(names(&list), [&b"a"[..], b"long name", b""]);
        assert_eq!(list.bytes, b"along name");
        assert_eq!(list.ends, [1, 10, 10]);
        list.retain(|_| false);
        assert_eq!(names(&list), [&b""[..]; 0]);
    }

    #[test]
    fn an_error_ends_retaining() {
        let mut list = list(&["a", "b"]);
        let fail = |_: usize, _: &[u8]| Err(Error::parameter("bad"));
        assert!(list.try_retain(fail).is_err());
    }
}
