//! Bigram counts of frequent words.

use rayon::prelude::*;

use super::interned_text::{BREAK, InternedText};

/// The most frequent words and their bigram counts.
#[derive(Clone, Debug)]
pub(super) struct Bigrams {
    /// Words with their counts, most frequent first, ties in bytewise order.
    pub words: Vec<(String, u64)>,
    /// Number of bigrams.
    pub total: u64,
    starts: Vec<usize>, // [words + 1] where the neighbors of each word start in `neighbors`
    neighbors: Vec<(u32, u32)>, // 2·word + direction, count
}

/// A word adjacent to another word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Neighbor {
    pub word: usize,
    /// 0: it follows the other word; 1: it precedes it.
    pub direction: usize,
    pub count: u32,
}

impl Bigrams {
    /// Counts the bigrams of `text` whose words both occur at least `min_count` times.
    pub(super) fn count(text: InternedText, min_count: u64) -> Self {
        let InternedText { words, numbers, stream, .. } = text;
        drop(numbers); // before the keys take memory
        let mut order: Vec<usize> = (0..words.len()).filter(|&i| words[i].1 >= min_count).collect();
        order.sort_unstable_by(|&i, &j| {
            let ((word, count), (other, other_count)) = (&words[i], &words[j]);
            other_count.cmp(count).then_with(|| word.cmp(other))
        });
        let mut ranks = vec![BREAK; words.len()];
        for (rank, &i) in order.iter().enumerate() {
            ranks[i] = rank as u32;
        }
        let rank = |number: u32| ranks.get(number as usize).copied().unwrap_or(BREAK);
        // A bigram is stored with its rarer word, the upper half of a sort key.
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
        for equal in keys.chunk_by(|a, b| a == b) {
            neighbors.push((equal[0] as u32, equal.len() as u32));
            starts[(equal[0] >> 32) as usize + 1] = neighbors.len();
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

    /// The neighbors of `word` that are at least as frequent, including itself (as following
    /// itself).
    pub(super) fn earlier_neighbors(&self, word: usize) -> impl Iterator<Item = Neighbor> {
        let range = self.starts[word]..self.starts[word + 1];
        self.neighbors[range].iter().map(|&(packed, count)| Neighbor {
            word: (packed >> 1) as usize,
            direction: (packed & 1) as usize,
            count,
        })
    }
}

/// The sort key of a bigram. Ranks are below 2³¹.
fn key(rarer: u32, other: u32, direction: u32) -> u64 {
    u64::from(rarer) << 32 | u64::from(other << 1 | direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sentences: &[&str]) -> InternedText {
        let mut text = InternedText::default();
        for sentence in sentences {
            text.add(sentence.split(' ')).unwrap();
        }
        text
    }

    fn neighbors(bigrams: &Bigrams, word: usize) -> Vec<(&str, usize, u32)> {
        let named = |n: Neighbor| (bigrams.words[n.word].0.as_str(), n.direction, n.count);
        bigrams.earlier_neighbors(word).map(named).collect()
    }

    #[test]
    fn words_are_ordered_by_frequency_then_bytewise() {
        let bigrams = Bigrams::count(text(&["c b a", "b", "d"]), 1);
        let words: Vec<&str> = bigrams.words.iter().map(|(word, _)| &**word).collect();
        assert_eq!(words, ["b", "a", "c", "d"]);
        assert_eq!(bigrams.words[0].1, 2);
    }

    #[test]
    fn bigrams_are_counted_once_with_their_rarer_word() {
        let bigrams = Bigrams::count(text(&["a a a b a b", "b"]), 1);
        assert_eq!(neighbors(&bigrams, 0), [("a", 0, 2)]);
        assert_eq!(neighbors(&bigrams, 1), [("a", 0, 1), ("a", 1, 2)]);
        assert_eq!(bigrams.total, 5);
    }

    #[test]
    fn rare_words_and_sentence_ends_break_adjacency() {
        let bigrams = Bigrams::count(text(&["a x b", "a", "b"]), 2);
        assert_eq!((bigrams.words.len(), bigrams.total), (2, 0));
    }

    #[test]
    fn words_that_the_output_cannot_represent_are_skipped() {
        let mut text = InternedText::default();
        text.add(["a", "b\tc", "a", "", "a", "d\r"]).unwrap();
        assert_eq!((text.tokens(), text.words(1)), (3, 1));
        assert_eq!(Bigrams::count(text, 1).total, 0);
    }
}
