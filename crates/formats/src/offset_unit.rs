//! Units of positions in a text.

use std::ops::Range;

use dropchain::sentence::Offsets;

/// What positions in a text count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OffsetUnit {
    /// Unicode scalar values (code points), like string indices of Python.
    #[default]
    Chars,
    /// Bytes of UTF-8, like string indices of Rust and Go.
    Bytes,
    /// UTF-16 code units, like string indices of JavaScript, Java and C#.
    Utf16,
}

dropchain::named!(OffsetUnit, "unit of offsets": Chars = "chars", Bytes = "bytes", Utf16 = "utf16");

impl OffsetUnit {
    /// Returns the positions of tokens of `text` in this unit. Time is linear in the text; tokens
    /// are in order and do not overlap.
    pub(crate) fn positions(self, text: &str, tokens: &[Offsets]) -> Vec<Range<usize>> {
        let (mut byte, mut unit) = (0, 0);
        let mut advance = |to: usize| {
            unit += text[byte..to].chars().map(char::len_utf16).sum::<usize>();
            byte = to;
            unit
        };
        let position = |token: &Offsets| match self {
            Self::Chars => token.chars.clone(),
            Self::Bytes => token.bytes.clone(),
            Self::Utf16 => advance(token.bytes.start)..advance(token.bytes.end),
        };
        tokens.iter().map(position).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropchain::tokenize::tokens;

    #[test]
    fn names_round_trip() {
        for unit in OffsetUnit::ALL {
            assert_eq!(unit.to_string().parse::<OffsetUnit>().unwrap(), unit);
        }
        assert_eq!(
            "utf8".parse::<OffsetUnit>().unwrap_err().to_string(),
            "unknown unit of offsets 'utf8': expected chars, bytes or utf16"
        );
    }

    #[test]
    fn the_units_of_a_text_differ() {
        let text = "é 😀 x";
        let tokens = tokens(text);
        let positions = |unit: OffsetUnit| unit.positions(text, &tokens);
        assert_eq!(positions(OffsetUnit::Chars), [0..1, 2..3, 4..5]);
        assert_eq!(positions(OffsetUnit::Bytes), [0..2, 3..7, 8..9]);
        assert_eq!(positions(OffsetUnit::Utf16), [0..1, 2..4, 5..6]);
    }
}
