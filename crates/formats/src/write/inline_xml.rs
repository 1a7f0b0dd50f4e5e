//! Inline XML as Stanford NER writes it: `<PER>Ada Lovelace</PER> left`. A line per text.
//!
//! Unlike there, the markup is well-formed whatever the text and the labels: `&`, `<` and `>` are
//! entities, line breaks are character references, characters that XML does not allow become
//! U+FFFD, and those that a name of an element cannot have are encoded as `_x0024_`.

use std::fmt::Write;

use super::annotated_text::AnnotatedText;

/// Writes a text.
pub(super) fn text(buffer: &mut String, text: &AnnotatedText) {
    for (part, mark) in text.parts() {
        let Some(mark) = mark else {
            escape(buffer, part);
            continue;
        };
        let name = element_name(&mark.label);
        // Writing to a string cannot fail.
        let _ = write!(buffer, "<{name}>");
        escape(buffer, part);
        let _ = write!(buffer, "</{name}>");
    }
    buffer.push('\n');
}

/// Writes text outside of the markup.
fn escape(buffer: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => buffer.push_str("&amp;"),
            '<' => buffer.push_str("&lt;"),
            '>' => buffer.push_str("&gt;"),
            '\n' => buffer.push_str("&#10;"),
            '\r' => buffer.push_str("&#13;"),
            '\t' => buffer.push('\t'),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => buffer.push('\u{fffd}'),
            c => buffer.push(c),
        }
    }
}

/// Returns a label as a name of an element.
fn element_name(label: &str) -> String {
    let mut name = String::new();
    for (i, c) in label.char_indices() {
        if starts_name(c) || i > 0 && matches!(c, '-' | '.' | '0'..='9' | '\u{b7}') {
            name.push(c);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "_x{:04X}_", u32::from(c));
        }
    }
    name
}

/// Whether a name may start with a character: `NameStartChar` of XML without the colon, which
/// separates a namespace.
fn starts_name(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}'
        | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}'
        | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}
