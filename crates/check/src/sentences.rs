//! Sentences by the roles of their files (training, development, test), and hashes of their words.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_128;

use dropchain::kernel::train::is_content;
use dropchain::sentence::Sentence;

/// Role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Training.
    Train,
    /// Model selection.
    Dev,
    /// The final score.
    Test,
}

dropchain::named!(Role, "role": Train = "train", Dev = "dev", Test = "test");

/// The sentences of each role.
pub(super) type Sentences = BTreeMap<Role, Vec<Sentence>>;

/// Returns the sentences that are not document boundaries.
pub(super) fn content(sentences: &[Sentence]) -> impl Iterator<Item = &Sentence> {
    sentences.iter().filter(|sentence| is_content(sentence))
}

/// An odd multiplier, so that multiplication loses nothing.
const MULTIPLIER: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// A hash of a sequence of words. Sequences with the same hash count as the same: with 128 bits
/// there are none by chance, and a forged one would cost a line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct WordsHash(u128);

impl WordsHash {
    /// The hash of no words.
    pub const EMPTY: Self = Self(MULTIPLIER);

    /// The hash of a word.
    pub fn of_word(word: &str) -> u128 {
        xxh3_128(word.as_bytes())
    }

    /// The hash of the sequence and a word after it, given by its hash.
    pub fn and(self, word: u128) -> Self {
        Self((self.0 ^ word).wrapping_mul(MULTIPLIER).rotate_left(59))
    }

    /// The hash of words, given by their hashes.
    pub fn of(words: &[u128]) -> Self {
        words.iter().fold(Self::EMPTY, |hash, &word| hash.and(word))
    }
}

/// Returns the hashes of the words of a sentence, or of the attributes of its tokens if it has no
/// words.
pub(super) fn word_hashes(sentence: &Sentence) -> Vec<u128> {
    if let Some(words) = sentence.words().filter(|_| sentence.attributes.is_none()) {
        return words.map(WordsHash::of_word).collect();
    }
    let token = |t: usize| {
        let mut hash = WordsHash::EMPTY;
        for (name, value) in sentence.attributes.iter().flat_map(|all| all.token(t)) {
            hash = hash.and(WordsHash::of_word(name)).and(value.to_bits().into());
        }
        hash.0
    };
    (0..sentence.len()).map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_differ_by_words_order_and_length() {
        let hash = |text: &str| {
            let words: Vec<u128> = text.split(' ').map(WordsHash::of_word).collect();
            WordsHash::of(&words)
        };
        assert_eq!(hash("a b c"), hash("a b c"));
        let all = ["a b c", "a c b", "a b", "ab c", "a b c c", "a a b c"].map(hash);
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b));
        }
    }
}
