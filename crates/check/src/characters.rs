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

/// Returns text as it can be shown in one line of a terminal: without its end if it is long, and
/// with escapes for what is invisible.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == SHOWN {
            shown.push('…');
            break;
        }
        if is_visible(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

fn is_visible(c: char) -> bool {
    c == ' ' || !(c.is_control() || c.is_whitespace() || is_invisible(c))
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
