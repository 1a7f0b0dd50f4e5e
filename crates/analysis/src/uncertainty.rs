//! How uncertain a model is about a sentence, and the sentences it is most uncertain about: those
//! worth labeling next (B. Settles and M. Craven, *An analysis of active learning strategies for
//! sequence labeling tasks*, EMNLP 2008), of those that are nearly the same one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dropchain::kernel::fingerprint::Fingerprinter;
use dropchain::tag::{TagInput, TagOptions, Tagger, Workspace};
use dropchain::{Result, Sentence};

/// Returns how uncertain a tagger is about a sentence, 0 to 1: least confidence,
/// 1 − p(best sequence)^(1/T), by the mean probability of a token's label in the best sequence; 0
/// for a sentence without tokens. All label sequences count, whether they are legal in the label
/// scheme or not.
///
/// ```no_run
/// use dropchain::tag::Workspace;
/// use dropchain::{Result, Sentence, Tagger};
/// use dropchain_analysis::uncertainty;
///
/// # fn main() -> Result<()> {
/// let tagger = Tagger::open("ner.model")?;
/// let sentence = Sentence::from_words(["Paris", "Hilton", "left", "Paris"]);
/// println!("{}", uncertainty(&tagger, &sentence, &mut Workspace::default())?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Same as [`Tagger::tag_with`].
pub fn uncertainty<'s>(
    tagger: &Tagger,
    sentence: impl Into<TagInput<'s>>,
    workspace: &mut Workspace,
) -> Result<f64> {
    let sentence = sentence.into();
    if sentence.is_empty() {
        return Ok(0.0);
    }
    let options = TagOptions { constrain: false, ..TagOptions::default() };
    let best = tagger.tag_with(sentence, options, workspace)?.labels;
    // In logarithms: the probability of a long sentence may underflow.
    let distribution = tagger.distribution(sentence)?;
    let log_probability = distribution.log_probability(&tagger.label_names(&best))?;
    Ok(-(log_probability / sentence.len() as f64).exp_m1())
}

/// Keeps the items with the highest scores, in bounded memory. Of equal scores, the one that comes
/// first in the input counts as higher, in whatever order items are added.
#[derive(Debug)]
pub struct Highest<T> {
    limit: usize,
    items: BTreeMap<Rank, (f64, T)>,
}

/// Orders items by descending score, then by their places in the input.
type Rank = (Reverse<i64>, (u64, usize));

/// Returns the rank of an item, with a number in the order of [`f64::total_cmp`] for its score.
fn rank(score: f64, place: (u64, usize)) -> Rank {
    let bits = score.to_bits() as i64;
    (Reverse(if bits < 0 { bits ^ i64::MAX } else { bits }), place)
}

impl<T> Highest<T> {
    /// Keeps up to `limit` items.
    pub fn new(limit: usize) -> Self {
        Self { limit, items: BTreeMap::new() }
    }

    /// Adds an item; `place` is its place in the input, which no other one has. Returns the item
    /// that leaves, if there are too many.
    pub fn add(&mut self, score: f64, place: (u64, usize), item: T) -> Option<T> {
        self.items.insert(rank(score, place), (score, item));
        let is_over = self.items.len() > self.limit;
        is_over.then(|| self.items.pop_last()).flatten().map(|(_, (_, item))| item)
    }

    /// Adds an item unless one that is alike has a higher score; those that are alike with lower
    /// ones leave. Returns the items that leave.
    pub fn add_unlike(
        &mut self,
        score: f64,
        place: (u64, usize),
        item: T,
        are_alike: impl Fn(&T, &T) -> bool,
    ) -> Vec<T> {
        let own = rank(score, place);
        let is_lowest = self.items.last_key_value().is_none_or(|(lowest, _)| own > *lowest);
        let is_alike = |(_, (_, other)): &(&Rank, &(f64, T))| are_alike(&item, other);
        let is_out = || self.items.range(..own).any(|other| is_alike(&other));
        if is_lowest && self.items.len() >= self.limit || is_out() {
            return vec![item];
        }
        let alike = self.items.iter().filter(is_alike).map(|(rank, _)| *rank);
        let alike: Vec<Rank> = alike.collect();
        let left = alike.iter().filter_map(|rank| self.items.remove(rank));
        let mut left: Vec<T> = left.map(|(_, item)| item).collect();
        left.extend(self.add(score, place, item));
        left
    }

    /// Returns the items with their scores, the highest first.
    pub fn into_ranked(self) -> Vec<(f64, T)> {
        self.items.into_values().collect()
    }
}

