//! Words and their neighbors, counted.

use hashbrown::HashTable;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

/// Stands between sentences in the stream of words.
const BREAK: u32 = u32::MAX;

/// A text, sentence by sentence: 4 bytes a token, and each different word once.
#[derive(Clone, Debug, Default)]
pub struct InternedText {
    words: Vec<(String, u64)>, // with their counts, in order of first appearance
    numbers: HashTable<u32>,
    stream: Vec<u32>, // numbers of words
}

impl InternedText {
    /// No text yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sentence. Words that a line of a file could not hold (empty, or with a tab or a line end)
    /// are left out; the words beside them are then no neighbors.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when the text gets longer than 2³¹ words.
    pub fn add<'a>(&mut self, sentence: impl IntoIterator<Item = &'a str>) -> Result<()> {
        for word in sentence {
            if word.is_empty() || word.contains(['\t', '\n', '\r']) {
                self.stream.push(BREAK);
                continue;
            }
            let number = self.number(word);
            self.words[number as usize].1 += 1;
            self.stream.push(number);
            if self.stream.len() > i32::MAX as usize {
                return Err(Error::parameter(
                    "the text has more than 2147483647 words; expected fewer",
                ));
            }
        }
        self.stream.push(BREAK);
        Ok(())
    }

    fn number(&mut self, word: &str) -> u32 {
        let hash = xxh3_64(word.as_bytes());
        let words = &self.words;
        let is_it = |&number: &u32| words[number as usize].0 == word;
        if let Some(&number) = self.numbers.find(hash, is_it) {
            return number;
        }
        let number = self.words.len() as u32;
        self.words.push((word.to_owned(), 0));
        let words = &self.words;
        self.numbers.insert_unique(hash, number, |&number| {
            xxh3_64(words[number as usize].0.as_bytes())
        });
        number
    }

    /// Number of words, each as often as it occurs.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.words.iter().map(|(_, count)| count).sum()
    }

    /// Number of different words that occur at least `min_count` times.
    #[must_use]
    pub fn words(&self, min_count: u64) -> usize {
        self.words.iter().filter(|(_, c)| *c >= min_count).count()
    }
}

/// Words by frequency, and how often they are neighbors.
#[derive(Clone, Debug)]
pub(super) struct Bigrams {
    /// Most frequent first, then bytewise; with their counts.
    pub words: Vec<(String, u64)>,
    /// Number of neighbors.
    pub total: u64,
    starts: Vec<usize>,         // [words + 1] where the neighbors of each begin
    neighbors: Vec<(u32, u32)>, // 2·word + direction, count
}

/// A word that stands beside another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Neighbor {
    pub word: usize,
    /// 0: it stands after the other; 1: before.
    pub direction: usize,
    pub count: u32,
}

impl Bigrams {
    /// Counts the neighbors in `text` that both occur at least `min_count` times.
    pub(super) fn count(text: InternedText, min_count: u64) -> Self {
        let InternedText { words, stream, .. } = text;
        let mut order: Vec<usize> = (0..words.len())
            .filter(|&i| words[i].1 >= min_count)
            .collect();
        order.sort_unstable_by(|&i, &j| {
            let ((one, often), (other, as_often)) = (&words[i], &words[j]);
            as_often.cmp(often).then_with(|| one.cmp(other))
        });
        let mut ranks = vec![BREAK; words.len()];
        for (rank, &i) in order.iter().enumerate() {
            ranks[i] = rank as u32;
        }
        let rank = |number: u32| ranks.get(number as usize).copied().unwrap_or(BREAK);
        // A pair is kept with its rarer word: the upper half of a key, ordered so by sorting.
        let pairs = stream.windows(2).map(|pair| (rank(pair[0]), rank(pair[1])));
        let mut keys: Vec<u64> = pairs
            .filter(|&(left, right)| left != BREAK && right != BREAK)
            .map(|(left, right)| match left >= right {
                true => key(left, right, 0),
                false => key(right, left, 1),
            })
            .collect();
        drop(stream);
        keys.par_sort_unstable();
        let mut starts = vec![0; order.len() + 1];
        let mut neighbors = Vec::new();
        for same in keys.chunk_by(|a, b| a == b) {
            neighbors.push((same[0] as u32, same.len() as u32));
            starts[(same[0] >> 32) as usize + 1] = neighbors.len();
        }
        for i in 1..starts.len() {
            starts[i] = starts[i].max(starts[i - 1]);
        }
        Self {
            words: order.into_iter().map(|i| words[i].clone()).collect(),
            total: keys.len() as u64,
            starts,
            neighbors,
        }
    }

    /// The neighbors of `word` that are as frequent or more so, itself included (after itself).
    pub(super) fn earlier(&self, word: usize) -> impl Iterator<Item = Neighbor> {
        let range = self.starts[word]..self.starts[word + 1];
        self.neighbors[range]
            .iter()
            .map(|&(packed, count)| Neighbor {
                word: (packed >> 1) as usize,
                direction: (packed & 1) as usize,
                count,
            })
    }
}

/// A pair under its rarer word. Ranks are below 2³¹.
fn key(rarer: u32, other: u32, direction: u32) -> u64 {
    u64::from(rarer) << 32 | u64::from(other << 1 | direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sentences: &[&str]) -> InternedText {
        let mut text = InternedText::new();
        for sentence in sentences {
            text.add(sentence.split(' ')).unwrap();
        }
        text
    }

    fn neighbors(bigrams: &Bigrams, word: usize) -> Vec<(&str, usize, u32)> {
        let named = |n: Neighbor| (bigrams.words[n.word].0.as_str(), n.direction, n.count);
        bigrams.earlier(word).map(named).collect()
    }

    #[test]
    fn words_are_ordered_by_frequency_then_bytewise() {
        let bigrams = Bigrams::count(text(&["c b a", "b", "d"]), 1);
        let words: Vec<&str> = bigrams.words.iter().map(|(word, _)| &**word).collect();
        assert_eq!(words, ["b", "a", "c", "d"]);
        assert_eq!(bigrams.words[0].1, 2);
    }

    #[test]
    fn pairs_are_counted_once_with_their_rarer_word() {
        let bigrams = Bigrams::count(text(&["a a a b a b", "b"]), 1);
        assert_eq!(neighbors(&bigrams, 0), [("a", 0, 2)]);
        assert_eq!(neighbors(&bigrams, 1), [("a", 0, 1), ("a", 1, 2)]);
        assert_eq!(bigrams.total, 5);
    }

    #[test]
    fn words_beside_a_rare_word_or_a_sentence_end_are_no_neighbors() {
        let bigrams = Bigrams::count(text(&["a x b", "a", "b"]), 2);
        assert_eq!((bigrams.words.len(), bigrams.total), (2, 0));
    }

    #[test]
    fn words_that_no_line_could_hold_are_left_out() {
        let mut text = InternedText::new();
        text.add(["a", "b\tc", "a", "", "a", "d\r"]).unwrap();
        assert_eq!((text.tokens(), text.words(1)), (3, 1));
        assert_eq!(Bigrams::count(text, 1).total, 0);
    }
}
