//! Text as a stream of word numbers.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use dropchain::{Error, Result};

/// Separates sentences in the stream of words.
pub(super) const BREAK: u32 = u32::MAX;

/// A text with interned words: 4 bytes per token, plus each distinct word once.
#[derive(Clone, Debug, Default)]
pub struct InternedText {
    pub(super) words: Vec<(String, u64)>, // with their counts, in order of first occurrence
    pub(super) numbers: HashTable<u32>,   // positions in `words`, by word
    pub(super) stream: Vec<u32>,          // positions in `words`, and BREAK
    letters: usize, // bytes of the words, each with the overhead of its allocation
}

impl InternedText {
    /// Adds a sentence. Words that the output format cannot represent (empty, or with a tab or line
    /// break) are skipped, and break the adjacency of their neighbors.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the text exceeds 2³¹ words.
    pub fn add<'a>(&mut self, sentence: impl IntoIterator<Item = &'a str>) -> Result<()> {
        for word in sentence {
            if word.is_empty() || word.contains(['\t', '\n', '\r']) {
                self.stream.push(BREAK);
                continue;
            }
            let number = self.intern(word);
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

    fn intern(&mut self, word: &str) -> u32 {
        let Self { words, numbers, letters, .. } = self;
        let hash = xxh3_64(word.as_bytes());
        if let Some(&number) = numbers.find(hash, |&number| words[number as usize].0 == word) {
            return number;
        }
        let number = words.len() as u32;
        *letters += word.len().next_multiple_of(16) + 16;
        words.push((word.to_owned(), 0));
        numbers.insert_unique(hash, number, |&i| xxh3_64(words[i as usize].0.as_bytes()));
        number
    }

    /// The memory usage in bytes.
    pub fn memory(&self) -> usize {
        size_of::<(String, u64)>() * self.words.capacity()
            + self.letters
            + 5 * self.numbers.capacity()
            + 4 * self.stream.capacity()
    }

    /// Estimates the memory in bytes of learning `clusters` clusters of this text, including it.
    pub fn memory_to_cluster(&self, clusters: usize) -> usize {
        // Bigrams as sort keys, in a vector that doubles; copies of the words; counts in both
        // directions and losses of all pairs of clusters.
        let slots = clusters.min(self.words.len()) + 1;
        let words = size_of::<(String, u64)>() * self.words.len() + self.letters;
        self.memory() + 16 * self.stream.len() + words + 64 * self.words.len() + 16 * slots * slots
    }

    /// Number of tokens.
    pub fn tokens(&self) -> u64 {
        self.words.iter().map(|(_, count)| count).sum()
    }

    /// Number of distinct words that occur at least `min_count` times.
    pub fn words(&self, min_count: u64) -> usize {
        self.words.iter().filter(|(_, c)| *c >= min_count).count()
    }
}
