//! What a detector counts: labels, and pairs of adjacent ones.

use hashbrown::HashMap;

use super::chunk_label::ChunkLabel;
use super::detected::Misfit;
use super::labeling::Labeling;
use super::notation::Notation;
use super::scheme_constraint::may_follow;
use crate::error::Place;

/// The end of a sentence, among the numbers of labels, which count from 1.
pub(super) const END: usize = 0;

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
