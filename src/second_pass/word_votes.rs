//! The type that the same word has elsewhere in the document.

use hashbrown::HashMap;

/// The type with the most probability at other occurrences of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordVote {
    /// Index of the type.
    pub kind: usize,
    /// Its share of the probability: 9 for 0.9 and more, 7 for 0.7 and more, else 5.
    pub level: u8,
}

/// An occurrence of a word: its position in the document, and the probabilities of the types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence<'a> {
    pub position: usize,
    pub shares: &'a [u32],
}

/// The occurrences of each word, ascending by position.
#[derive(Debug, Default)]
pub(super) struct WordVotes<'a> {
    occurrences: HashMap<&'a str, Vec<Occurrence<'a>>>,
}

impl<'a> WordVotes<'a> {
    /// Adds the next token of the document.
    pub fn push(&mut self, word: &'a str, occurrence: Occurrence<'a>) {
        self.occurrences.entry(word).or_default().push(occurrence);
    }

    /// Returns the vote for each token of the document, `[tokens]`: that of the other occurrences
    /// at most `window` tokens away, if there are any.
    pub fn count(self, tokens: usize, window: usize) -> Vec<Option<WordVote>> {
        let mut votes = vec![None; tokens];
        for occurrences in self.occurrences.into_values() {
            count_word(&occurrences, window, &mut votes);
        }
        votes
    }
}

/// Counts the votes of one word by moving a window over its occurrences.
fn count_word(occurrences: &[Occurrence<'_>], window: usize, votes: &mut [Option<WordVote>]) {
    let types = occurrences.first().map_or(0, |first| first.shares.len());
    let mut sum = vec![0_u64; types];
    let add = |sum: &mut [u64], occurrence: &Occurrence<'_>| {
        for (sum, &share) in sum.iter_mut().zip(occurrence.shares) {
            *sum += u64::from(share);
        }
    };
    let subtract = |sum: &mut [u64], occurrence: &Occurrence<'_>| {
        for (sum, &share) in sum.iter_mut().zip(occurrence.shares) {
            *sum -= u64::from(share);
        }
    };
    let (mut first, mut next) = (0, 0);
    for occurrence in occurrences {
        while let Some(new) = occurrences.get(next)
            && new.position <= occurrence.position + window
        {
            add(&mut sum, new);
            next += 1;
        }
        while occurrences[first].position + window < occurrence.position {
            subtract(&mut sum, &occurrences[first]);
            first += 1;
        }
        if next - first > 1 {
            subtract(&mut sum, occurrence);
            votes[occurrence.position] = vote(&sum);
            add(&mut sum, occurrence);
        }
    }
}

/// Returns the type with the largest sum, the first of several.
fn vote(sum: &[u64]) -> Option<WordVote> {
    let total: u64 = sum.iter().sum();
    let (kind, &largest) = sum.iter().enumerate().rev().max_by_key(|(_, sum)| **sum)?;
    let level = match 10 * largest {
        share if share >= 9 * total => 9,
        share if share >= 7 * total => 7,
        _ => 5,
    };
    Some(WordVote { kind, level })
}
