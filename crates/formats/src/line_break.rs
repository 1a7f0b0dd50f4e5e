//! Line breaks in the text of an annotation.

/// Whether some reader of BRAT's format takes a character for the end of a line.
pub(crate) fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
