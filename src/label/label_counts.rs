//! What a detector counts: labels, and pairs of adjacent ones; and the notation that they have.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::labeling::Labeling;
use super::notation::{Letters, Notation, TagPlace};
use super::scheme_constraint::may_follow;
use super::span::ChunkLabel;
use crate::error::Place;

/// Labels outside of all spans, other than `O`.
const OUTSIDE: [&str; 6] = ["o", "0", "OUT", "OTHER", "_", "<other>"];

/// The separators of tag and type.
const SEPARATORS: [char; 5] = ['-', '_', '/', '.', '|'];

/// One label in this many may break the rules of the scheme, or belong to none.
pub(super) const ONE_IN: u64 = 100;

/// The end of a sentence, among the numbers of labels, which count from 1.
pub(super) const END: usize = 0;

/// Labels that do not fit the labeling of their corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The label.
    pub label: String,
    /// What is wrong: `after 'O'`, `at the beginning of a sentence`, `at the end of a sentence`,
    /// `not of the scheme` or `outside with a prefix`.
    pub why: String,
    /// Its number of such occurrences.
    pub count: u64,
    /// Where it does so first, if that is known.
    pub first: Option<Place>,
}

/// How often labels, and pairs of adjacent ones, were seen, in space that depends on the pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelCounts {
    ids: HashMap<String, usize>,
    labels: Vec<(String, Seen)>,
    pub pairs: HashMap<(usize, usize), Seen>,
    pub longest: (usize, Option<Place>), // sentence
}

/// How often a label, or a pair of adjacent ones, was seen, and where the (second) label was first.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub count: u64,
    first: Option<Place>,
}

impl LabelCounts {
    /// Counts the labels that each token of a sentence may have; `place` tells where token t is.
    pub fn add<'a, S: AsRef<str> + 'a>(
        &mut self,
        sets: impl ExactSizeIterator<Item = &'a [S]>,
        place: impl Fn(usize) -> Option<Place>,
    ) {
        if sets.len() > self.longest.0 {
            self.longest = (sets.len(), place(0));
        }
        let (mut previous, mut last) = (Some(END), 0);
        for (t, set) in sets.enumerate() {
            let ids = set.iter().map(|label| self.add_label(label.as_ref(), || place(t)));
            // What is not known says only which labels there are.
            let known = ids.last().filter(|_| set.len() == 1);
            self.add_pair(previous.zip(known), || place(t));
            (previous, last) = (known, t);
        }
        self.add_pair(previous.map(|previous| (previous, END)), || place(last));
    }

    fn add_label(&mut self, label: &str, place: impl Fn() -> Option<Place>) -> usize {
        let next = self.labels.len() + 1;
        let id = *self.ids.entry_ref(label).or_insert(next);
        if id == next {
            self.labels.push((label.to_owned(), Seen { count: 0, first: place() }));
        }
        self.labels[id - 1].1.count += 1;
        id
    }

    fn add_pair(&mut self, pair: Option<(usize, usize)>, place: impl Fn() -> Option<Place>) {
        if let Some(pair) = pair {
            let new = || Seen { count: 0, first: place() };
            self.pairs.entry(pair).or_insert_with(new).count += 1;
        }
    }

    /// The name of a label by its number.
    pub fn name(&self, id: usize) -> &str {
        &self.labels[id - 1].0
    }

    /// Whether a label was seen.
    pub fn contains(&self, label: &str) -> bool {
        self.ids.contains_key(label)
    }

    /// The names of the labels, with the number of tokens that have each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> + Clone {
        self.labels.iter().map(|(name, seen)| (name.as_str(), seen.count))
    }

    /// The number of tokens with a label that fulfills a condition.
    pub fn count(&self, is_counted: impl Fn(&str) -> bool) -> u64 {
        self.iter().filter(|(name, _)| is_counted(name)).map(|(_, count)| count).sum()
    }

    /// The labels, as far as they have a tag.
    pub fn chunks<'a>(
        &'a self,
        notation: &'a Notation,
    ) -> impl Iterator<Item = ChunkLabel<'a>> + Clone {
        self.iter().filter_map(|(name, _)| notation.read(name))
    }

    /// The number of labels with a tag and a type.
    pub fn typed(&self, notation: &Notation) -> u64 {
        self.count(|label| notation.read(label).is_some_and(|chunk| !chunk.kind.is_empty()))
    }

    /// The labels that fulfill a condition, and why they do not fit.
    pub fn misfits(&self, why: &str, is_misfit: impl Fn(&str) -> bool) -> Vec<Misfit> {
        let labels = self.labels.iter().filter(|(name, _)| is_misfit(name));
        by_count(labels.map(|(name, seen)| seen.misfit(name, why.to_owned())).collect())
    }

    /// The labels that are illegal where they are, given the one before them.
    pub fn illegal(&self, labeling: &Labeling) -> Vec<Misfit> {
        let name = |i: usize| if i == END { labeling.outside() } else { self.name(i) };
        let pairs = self.pairs.iter();
        let illegal = pairs.filter(|&(&(a, b), _)| !may_follow(name(a), name(b), labeling));
        let misfits = illegal.map(|(&(a, b), seen)| match (a, b) {
            (END, _) => seen.misfit(name(b), "at the beginning of a sentence".to_owned()),
            (_, END) => seen.misfit(name(a), "at the end of a sentence".to_owned()),
            _ => seen.misfit(name(b), format!("after '{}'", name(a).escape_debug())),
        });
        by_count(misfits.collect())
    }

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
        let usual = Notation { outside: outside.to_owned().into(), ..Notation::CANONICAL };
        let places = [TagPlace::Prefix, TagPlace::Suffix];
        let cases = places.map(|place| [(place, false), (place, true)]).concat();
        let mut best = (0, None);
        let forms = SEPARATORS.iter().flat_map(|s| cases.iter().map(move |&case| (*s, case)));
        for (separator, (place, lowercase)) in forms {
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

impl Seen {
    fn misfit(&self, label: &str, why: String) -> Misfit {
        Misfit { label: label.to_owned(), why, count: self.count, first: self.first.clone() }
    }
}

/// Sorts misfits, the most frequent first; pairs come in the order of a hash map.
fn by_count(mut misfits: Vec<Misfit>) -> Vec<Misfit> {
    misfits.sort_by(|a, b| {
        let names = |misfit: &Misfit| (misfit.label.clone(), misfit.why.clone());
        b.count.cmp(&a.count).then_with(|| names(a).cmp(&names(b)))
    });
    misfits
}
