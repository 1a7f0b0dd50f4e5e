//! Which notation the labels of a corpus have.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::label_counts::{END, LabelCounts};
use super::notation::{Letters, Notation, TagPlace};
use super::scheme_detector::ONE_IN;

/// Labels outside of all spans, other than `O`.
const OUTSIDE: [&str; 6] = ["o", "0", "OUT", "OTHER", "_", "<other>"];

/// The separators of tag and type.
const SEPARATORS: [char; 5] = ['-', '_', '/', '.', '|'];

impl LabelCounts {
    /// The label outside of all spans, unless it is chosen: `O`, or else the first one known that
    /// occurs.
    pub fn known_outside(&self) -> Cow<'static, str> {
        let count = |name: &str| self.count(|label| label == name);
        let known = OUTSIDE.into_iter().filter(|name| self.contains(name));
        known.max_by_key(|name| count(name)).filter(|_| !self.contains("O")).unwrap_or("O").into()
    }

    /// The label without a separator that most tokens have.
    pub fn majority(&self) -> Option<Cow<'static, str>> {
        let (name, most) = self.iter().max_by_key(|(_, count)| *count)?;
        let tokens = self.count(|_| true);
        let is_candidate = 2 * most > tokens && most < tokens;
        (is_candidate && !name.contains(SEPARATORS)).then(|| name.to_owned().into())
    }

    /// The notation in which the most labels can be read, if some can.
    pub fn notation(&self, outside: &str) -> Option<Notation> {
        let usual = Notation {
            outside: match outside {
                "O" => Cow::Borrowed("O"),
                other => Cow::Owned(other.to_owned()),
            },
            ..Notation::CANONICAL
        };
        let places = [TagPlace::Prefix, TagPlace::Suffix];
        let cases = places.map(|place| [(place, false), (place, true)]).concat();
        let mut best = (0, None);
        for (separator, (place, lowercase)) in
            SEPARATORS.into_iter().flat_map(|separator| cases.iter().map(move |&c| (separator, c)))
        {
            for letters in Letters::ALL {
                let candidate = Notation { letters, place, separator, lowercase, ..usual.clone() };
                let is_read = |label: &str| label != outside && candidate.read(label).is_some();
                let fit = self.count(is_read);
                // Ties: the first, which is the most common.
                if fit > best.0 && self.has_evidence(&candidate) {
                    best = (fit, Some(candidate));
                }
            }
        }
        let all = self.count(|label| label != outside);
        let first = Notation { place: TagPlace::First, ..usual.clone() };
        match best {
            _ if all == 0 => Some(usual),
            (fit, _) if fit + all / ONE_IN < all && self.marks_first(&first) => Some(first),
            (_, best) => best,
        }
    }

    /// Whether labels that have tags in a notation are likely to be meant so. Those like `B-PER`
    /// are; of others, one type has two tags, or there is a label outside.
    fn has_evidence(&self, notation: &Notation) -> bool {
        let is_usual =
            notation.separator == '-' && notation.place == TagPlace::Prefix && !notation.lowercase;
        if is_usual || self.contains(&notation.outside) {
            return true;
        }
        let mut tags: HashMap<&str, &str> = HashMap::new();
        self.chunks(notation).any(|chunk| *tags.entry(chunk.kind).or_insert(chunk.tag) != chunk.tag)
    }

    /// Whether the first tokens of spans alone have tags: each label without one follows one of its
    /// type, with few exceptions, and some do.
    fn marks_first(&self, notation: &Notation) -> bool {
        let (mut legal, mut illegal) = (0, 0);
        for (&(a, b), pair) in self.pairs.iter().filter(|((_, b), _)| *b != END) {
            let read = |i: usize| notation.read(self.name(i));
            let Some(chunk) = read(b).filter(|chunk| chunk.tag == "I") else { continue };
            let continues = a != END && read(a).is_some_and(|before| before.kind == chunk.kind);
            if continues { legal += pair.count } else { illegal += pair.count }
        }
        let has_first = self.chunks(notation).any(|chunk| chunk.tag == "B");
        legal > 0 && illegal <= (legal + illegal) / ONE_IN && has_first
    }
}
