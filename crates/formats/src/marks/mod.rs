//! The common parts of pages that mark text: the color of each type, a style, and a script for
//! pages that get tagged sentences as JSON.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::escaped::Escaped;

/// Hues of common types in degrees, as JSON. Those of one corpus differ clearly.
const HUES: &str = include_str!("hues.json");

/// The style of `mark` elements, whose property `--hue` is the [hue] of their type. The page
/// declares its `color-scheme`.
pub const MARKS_STYLE: &str = include_str!("marks.css");

/// Probabilities below this are shown in pages of tagged text.
pub(crate) const SURE: f64 = 0.9;

/// Returns a script with functions that mark the spans of tagged sentences, in the same colors as
/// [`hue`].
pub fn marks_script() -> String {
    include_str!("marks.js").replace("/* hues */ {}", HUES.trim_end())
}

/// Returns a marked part of a text with its label as HTML, in the color of its type: an isolate,
/// which has the direction of its text and does not change that of others.
pub fn mark(text: &str, (kind, label): (&str, &str), title: &str, is_unsure: bool) -> String {
    let class = if is_unsure { " class=\"unsure\"" } else { "" };
    let (hue, title, text, label) = (hue(kind), Escaped(title), Escaped(text), Escaped(label));
    format!(
        "<mark dir=\"auto\" style=\"--hue:{hue}\" title=\"{title}\"{class}>{text}<b>{label}</b>\
         </mark>"
    )
}

/// Returns the hue of a type in degrees, always the same.
pub fn hue(label: &str) -> u16 {
    static KNOWN: LazyLock<HashMap<String, u16>> =
        LazyLock::new(|| serde_json::from_str(HUES).unwrap_or_default());
    let known = KNOWN.get(&label.to_ascii_uppercase());
    // FNV-1a, as in the script.
    let hash = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let other = || (label.as_bytes().iter().fold(0x811c_9dc5, hash) % 360) as u16;
    known.copied().unwrap_or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_types_have_hues_whatever_their_case() {
        assert_eq!((hue("PER"), hue("Person"), hue("ORG")), (265, 265, 195));
        assert_eq!(hue("wine"), hue("wine"));
        assert!(hue("wine") < 360 && hue("") < 360);
    }

    #[test]
    fn the_script_has_the_hues() {
        let script = marks_script();
        assert!(script.contains("\"PER\": 265") && !script.contains("/* hues */"));
    }
}
