//! Runs of text without white space, split into subtokens.
//!
//! The splits are the UAX #29 word boundaries that are also grapheme cluster boundaries, so a
//! combining mark is never separated from its base, and flags and emoji families stay whole. UAX
//! #29 lets some symbols (`. , ; : ' ’`) bind the letters around them. That is too much for a
//! tagger (`end.The`, `it's`, `a:b`), so these are always subtokens of their own, and the rules in
//! `word`, `web` and `abbreviation` determine where they bind. English clitics are merged last.

use unicode_segmentation::UnicodeSegmentation;

use super::token::{Subtoken, SubtokenKind, merge_clitics, stands_alone};

/// A run of text without white space, split into subtokens, and the text after it.
#[derive(Debug)]
pub(super) struct TextRun<'t> {
    text: &'t str,
    after: &'t str,
    subtokens: Vec<Subtoken>,
    /// Whether the run contains `@`. Most do not and need not be searched for e-mail addresses.
    pub(super) has_at: bool,
}

impl<'t> TextRun<'t> {
    /// Splits `text`, which has no white space and is followed by `after`. Linear time.
    pub(super) fn new(text: &'t str, after: &'t str) -> Self {
        let mut subtokens = Vec::new();
        let mut boundaries = text.split_word_bound_indices().map(|(i, w)| i + w.len());
        let mut boundary = boundaries.next();
        let mut open = 0;
        for (start, cluster) in text.grapheme_indices(true) {
            let end = start + cluster.len();
            let alone = stands_alone(cluster);
            if alone && open < start {
                subtokens.push(Subtoken::classify(text, open, start));
                open = start;
            }
            while boundary.is_some_and(|boundary| boundary < end) {
                boundary = boundaries.next();
            }
            if alone || boundary == Some(end) {
                subtokens.push(Subtoken::classify(text, open, end));
                open = end;
            }
        }
        if subtokens.len() > 1 {
            subtokens = merge_clitics(text, &subtokens);
        }
        Self { text, after, subtokens, has_at: text.contains('@') }
    }

    /// Returns the number of subtokens.
    pub(super) fn len(&self) -> usize {
        self.subtokens.len()
    }

    /// Returns the byte offset of subtoken `i` in the run; past the last subtoken, the length of
    /// the run.
    pub(super) fn start(&self, i: usize) -> usize {
        self.subtokens.get(i).map_or(self.text.len(), |s| s.start)
    }

    /// Returns the text of subtoken `i`; empty past the last.
    pub(super) fn text(&self, i: usize) -> &'t str {
        self.subtokens.get(i).map_or("", |s| s.slice(self.text))
    }

    /// Returns the text from subtoken `i` to the end of the run.
    pub(super) fn tail(&self, i: usize) -> &'t str {
        &self.text[self.start(i)..]
    }

    /// Returns the text from subtoken `i` on, in the run or after the white space that follows it.
    pub(super) fn following(&self, i: usize) -> &'t str {
        if i < self.len() { self.tail(i) } else { self.after.trim_start() }
    }

    /// Returns the kind of subtoken `i`, if there is one.
    pub(super) fn kind(&self, i: usize) -> Option<SubtokenKind> {
        self.subtokens.get(i).map(|s| s.kind)
    }

    /// Returns the text of subtoken `i` if it is a word.
    pub(super) fn word(&self, i: usize) -> Option<&'t str> {
        (self.kind(i) == Some(SubtokenKind::Word)).then(|| self.text(i))
    }

    /// Returns the index of the subtoken, from `i` on, that starts at byte `start` of the run. The
    /// end of the run counts as the start of one more subtoken.
    pub(super) fn index_at(&self, i: usize, start: usize) -> Option<usize> {
        let subtokens = self.subtokens.get(i..)?;
        if start == self.text.len() {
            return Some(self.len());
        }
        subtokens.binary_search_by_key(&start, |s| s.start).ok().map(|k| i + k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subtokens(text: &str) -> Vec<&str> {
        let run = TextRun::new(text, "");
        (0..run.len()).map(|i| run.text(i)).collect()
    }

    #[test]
    fn binding_symbols_stand_alone_and_clitics_are_whole() {
        assert_eq!(subtokens("end.The"), ["end", ".", "The"]);
        assert_eq!(subtokens("a:b;c"), ["a", ":", "b", ";", "c"]);
        assert_eq!(subtokens("shouldn’t've"), ["should", "n’t", "'ve"]);
        assert_eq!(subtokens("n't"), ["n't"]);
        assert_eq!(subtokens("the80's"), ["the80", "'s"]);
        assert_eq!(subtokens("80's"), ["80's"]);
        assert_eq!(subtokens("('90s)"), ["(", "'90s", ")"]);
        assert_eq!(subtokens("d'accord"), ["d", "'", "accord"]);
        assert_eq!(subtokens("'s'"), ["'", "s", "'"]);
    }

    #[test]
    fn grapheme_clusters_are_never_split() {
        assert_eq!(subtokens("e\u{301}.\u{301}x"), ["e\u{301}", ".\u{301}", "x"]);
        assert_eq!(subtokens("1️⃣2️⃣"), ["1️⃣", "2️⃣"]);
        assert_eq!(subtokens("\u{600}(x"), ["\u{600}(", "x"]);
        assert_eq!(subtokens("👨‍👩‍👧🇩🇪🇫🇷"), ["👨‍👩‍👧", "🇩🇪", "🇫🇷"]);
    }
}
