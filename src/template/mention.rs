//! What the document says about the occurrences of a word.

use std::fmt::Write;
use std::ops::Range;

use crate::sentence::WordIndex;

/// What `mention` says about a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MentionKind {
    /// Whether it is the first mention.
    Order,
    /// How often the word occurs.
    Count,
    /// How far back the previous mention is.
    Distance,
    /// In which forms the word is seen elsewhere.
    Forms,
}

/// The kinds by their names in templates.
pub(super) const MENTION_KINDS: [(&str, MentionKind); 4] = [
    ("order", MentionKind::Order),
    ("count", MentionKind::Count),
    ("distance", MentionKind::Distance),
    ("forms", MentionKind::Forms),
];

impl MentionKind {
    pub(super) fn name(self) -> &'static str {
        let found = MENTION_KINDS.iter().find(|(_, kind)| *kind == self);
        found.map_or("", |(name, _)| name)
    }
}

/// The occurrences of a word that a token sees: those at most `window` tokens away.
pub(super) struct VisibleOccurrences<'a> {
    /// All occurrences in the document, ascending.
    pub all: &'a [u32],
    /// Which of them is the token itself.
    pub own: usize,
    /// Those that it sees, itself among them.
    pub visible: Range<usize>,
}

impl<'a> VisibleOccurrences<'a> {
    /// Returns the occurrences of the word of token `t`. O(log n) for n occurrences.
    pub(super) fn new(index: &'a WordIndex, t: usize, window: u32) -> Self {
        let (all, own) = index.occurrences(t);
        let [first, last] = [t.saturating_sub(window as usize), t + window as usize];
        let before = all[..own].partition_point(|&u| (u as usize) < first);
        let after = all[own..].partition_point(|&u| u as usize <= last);
        Self {
            all,
            own,
            visible: before..own + after,
        }
    }

    /// Writes what is known about the token, except forms; returns whether it has a value.
    pub(super) fn write(&self, kind: MentionKind, out: &mut String) -> bool {
        let has_before = self.visible.start < self.own;
        match kind {
            MentionKind::Order => out.push_str(match has_before {
                true => "later",
                false if self.own + 1 < self.visible.end => "first",
                false => "only",
            }),
            MentionKind::Count => write_bucket(self.visible.len() as u32, out),
            MentionKind::Distance if has_before => {
                write_bucket(self.all[self.own] - self.all[self.own - 1], out);
            }
            MentionKind::Distance | MentionKind::Forms => return false,
        }
        true
    }
}

/// Writes the range of numbers that a positive number is in: 1, 2, 3-4, 5-8, 9-16, …
fn write_bucket(number: u32, out: &mut String) {
    let last = u64::from(number).next_power_of_two();
    // Writing to a String cannot fail.
    let _ = match last {
        1 | 2 => write!(out, "{last}"),
        _ => write!(out, "{}-{last}", last / 2 + 1),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_double() {
        let bucket = |number| {
            let mut out = String::new();
            write_bucket(number, &mut out);
            out
        };
        let expected = ["1", "2", "3-4", "3-4", "5-8", "5-8", "5-8", "5-8", "9-16"];
        assert_eq!((1..10).map(bucket).collect::<Vec<_>>(), expected);
        assert_eq!(bucket(u32::MAX), "2147483649-4294967296");
    }
}
