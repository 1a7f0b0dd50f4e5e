//! From offsets in any unit to bytes.

use super::span_options::SpanOffsets;

/// Marks an offset inside a character.
const INSIDE: u32 = u32::MAX;

/// Converts offsets in a text to bytes. Takes 4 bytes per unit of a text beyond ASCII.
pub(super) struct OffsetMap<'a> {
    text: &'a str,
    pub unit: SpanOffsets,
    bytes: Option<Vec<u32>>, // [units + 1]; `None` if units are bytes
}

impl<'a> OffsetMap<'a> {
    pub fn new(text: &'a str, unit: SpanOffsets) -> Self {
        let is_utf16 = matches!(unit, SpanOffsets::Utf16 | SpanOffsets::Utf16Lines);
        let joins_crlf = matches!(unit, SpanOffsets::Lines | SpanOffsets::Utf16Lines);
        let joins_crlf = joins_crlf && text.contains("\r\n");
        let are_bytes = unit == SpanOffsets::Bytes || text.is_ascii() && !joins_crlf;
        let bytes = (!are_bytes).then(|| {
            let mut bytes = Vec::new();
            for (byte, c) in text.char_indices() {
                if joins_crlf && c == '\n' && text[..byte].ends_with('\r') {
                    continue;
                }
                // A line has at most 64 MiB, and a text as much memory as fits.
                bytes.push(u32::try_from(byte).unwrap_or(INSIDE));
                if is_utf16 && c.len_utf16() == 2 {
                    bytes.push(INSIDE);
                }
            }
            bytes.push(u32::try_from(text.len()).unwrap_or(INSIDE));
            bytes
        });
        Self { text, unit, bytes }
    }

    /// Returns the byte of an offset, or what is wrong with it.
    pub fn byte(&self, offset: u64) -> Result<usize, String> {
        let units = self.bytes.as_ref().map_or(self.text.len(), |bytes| bytes.len() - 1);
        if offset > units as u64 {
            return Err(format!("ends beyond the text, which has {units} {}", self.unit.words()));
        }
        let byte = match &self.bytes {
            None => offset as usize,
            Some(bytes) if bytes[offset as usize] == INSIDE => usize::MAX,
            Some(bytes) => bytes[offset as usize] as usize,
        };
        match self.text.is_char_boundary(byte) {
            true => Ok(byte),
            false => Err(format!(
                "begins or ends inside a character (offsets count {}; `offsets` changes that)",
                self.unit.words()
            )),
        }
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
        assert_eq!(bytes(SpanOffsets::Chars, [0, 1, 2, 3]), [0, 2, 6, 7]);
        assert_eq!(bytes(SpanOffsets::Bytes, [0, 2, 6, 7]), [0, 2, 6, 7]);
        assert_eq!(bytes(SpanOffsets::Utf16, [0, 1, 3, 4]), [0, 2, 6, 7]);
        let text = "é\r\n😀\n\rx";
        for (unit, offsets) in
            [(SpanOffsets::Lines, [1, 2, 3, 5]), (SpanOffsets::Utf16Lines, [1, 2, 4, 6])]
        {
            let map = OffsetMap::new(text, unit);
            assert_eq!(offsets.map(|offset| map.byte(offset).unwrap()), [2, 4, 8, 10], "{unit}");
        }
        assert_eq!(OffsetMap::new("a\r\nb", SpanOffsets::Lines).byte(2), Ok(3));
    }

    #[test]
    fn offsets_beyond_the_text_or_inside_a_character_are_rejected() {
        for (unit, beyond, inside) in [(SpanOffsets::Utf16, 5, 2), (SpanOffsets::Bytes, 8, 3)] {
            let map = OffsetMap::new("é😀x", unit);
            assert!(map.byte(beyond).unwrap_err().starts_with("ends beyond the text"));
            assert!(map.byte(u64::MAX).is_err());
            assert!(map.byte(inside).unwrap_err().contains("inside a character"));
        }
        assert!(OffsetMap::new("ab", SpanOffsets::Chars).byte(3).is_err());
    }
}
