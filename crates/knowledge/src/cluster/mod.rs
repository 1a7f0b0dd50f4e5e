//! Brown clustering: hierarchical word clusters, learned from unlabeled text.
//!
//! A class-based bigram model predicts the cluster of a word from the cluster of the previous word.
//! The likelihood of a text w₁ w₂ … under this model grows with the average mutual information of
//! adjacent clusters,
//!
//! ```text
//! I = Σ_{c,d} p(c,d) · log₂ ( p(c,d) / (p(c,·) · p(·,d)) )   bits,
//! ```
//!
//! where p(c,d) is the fraction of bigrams with the left word in cluster c and the right word in
//! cluster d. To partition V words into C clusters with high I, merge greedily, always the pair of
//! clusters with the smallest loss of I. Continuing until one cluster remains yields a binary merge
//! tree with the C clusters as leaves. The path from its root to a cluster is a bit string, whose
//! prefixes are coarser clusters.
//!
//! Starting from V clusters would cost O(V³). Instead, a window of candidate clusters starts with
//! the C most frequent words, one per cluster; then each further word, most frequent first, is
//! added as cluster C + 1 and the best pair is merged. At any time, I is computed from the bigrams
//! of words added so far. A merge never increases it: a function of a variable carries no more
//! information than the variable (data processing inequality).
//!
//! Cost: O(C²) memory. A word with d adjacent clusters takes O(d·C) time, since only losses that
//! involve these clusters change (`window.rs`), and O(C) to find the best merge, since every row of
//! the loss matrix caches its minimum. The published bound is O(C²) per word; d is small for all
//! but the most frequent words. All arithmetic is in integers (`window.rs`), so rounding
//! errors do not accumulate, ties are exact, and the result is the same for any number of threads.
//!
//! Sources: Brown et al., Class-based n-gram models of natural language, Computational Linguistics
//! 18(4), 1992, Section 3; Liang, Semi-supervised learning for natural language, MIT, 2005,
//! Chapter 4 (the window).

mod assignment;
mod bigrams;
mod interned_text;
mod merge_losses;
#[cfg(test)]
mod tests;
mod window;

use assignment::{ClusterAssignment, Merge, paths};
use bigrams::Bigrams;
use dropchain::{Error, Result};
pub use interned_text::InternedText;
use window::ClusterWindow;

/// The largest number of clusters.
const MOST_CLUSTERS: usize = 10_000;

/// Words with the bit-string paths of their clusters.
#[derive(Clone, Debug)]
pub struct Clusters {
    /// All words, by path; those of a cluster most frequent first, then bytewise.
    pub words: Vec<ClusteredWord>,
    /// Number of clusters.
    pub count: usize,
    /// Average mutual information of adjacent clusters, in bits.
    pub mutual_information: f64,
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
        if !(2..=MOST_CLUSTERS).contains(&clusters) {
            let message = format!("{clusters} clusters; expected 2 to {MOST_CLUSTERS}");
            return Err(Error::parameter(message));
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
        let mut window = ClusterWindow::new(count + 1);
        let mut assignment = ClusterAssignment::new(words, count + 1);
        for word in 0..words {
            let slot = assignment.add(word);
            window.open(slot);
            let mut self_count = 0;
            for neighbor in bigrams.earlier_neighbors(word) {
                if neighbor.word == word {
                    self_count += neighbor.count;
                } else {
                    let other = assignment.slot(neighbor.word);
                    window.add_to_delta(neighbor.direction, other, neighbor.count);
                }
            }
            window.apply_delta(slot, self_count);
            if word >= count {
                assignment.merge(window.merge());
            }
            observer(word + 1, words);
        }
        let mutual_information = window.mutual_information();
        let slots: Vec<usize> = (0..words).map(|word| assignment.slot(word)).collect();
        let merges: Vec<Merge> = (1..count).map(|_| assignment.merge(window.merge())).collect();
        let paths = paths(count + 1, &merges);
        let mut order: Vec<usize> = (0..words).collect();
        order.sort_by_key(|&word| (&paths[slots[word]], word));
        let clustered = |word: usize| {
            let (name, count) = bigrams.words[word].clone();
            ClusteredWord { path: paths[slots[word]].clone(), word: name, count }
        };
        Ok(Self { words: order.into_iter().map(clustered).collect(), count, mutual_information })
    }

    /// Returns a line for each word, `path TAB word TAB count`, which the template function
    /// `cluster` reads.
    pub fn text(&self) -> String {
        let line = |word: &ClusteredWord| format!("{}\t{}\t{}\n", word.path, word.word, word.count);
        self.words.iter().map(line).collect()
    }
}
