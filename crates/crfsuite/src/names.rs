//! A database of names (`CQDB`): those of labels or attributes, by id.

use super::numbers::{Stored, array, number};

/// The first bytes of a database.
const MAGIC: &[u8] = b"CQDB";

/// The number that shows the byte order.
const BYTE_ORDER: u32 = 0x6244_5371;

/// Length of the header and of the references to 256 hash tables.
const DATA_AT: usize = 24 + 256 * 8;

/// Names by id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    database: &'a [u8],
    offsets: &'a [Stored], // of the names in the database, by id
}

impl<'a> Names<'a> {
    /// Finds the names in the database of `expected` names that begins at an offset in a file; the
    /// error is a message. `what` is what they name.
    pub fn read(file: &'a [u8], at: u32, expected: u32, what: &str) -> Result<Self, String> {
        let database = file.get(at as usize..).unwrap_or_default();
        let length = number(database, 4).unwrap_or(0) as usize;
        let database = match database.get(..length) {
            Some(bytes) if length >= DATA_AT && bytes.starts_with(MAGIC) => bytes,
            _ => return Err(format!("the names of {what} lie outside of the file")),
        };
        let field = |at: usize| number(database, at).unwrap_or(0);
        if field(12) != BYTE_ORDER {
            return Err(format!("the names of {what} have another byte order"));
        }
        if field(16) != expected {
            let count = field(16);
            return Err(format!("there are {count} names of {expected} {what}"));
        }
        let offsets = array(database, field(20) as usize, expected)
            .ok_or_else(|| format!("the names of {what} lie outside of the file"))?;
        Ok(Self { database, offsets })
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns the size in bytes of the database. All names together are smaller.
    pub fn size(&self) -> usize {
        self.database.len()
    }

    /// Returns the name with an id; `None` if it is damaged or missing, which the offset 0 says.
    pub fn get(&self, id: usize) -> Option<&'a [u8]> {
        let at = u32::from_le_bytes(*self.offsets.get(id)?) as usize;
        let has_id = number(self.database, at)? as usize == id;
        let length = number(self.database, at + 4)? as usize;
        let start = at + 8;
        match self.database.get(start..start.checked_add(length)?)? {
            [name @ .., 0] if has_id && !name.contains(&0) => Some(name),
            _ => None,
        }
    }
}
