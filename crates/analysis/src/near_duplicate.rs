//! Sentences that are nearly the same, by the pairs of neighboring words that they share.

use dropchain::Sentence;
use dropchain::kernel::fingerprint::Fingerprinter;

/// The pairs of neighboring words of a sentence, in lower case and with `0` for each number, by
/// their fingerprints; its beginning and its end count as words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordPairs(Vec<u64>); // ascending, without repetitions

impl WordPairs {
    /// The pairs of a sentence; none if it has no words.
    pub fn of(sentence: &Sentence) -> Self {
        let Some(words) = sentence.words() else {
            return Self::default();
        };
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