/// The pairs of neighboring words of a sentence, in lower case and with `0` for each number, by
/// their fingerprints; its beginning and its end count as words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordPairs(Vec<u64>); // ascending, without repetitions

impl WordPairs {
    /// The pairs of a sentence; none if it has no words.
    pub fn of(sentence: &Sentence) -> Self {
        let Some(words) = sentence.words() else { return Self::default() };
        let fingerprinter = Fingerprinter::default();
        let mut pair = String::new(); // of the word before and a space
        let mut pairs = Vec::with_capacity(sentence.len() + 1);
        for word in words.chain([""]) {
            let start = pair.len();
            push_normalized(&mut pair, word);
            pairs.push(fingerprinter.fingerprint(pair.as_bytes()));
            pair.drain(..start);
            pair.push(' ');
        }
        pairs.sort_unstable();
        pairs.dedup();
        Self(pairs)
    }

    /// Returns whether sentences are nearly the same: they share at least half of the pairs that
    /// either has (a Jaccard index of 0.5).
    pub fn is_alike(&self, other: &Self) -> bool {
        let (short, long) = (self.0.len().min(other.0.len()), self.0.len().max(other.0.len()));
        if 2 * short < long || short == 0 {
            return false;
        }
        let mut others = other.0.iter().peekable();
        let is_shared = |pair: &&u64| {
            while others.next_if(|other| other < pair).is_some() {}
            others.next_if(|other| other == pair).is_some()
        };
        let shared = self.0.iter().filter(is_shared).count();
        2 * shared >= short + long - shared
    }

    /// The memory usage in bytes.
    pub fn memory(&self) -> usize {
        size_of_val(&self.0[..])
    }
}

/// Appends a word in lower case, with `0` for each number.
fn push_normalized(text: &mut String, word: &str) {
    for c in word.chars() {
        match c.is_numeric() {
            true if text.ends_with('0') => {}
            true => text.push('0'),
            false => text.extend(c.to_lowercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_scores_are_kept_and_ties_go_to_the_first() {
        let items = [(0.5, 3), (0.9, 7), (0.5, 1), (0.1, 0), (0.5, 2)];
        for rotation in 0..items.len() {
            let mut highest = Highest::new(3);
            let mut left = Vec::new();
            for &(score, place) in items.iter().cycle().skip(rotation).take(items.len()) {
                left.extend(highest.add(score, (0, place), place));
            }
            let ranked: Vec<usize> = highest.into_ranked().into_iter().map(|(_, i)| i).collect();
            assert_eq!(ranked, [7, 1, 2], "{rotation}");
            left.sort_unstable();
            assert_eq!(left, [0, 3]);
        }
        assert_eq!(Highest::new(0).add(1.0, (0, 0), 'a'), Some('a'));
    }

    #[test]
    fn of_items_that_are_alike_the_highest_is_kept() {
        let items = [(0.5, "b1"), (0.3, "a2"), (0.9, "a1"), (0.7, "a3"), (0.4, "c1"), (0.1, "d1")];
        let are_alike = |a: &&str, b: &&str| a[..1] == b[..1];
        for rotation in 0..items.len() {
            let mut highest = Highest::new(3);
            let mut left = 0;
            for (place, (score, item)) in items.iter().cycle().skip(rotation).take(6).enumerate() {
                left += highest.add_unlike(*score, (0, place), *item, are_alike).len();
            }
            let ranked: Vec<&str> = highest.into_ranked().into_iter().map(|(_, i)| i).collect();
            assert_eq!((ranked, left), (vec!["a1", "b1", "c1"], 3), "{rotation}");
        }
    }

    #[test]
    fn sentences_are_alike_that_share_half_of_their_pairs() {
        for (a, b, are_alike) in [
            ("Page 12 of 30", "page 7 of 8", true),
            ("Rome", "rome", true),
            ("Rome", "Oslo", false),
            ("Ann left .", "Bob left .", false),
            ("Ann left Rome in a hurry .", "Bob left Rome in a hurry .", true),
            ("a b c", "c b a", false),
            ("a a a a a a", "a a", true), // sets: repetitions do not count
            ("a b", "a b c d e f g h", false),
        ] {
            let [a, b] =
                [a, b].map(|text| WordPairs::of(&Sentence::from_words(text.split_whitespace())));
            assert_eq!((a.is_alike(&b), b.is_alike(&a)), (are_alike, are_alike), "{a:?} {b:?}");
        }
    }
}
