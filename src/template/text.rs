//! Text utilities: grapheme clusters, lower-casing, line iteration, and spelling suggestions.
//!
//! Lengths, affixes and shapes count extended grapheme clusters (Unicode UAX #29), so a character
//! is never split, whether its accent is precomposed or a combining mark.

use unicode_segmentation::UnicodeSegmentation;

/// Maximum number of characters of a text quoted in a message.
const MAX_QUOTED: usize = 40;

/// Returns an iterator over the grapheme clusters of `text`.
///
/// There is always a boundary between two ASCII characters, except inside CR LF. So most words are
/// split without consulting the Unicode tables.
pub(super) fn graphemes(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let is_simple = text.is_ascii() && !text.contains('\r');
    let (simple, other) = if is_simple { (text, "") } else { ("", text) };
    (0..simple.len()).map(|i| &simple[i..=i]).chain(other.graphemes(true))
}

/// Appends `text` in lower case, character by character.
///
/// Unlike [`str::to_lowercase`], this maps a final sigma to σ, like any other sigma, so the result
/// does not depend on context.
pub(super) fn push_lower(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else {
            out.extend(c.to_lowercase());
        }
    }
}

/// Returns `text` in lower case, as [`push_lower`] appends it.
pub(super) fn lower(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_lower(text, &mut out);
    out
}

/// Returns the lines of `contents` that are not blank, numbered from 1. Skips a byte order mark.
pub(super) fn nonblank_lines(contents: &str) -> impl Iterator<Item = (u64, &str)> {
    let contents = contents.strip_prefix('\u{feff}').unwrap_or(contents);
    (1..).zip(contents.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// Returns the beginning of a text, such as a line, to be quoted in a message.
pub fn quote_start(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns `; did you mean '…'?` with the candidate closest to `name`, if its edit distance is at
/// most a third of the length of `name` (or 1), else an empty string.
pub(super) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    let limit = 1.max(name.chars().count() / 3);
    let edits = |candidate: &&str| edit_distance(name, candidate, limit);
    let nearest = candidates.into_iter().min_by_key(edits).filter(|near| edits(near) <= limit);
    nearest.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

/// The Damerau-Levenshtein distance (optimal string alignment): insertions, deletions,
/// substitutions and transpositions of neighbors. Returns `limit + 1` if the lengths differ by more
/// than `limit`.
pub fn edit_distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row_before_last: Vec<usize> = Vec::new();
    let mut last_row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let substituted = last_row[j] + usize::from(a[i] != b[j]);
            let mut least = substituted.min(last_row[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(row_before_last[j - 1] + 1);
            }
            row.push(least);
        }
        row_before_last = std::mem::replace(&mut last_row, row);
    }
    last_row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        graphemes(text).collect()
    }

    #[test]
    fn combining_marks_stay_with_their_letter() {
        assert_eq!(split("ae\u{301}b"), ["a", "e\u{301}", "b"]);
        assert_eq!(split("👩‍👩‍👧x"), ["👩‍👩‍👧", "x"]);
        assert_eq!(split("\r\na"), ["\r\n", "a"]);
    }

    #[test]
    fn both_directions_split_alike() {
        for text in ["", "abc", "naïve", "cafe\u{301}s", "🇩🇪🇫🇷!", "a\r\nb", "\u{301}x"]
        {
            let mut backward: Vec<_> = graphemes(text).rev().collect();
            backward.reverse();
            assert_eq!(split(text), backward, "{text:?}");
            let reference: Vec<_> = text.graphemes(true).collect();
            assert_eq!(split(text), reference, "{text:?}");
        }
    }

    #[test]
    fn lower_casing_works_character_by_character() {
        let mut out = String::new();
        push_lower("ÉCOLE ΟΔΟΣ İ", &mut out);
        assert_eq!(out, "école οδοσ i\u{307}");
    }

    #[test]
    fn the_nearest_name_is_suggested_only_if_it_is_close() {
        let names = ["shape", "suffix", "lower"];
        assert_eq!(did_you_mean("shap", names), "; did you mean 'shape'?");
        assert_eq!(did_you_mean("sufix", names), "; did you mean 'suffix'?");
        assert_eq!(did_you_mean("lwoer", names), "; did you mean 'lower'?");
        assert_eq!(did_you_mean("gazetteer", names), "");
        assert_eq!(did_you_mean("lowr", names), "; did you mean 'lower'?");
    }
}
