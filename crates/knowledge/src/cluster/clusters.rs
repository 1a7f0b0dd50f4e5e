//! Learning clusters, and the result.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use super::assignment::{ClusterAssignment, MergeTree};
use super::bigrams::Bigrams;
use super::interned_text::InternedText;
use super::window::ClusterWindow;
use dropchain::{Error, Result};

/// Range of the number of clusters.
const CLUSTERS: RangeInclusive<usize> = 2..=10_000;

/// Words with the bit-string paths of their clusters.
#[derive(Clone, Debug)]
pub struct Clusters {
    words: Vec<ClusteredWord>,
    count: usize, // of clusters
    mutual_information: f64,
}

/// A word and its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusteredWord {
    /// Bit string: the path from the root of the merge tree to the cluster.
    pub path: String,
    /// The word.
    pub word: String,
    /// Number of occurrences.
    pub count: u64,
}

impl Clusters {
    /// Learns `clusters` clusters (2 to 10,000) of the words that occur at least `min_count` times
    /// in `text`; if there are fewer words, each is its own cluster. `observer` is called
    /// after each word with the number of words clustered so far and the total.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the number of clusters is out of range, there are fewer than two
    /// words, or no two of them are adjacent.
    pub fn learn(
        text: InternedText,
        clusters: usize,
        min_count: u64,
        observer: &mut dyn FnMut(usize, usize),
    ) -> Result<Self> {
        if !CLUSTERS.contains(&clusters) {
            return Err(Error::parameter(format!(
                "{clusters} clusters; expected {} to {}",
                CLUSTERS.start(),
                CLUSTERS.end()
            )));
        }
        let bigrams = Bigrams::count(text, min_count);
        let words = bigrams.words.len();
        if words < 2 {
            return Err(Error::parameter(format!(
                "the text has {words} different words that occur {min_count} times or more; \
                 expected at least 2"
            )));
        }
        if bigrams.total == 0 {
            return Err(Error::parameter(
                "no two such words are neighbors in the text; expected sentences of several words",
            ));
        }
        let count = clusters.min(words);
        let mut clustering = Clustering {
            window: ClusterWindow::new(count + 1),
            assignment: ClusterAssignment::new(words, count + 1),
        };
        for word in 0..words {
            clustering.add(word, &bigrams);
            if word >= count {
                clustering.merge();
            }
            observer(word + 1, words);
        }
        let mutual_information = clustering.window.mutual_information();
        let leaves = clustering.assignment.leaves();
        let mut tree = MergeTree::new(count, &clustering.assignment);
        for _ in 1..count {
            tree.merge(clustering.merge());
        }
        let paths = tree.paths();
        let mut order: Vec<usize> = (0..words).collect();
        order.sort_by_key(|&word| (&paths[leaves[word]], word));
        let clustered = |word: usize| ClusteredWord {
            path: paths[leaves[word]].clone(),
            word: bigrams.words[word].0.clone(),
            count: bigrams.words[word].1,
        };
        Ok(Self { words: order.into_iter().map(clustered).collect(), count, mutual_information })
    }

    /// All words, by path; those of a cluster most frequent first, then bytewise.
    pub fn words(&self) -> &[ClusteredWord] {
        &self.words
    }

    /// Number of clusters.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Average mutual information of adjacent clusters, in bits.
    pub fn mutual_information(&self) -> f64 {
        self.mutual_information
    }

    /// Writes one word per line, `path TAB word TAB count`, which the template function `cluster`
    /// reads.
    ///
    /// # Errors
    ///
    /// Errors of writing to `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        for word in &self.words {
            writeln!(out, "{}\t{}\t{}", word.path, word.word, word.count)?;
        }
        Ok(())
    }
}

/// The candidate clusters and the assignment of words to them.
struct Clustering {
    window: ClusterWindow,
    assignment: ClusterAssignment,
}

impl Clustering {
    /// Adds `word` to the window as a new cluster.
    fn add(&mut self, word: usize, bigrams: &Bigrams) {
        let slot = self.assignment.add(word);
        self.window.open(slot);
        let mut self_count = 0;
        for neighbor in bigrams.earlier_neighbors(word) {
            if neighbor.word == word {
                self_count += neighbor.count;
            } else {
                let other = self.assignment.slot(neighbor.word);
                self.window.add_to_delta(neighbor.direction, other, neighbor.count);
            }
        }
        self.window.apply_delta(slot, self_count);
    }

    /// Merges the pair with the smallest loss; returns their slots, that which had the more
    /// frequent word first.
    fn merge(&mut self) -> [usize; 2] {
        let (kept, dropped) = self.window.merge();
        self.assignment.merge(kept, dropped)
    }
}
