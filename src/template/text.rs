//! Characters as readers see them: a letter with its combining marks is one.
//!
//! Lengths, affixes and shapes count extended grapheme clusters (Unicode UAX #29), so a
//! character is never cut, whether its accent is composed or decomposed.

use unicode_segmentation::UnicodeSegmentation;

/// The grapheme clusters of a text, from both ends.
///
/// Between two ASCII characters there is always a boundary, except inside CR LF; that settles
/// most words without a look at the Unicode tables.
#[derive(Clone, Debug)]
pub(super) struct Graphemes<'a>(&'a str);

/// The grapheme clusters of `text`.
pub(super) fn graphemes(text: &str) -> Graphemes<'_> {
    Graphemes(text)
}

impl<'a> Iterator for Graphemes<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let length = match *self.0.as_bytes() {
            [] => return None,
            [a] if a.is_ascii() => 1,
            [a, b, ..] if a.is_ascii() && b.is_ascii() && a != b'\r' => 1,
            _ => self.0.graphemes(true).next()?.len(),
        };
        let (first, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(first)
    }
}

impl DoubleEndedIterator for Graphemes<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let length = match *self.0.as_bytes() {
            [] => return None,
            [a] if a.is_ascii() => 1,
            [.., a, b] if a.is_ascii() && b.is_ascii() && a != b'\r' => 1,
            _ => self.0.graphemes(true).next_back()?.len(),
        };
        let (rest, last) = self.0.split_at(self.0.len() - length);
        self.0 = rest;
        Some(last)
    }
}

/// Appends `text` in lower case, character by character.
///
/// Unlike [`str::to_lowercase`] a final sigma becomes σ, as it does within a word; equal words
/// stay equal.
pub(super) fn push_lower(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else {
            out.extend(c.to_lowercase());
        }
    }
}

/// The name among `names` that `name` was probably meant to be: at most a third of its
/// characters are wrong.
pub(super) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1.max(name.chars().count() / 3);
    let mut best = None;
    for candidate in names {
        let edits = distance(name, candidate, limit);
        if edits <= limit && best.is_none_or(|(least, _)| edits < least) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// ` ; did you mean '…'?` if there is a near name, else nothing.
pub(super) fn did_you_mean<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, names).map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

/// Edits between two names: characters inserted, left out, replaced, or swapped with their
/// neighbor; `limit + 1` where the lengths alone exceed `limit`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
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
    fn both_directions_cut_alike() {
        for text in [
            "",
            "abc",
            "naïve",
            "cafe\u{301}s",
            "🇩🇪🇫🇷!",
            "a\r\nb",
            "\u{301}x",
        ] {
            let mut backward: Vec<_> = graphemes(text).rev().collect();
            backward.reverse();
            assert_eq!(split(text), backward, "{text:?}");
            let reference: Vec<_> = text.graphemes(true).collect();
            assert_eq!(split(text), reference, "{text:?}");
        }
    }

    #[test]
    fn lower_case_goes_character_by_character() {
        let mut out = String::new();
        push_lower("ÉCOLE ΟΔΟΣ İ", &mut out);
        assert_eq!(out, "école οδοσ i\u{307}");
    }

    #[test]
    fn the_nearest_name_is_named_only_if_it_is_near() {
        let names = ["shape", "suffix", "lower"];
        assert_eq!(nearest("shap", names), Some("shape"));
        assert_eq!(nearest("sufix", names), Some("suffix"));
        assert_eq!(nearest("lwoer", names), Some("lower"));
        assert_eq!(nearest("gazetteer", names), None);
        assert_eq!(did_you_mean("lowr", names), "; did you mean 'lower'?");
    }
}
