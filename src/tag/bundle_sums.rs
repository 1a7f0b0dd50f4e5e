//! Memoized sums of the weights of bundles of attributes.
//!
//! The sum over a bundle is formed by itself and then added to the scores of the token, whether it
//! was memoized or not: no bit depends on what was tagged before.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::random;
use crate::template::BundleKey;

/// Number of memoized scores (8 MiB) above which all sums are dropped.
const MAX_SCORES: usize = 1 << 20;

/// The index of a sum that is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// The sums over bundles of recent sentences, and which of them the tokens of the sentence have.
#[derive(Debug, Default)]
pub(super) struct BundleSums {
    generation: u64,
    stride: usize,
    indices: HashTable<(BundleKey, u32)>,
    scores: Vec<f64>,    // [sums][stride]
    computed: usize,     // number of sums, the others are new
    of_tokens: Vec<u32>, // [T][bundles] indices of sums
}

impl BundleSums {
    /// Drops all sums.
    pub fn reset(&mut self) {
        self.indices.clear();
        self.scores.clear();
        self.computed = 0;
        self.clear();
    }

    /// Forgets the sentence.
    pub fn clear(&mut self) {
        self.of_tokens.clear();
    }

    /// Starts a sentence with bundles of these keys, after [`clear`](Self::clear). Sums of another
    /// generation are dropped, also those that an error kept from being computed, and all if there
    /// are too many.
    pub fn start_sentence(&mut self, generation: u64, stride: usize, keys: &[BundleKey]) {
        let is_same = (self.generation, self.stride) == (generation, stride);
        let all_computed = self.computed * stride == self.scores.len();
        if !is_same || !all_computed || self.scores.len() > MAX_SCORES {
            self.reset();
            (self.generation, self.stride) = (generation, stride);
        }
        // All of them at once, so that cache misses overlap.
        let find = |key: &BundleKey| {
            let found = self.indices.find(hash(key), |(other, _)| other == key);
            found.map_or(UNKNOWN, |&(_, index)| index)
        };
        self.of_tokens.extend(keys.iter().map(find));
    }

    /// Adds the sum of a bundle, given its index in the sentence, unless it is there. Returns
    /// whether it is new: its weights are to be added in [`new_scores`](Self::new_scores).
    #[inline(always)]
    pub fn insert(&mut self, bundle: usize, key: BundleKey) -> bool {
        self.of_tokens[bundle] == UNKNOWN && self.add(bundle, key)
    }

    /// Adds a sum that was not there when the sentence started.
    #[inline(never)]
    fn add(&mut self, bundle: usize, key: BundleKey) -> bool {
        let new = (self.scores.len() / self.stride) as u32;
        let is_same = |(other, _): &(BundleKey, u32)| *other == key;
        let entry = self.indices.entry(hash(&key), is_same, |(key, _)| hash(key));
        let index = match entry {
            Entry::Occupied(entry) => entry.get().1,
            Entry::Vacant(entry) => entry.insert((key, new)).get().1,
        };
        self.of_tokens[bundle] = index;
        if index == new {
            self.scores.resize(self.scores.len() + self.stride, 0.0);
        }
        index == new
    }

    /// Returns the scores of the new sums, `[new sums][stride]`, initially 0.
    pub fn new_scores(&mut self) -> &mut [f64] {
        &mut self.scores[self.computed * self.stride..]
    }

    /// Adds the sums of all tokens, which have been computed, to `scores`, `[T][stride]`.
    pub fn add_to(&mut self, scores: &mut [f64]) {
        if self.of_tokens.is_empty() {
            return;
        }
        self.computed = self.scores.len() / self.stride;
        let tokens = scores.len() / self.stride;
        let sums_of_tokens = self.of_tokens.chunks_exact(self.of_tokens.len() / tokens);
        for (sums, scores) in sums_of_tokens.zip(scores.chunks_exact_mut(self.stride)) {
            for &index in sums {
                let sum = &self.scores[index as usize * self.stride..][..self.stride];
                for (score, sum) in scores.iter_mut().zip(sum) {
                    *score += sum;
                }
            }
        }
    }
}

#[inline(always)]
fn hash(key: &BundleKey) -> u64 {
    let [bundle, a, b, c] = key.0;
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    random::mix(pair(bundle, a) ^ random::mix(pair(b, c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRIDE: usize = 4;

    fn key(number: u32) -> BundleKey {
        BundleKey([7, number, 1, number])
    }

    /// Tags a sentence of one bundle per token: the sum for key n is n in all lanes. Returns the
    /// scores and how many sums were new.
    fn tag(sums: &mut BundleSums, generation: u64, numbers: &[u32]) -> (Vec<f64>, usize) {
        let keys: Vec<BundleKey> = numbers.iter().copied().map(key).collect();
        sums.clear();
        sums.start_sentence(generation, STRIDE, &keys);
        let mut new = Vec::new();
        for (i, (&key, &number)) in keys.iter().zip(numbers).enumerate() {
            if sums.insert(i, key) {
                new.push(number);
            }
        }
        let scores = sums.new_scores();
        assert_eq!(scores.len(), new.len() * STRIDE);
        for (scores, &number) in scores.chunks_exact_mut(STRIDE).zip(&new) {
            assert_eq!(scores, [0.0; STRIDE]);
            scores.fill(f64::from(number));
        }
        let mut scores = vec![0.5; numbers.len() * STRIDE];
        sums.add_to(&mut scores);
        (scores, new.len())
    }

    fn expected(numbers: &[u32]) -> Vec<f64> {
        let scores = numbers.iter().map(|&n| [f64::from(n) + 0.5; STRIDE]);
        scores.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_sum_is_new_once_in_a_generation() {
        let mut sums = BundleSums::default();
        for (generation, numbers, new) in [
            (0, &[3, 1, 3][..], 2),
            (0, &[], 0),
            (0, &[1, 2, 3], 1),
            (1, &[1, 2, 3], 3),
            (0, &[3], 1),
        ] {
            let result = tag(&mut sums, generation, numbers);
            assert_eq!(result, (expected(numbers), new));
        }
    }

    #[test]
    fn sums_are_dropped_after_an_error() {
        let mut sums = BundleSums::default();
        tag(&mut sums, 0, &[1]);
        sums.clear();
        sums.start_sentence(0, STRIDE, &[key(2)]);
        assert!(sums.insert(0, key(2)));
        // Nothing was computed.
        assert_eq!(tag(&mut sums, 0, &[2, 1]), (expected(&[2, 1]), 2));
    }

    #[test]
    fn sums_are_dropped_when_there_are_too_many() {
        let mut sums = BundleSums::default();
        let most = (MAX_SCORES / STRIDE) as u32;
        for first in (0..2 * most).step_by(1000) {
            let numbers: Vec<u32> = (first..first + 1000).collect();
            assert_eq!(tag(&mut sums, 0, &numbers), (expected(&numbers), 1000));
            assert!(sums.scores.len() <= MAX_SCORES + 1000 * STRIDE);
        }
    }
}
