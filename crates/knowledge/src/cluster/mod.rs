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
mod clusters;
mod interned_text;
mod merge_losses;
#[cfg(test)]
mod tests;
mod window;

pub use clusters::{ClusteredWord, Clusters};
pub use interned_text::InternedText;
