//! Characters that are not seen, and text in which they are.

/// Returns whether a character has no width and no meaning of its own in words: soft hyphens,
/// zero-width spaces, marks of direction, byte order marks.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
    )
}

/// Maximum number of characters of a text that is shown.
const SHOWN: usize = 40;

/// Returns text as it is [shown], in quotation marks.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", shown(text))
}

/// Returns text as it can be shown in one line of a terminal: without its end if it is long, and
/// with escapes for what is invisible.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == SHOWN {
            shown.push('…');
            break;
        }
        match c != ' ' && (c.is_control() || c.is_whitespace() || is_invisible(c)) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_without_control_and_invisible_characters() {
        assert_eq!(shown("a\u{1b}[0m\u{200b}\u{a0}é"), r"a\u{1b}[0m\u{200b}\u{a0}é");
        assert_eq!(shown(&"x".repeat(50)), "x".repeat(40) + "…");
    }
}
