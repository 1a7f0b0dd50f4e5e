//! The common parts of pages that mark text: escaping, the color of each type, a style, and a
//! script for pages that get tagged sentences as JSON.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

/// Hues of common types of spans and of parts of speech in degrees, as JSON. Those of one corpus
/// differ clearly, and parts of speech from persons, organizations, locations and others.
const HUES: &str = include_str!("hues.json");

/// The style of `mark` elements, whose property `--hue` is the [hue] of their type. The page
/// declares its `color-scheme`.
pub const MARKS_STYLE: &str = include_str!("marks.css");

/// Probabilities below this are shown in pages of tagged text.
const SURE: f64 = 0.9;

/// Returns a script with functions that mark the spans of tagged sentences, in the same colors as
/// [`hue`].
pub fn marks_script() -> String {
    include_str!("marks.js").replace("/* hues */ {}", HUES.trim_end())
}

/// The palette.
#[derive(Default, Deserialize)]
struct Hues {
    types: HashMap<String, u16>,
    tags: HashMap<String, u16>,
}

static HUES_BY_NAME: LazyLock<Hues> =
    LazyLock::new(|| serde_json::from_str(HUES).unwrap_or_default());

/// Returns a marked part of a text with its label as HTML, in the color of its type, with the
/// probability if it is low: an isolate, which has the direction of its text and does not change
/// that of others.
pub fn mark(text: &str, label: &str, probability: Option<f64>) -> String {
    let (mut title, mut shown, mut classes) = (label.to_owned(), label.to_owned(), Vec::new());
    if HUES_BY_NAME.tags.contains_key(&type_of(label).to_ascii_uppercase()) {
        classes.push("tag");
    }
    if let Some(p) = probability {
        title += &format!(": probability {p:.3}");
        if p < SURE {
            shown += &format!(" {} %", (100.0 * p).floor());
            classes.push("unsure");
        }
    }
    let (hue, title, text, shown) = (hue(label), Escaped(&title), Escaped(text), Escaped(&shown));
    let class = match classes.is_empty() {
        true => String::new(),
        false => format!(" class=\"{}\"", classes.join(" ")),
    };
    // The blank is for screen readers, and for no line to begin with the label.
    format!(
        "<mark dir=\"auto\" style=\"--hue:{hue}\" title=\"{title}\"{class}>{text}\
         <b>\u{a0}{shown}</b></mark>"
    )
}

/// Returns the type of a label, whatever the scheme.
fn type_of(label: &str) -> &str {
    match label.as_bytes() {
        [b'B' | b'I' | b'E' | b'S' | b'L' | b'U', b'-', ..] => &label[2..],
        _ => label,
    }
}

/// Returns the hue of a label in degrees, always the same for its type.
pub fn hue(label: &str) -> u16 {
    let (name, Hues { types, tags }) = (type_of(label), &*HUES_BY_NAME);
    let upper = name.to_ascii_uppercase();
    let known = types.get(&upper).or_else(|| tags.get(&upper));
    // FNV-1a, as in the script.
    let hash = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let other = || (name.as_bytes().iter().fold(0x811c_9dc5, hash) % 360) as u16;
    known.copied().unwrap_or_else(other)
}

/// A text as it stands in an element or in a quoted attribute of a page, wherever it comes from. CR
/// alone would become LF there, control characters are not allowed, and those of the direction of
/// text would change what is around them: U+FFFD stands for them.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = 0;
        for (i, c) in self.0.char_indices() {
            let escape = match c {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\'' => "&#39;",
                '\r' => "&#13;",
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "\u{fffd}",
                c if c.is_control() && !c.is_whitespace() => "\u{fffd}",
                _ => continue,
            };
            f.write_str(&self.0[written..i])?;
            f.write_str(escape)?;
            written = i + c.len_utf8();
        }
        f.write_str(&self.0[written..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_types_have_hues_whatever_their_case() {
        assert_eq!((hue("PER"), hue("Person"), hue("B-ORG")), (265, 265, 195));
        assert_eq!(hue("wine"), hue("wine"));
        assert!(hue("wine") < 360 && hue("") < 360);
    }

    #[test]
    fn parts_of_speech_look_like_no_entity() {
        for tag in HUES_BY_NAME.tags.values() {
            for kind in ["PER", "ORG", "LOC", "MISC"] {
                let distance = tag.abs_diff(hue(kind));
                assert!(distance.min(360 - distance) >= 25, "{tag} {kind}");
            }
        }
        assert!(mark("Ada", "PROPN", None).contains(" class=\"tag\""));
        assert!(
            mark("Ada", "PER", Some(0.5)).contains(" class=\"unsure\">Ada<b>\u{a0}PER 50 %</b>")
        );
    }

    #[test]
    fn the_script_has_the_hues() {
        let script = marks_script();
        assert!(script.contains("\"PER\": 265") && !script.contains("/* hues */"));
    }

    #[test]
    fn markup_is_text() {
        let escaped = |text| Escaped(text).to_string();
        let markup = escaped("<b a=\"'\">&</b>");
        assert_eq!(markup, "&lt;b a=&quot;&#39;&quot;&gt;&amp;&lt;/b&gt;");
        assert_eq!(escaped("a\0b\tc\r\né\u{9b}"), "a\u{fffd}b\tc&#13;\né\u{fffd}");
        assert_eq!(escaped("a\u{202e}b\u{2069}\u{200f}"), "a\u{fffd}b\u{fffd}\u{200f}");
        assert_eq!(escaped(""), "");
    }
}
