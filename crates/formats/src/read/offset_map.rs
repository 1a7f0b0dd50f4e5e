//! From offsets in any unit to bytes.

use dropchain::sentence::OffsetUnit;

/// Marks an offset inside a character.
const INSIDE: u32 = u32::MAX;

/// Converts offsets in a text to bytes. Takes 4 bytes per unit of a text beyond ASCII.
pub(super) struct OffsetMap<'a> {
    text: &'a str,
    unit: OffsetUnit,
    bytes: Option<Vec<u32>>, // [units + 1]; `None` if units are bytes
}

impl<'a> OffsetMap<'a> {
    pub fn new(text: &'a str, unit: OffsetUnit) -> Self {
        let bytes = match unit {
            OffsetUnit::Bytes => None,
            _ if text.is_ascii() => None,
            unit => {
                let mut bytes = Vec::new();
                for (byte, c) in text.char_indices() {
                    // A line has at most 64 MiB, and a text as much memory as fits.
                    bytes.push(u32::try_from(byte).unwrap_or(INSIDE));
                    if unit == OffsetUnit::Utf16 && c.len_utf16() == 2 {
                        bytes.push(INSIDE);
                    }
                }
                bytes.push(u32::try_from(text.len()).unwrap_or(INSIDE));
                Some(bytes)
            }
        };
        Self { text, unit, bytes }
    }

    /// Returns the byte of an offset, or what is wrong with it.
    pub fn byte(&self, offset: u64) -> Result<usize, String> {
        let units = self.bytes.as_ref().map_or(self.text.len(), |bytes| bytes.len() - 1);
        let offset = usize::try_from(offset).ok().filter(|&offset| offset <= units);
        let Some(offset) = offset else {
            return Err(format!(
                "ends beyond the text, which has {units} {}",
                unit_name(self.unit)
            ));
        };
        let byte = match &self.bytes {
            None => offset,
            Some(bytes) if bytes[offset] == INSIDE => usize::MAX,
            Some(bytes) => bytes[offset] as usize,
        };
        match self.text.is_char_boundary(byte) {
            true => Ok(byte),
            false => Err(format!(
                "begins or ends inside a character (offsets count {}; `offsets` changes that)",
                unit_name(self.unit)
            )),
        }
    }
}

/// What a unit counts, in words.
pub(super) fn unit_name(unit: OffsetUnit) -> &'static str {
    match unit {
        OffsetUnit::Chars => "characters",
        OffsetUnit::Bytes => "bytes",
        OffsetUnit::Utf16 => "UTF-16 units",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_leads_to_the_same_bytes() {
        let text = "é😀x";
        let bytes = |unit, offsets: [u64; 4]| {
            let map = OffsetMap::new(text, unit);
            offsets.map(|offset| map.byte(offset).unwrap())
        };
        assert_eq!(bytes(OffsetUnit::Chars, [0, 1, 2, 3]), [0, 2, 6, 7]);
        assert_eq!(bytes(OffsetUnit::Bytes, [0, 2, 6, 7]), [0, 2, 6, 7]);
        assert_eq!(bytes(OffsetUnit::Utf16, [0, 1, 3, 4]), [0, 2, 6, 7]);
    }

    #[test]
    fn offsets_beyond_the_text_or_inside_a_character_are_rejected() {
        for (unit, beyond, inside) in [(OffsetUnit::Utf16, 5, 2), (OffsetUnit::Bytes, 8, 3)] {
            let map = OffsetMap::new("é😀x", unit);
            assert!(map.byte(beyond).unwrap_err().starts_with("ends beyond the text"));
            assert!(map.byte(u64::MAX).is_err());
            assert!(map.byte(inside).unwrap_err().contains("inside a character"));
        }
        assert!(OffsetMap::new("ab", OffsetUnit::Chars).byte(3).is_err());
    }
}
