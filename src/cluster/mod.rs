//! Classes of words, learned from text without labels: Brown clustering.
//!
//! A class bigram model says of a text w₁ w₂ … that the class of a word depends on the class of the word
//! before. Under it the text is the more probable the more the classes of neighbors tell of each
//! other, that is the greater their average mutual information
//!
//! ```text
//! I = Σ_{c,d} p(c,d) · log₂ ( p(c,d) / (p(c,·) · p(·,d)) )   bits,
//! ```
//!
//! where p(c,d) is the fraction of neighbors whose left word is of class c and right word of class d.
//! To find V words C classes that make I great, merge greedily, always the two classes whose merger
//! loses least. Going on until one class is left makes a binary tree with the C classes as leaves; the
//! path from its root to a class is a string of bits whose prefixes are coarser classes.
//!
//! Starting from V classes would cost O(V³). The *window* starts with the C most frequent words, each
//! in a class of its own, and takes in one word at a time, most frequent first, merging two of the C + 1 classes
//! after each. I counts, at every moment, neighbors both of which have been taken in. It never rises in a
//! merger: a function of a variable tells no more than the variable.
//!
//! Cost: O(C²) memory; for a word with d neighboring classes O(d·C) time, since nothing changes in
//! classes that the word does not stand beside (`window.rs`), and O(C) to find the next merger, as
//! every row of losses knows its least. The published bound is O(C²) a word; d is a few for all but
//! the most frequent words. All of it is in whole numbers (`entropy.rs`), so no rounding
//! piles up over mergers, ties are ties, and the result is the same for any number of threads.
//!
//! Sources: Brown et al., Class-based n-gram models of natural language, Computational Linguistics
//! 18(4), 1992, Section 3; Liang, Semi-supervised learning for natural language, MIT, 2005, Chapter 4
//! (the window).

mod entropy;
mod losses;
mod text;
mod tree;
mod window;

#[cfg(test)]
mod tests;

use std::io::{self, Write};

pub use text::InternedText;

use crate::error::{Error, Result};
use text::Bigrams;
use tree::{Forest, Tree};
use window::Window;

/// Fewest and most classes.
const CLASSES: std::ops::RangeInclusive<usize> = 2..=10_000;

/// Words with the paths of their classes.
#[derive(Clone, Debug)]
pub struct Clusters {
    entries: Vec<ClusteredWord>,
    classes: usize,
    information: f64,
}

/// A word and its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusteredWord {
    /// Bits from the root of the tree to the class.
    pub path: String,
    /// The word.
    pub word: String,
    /// How often it occurs.
    pub count: u64,
}

impl Clusters {
    /// Learns `classes` classes (2 to 10 000) of the words that occur at least `min_count` times in
    /// `text`; where there are fewer words, each gets its own. `watch` is called with the number of words
    /// taken in and of all words, after each.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when the number of classes is out of range, when there are fewer than two
    /// words, and when no two words are neighbors.
    pub fn learn(
        text: InternedText,
        classes: usize,
        min_count: u64,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Self> {
        if !CLASSES.contains(&classes) {
            return Err(Error::parameter(format!(
                "{classes} clusters cannot be made; expected {} to {}",
                CLASSES.start(),
                CLASSES.end()
            )));
        }
        let bigrams = Bigrams::count(text, min_count);
        let words = bigrams.words.len();
        if words < 2 {
            return Err(Error::parameter(format!(
                "the text has {words} different words that occur {min_count} times or more; expected at \
                 least 2"
            )));
        }
        if bigrams.total == 0 {
            return Err(Error::parameter(
                "no two such words are neighbors in the text; expected sentences of several words",
            ));
        }
        let classes = classes.min(words);
        let mut state = State {
            window: Window::new(classes + 1),
            forest: Forest::new(words, classes + 1),
        };
        for word in 0..words {
            state.take_in(word, &bigrams);
            if word >= classes {
                state.merge();
            }
            watch(word + 1, words);
        }
        let information = state.window.information();
        let leaves = state.forest.leaves();
        let mut tree = Tree::new(classes, &state.forest);
        for _ in 1..classes {
            let (kept, dropped) = state.merge();
            tree.join(kept, dropped, &state.forest);
        }
        let paths = tree.paths();
        let mut order: Vec<usize> = (0..words).collect();
        order.sort_by_key(|&word| (&paths[leaves[word]], word));
        let entry = |word: usize| ClusteredWord {
            path: paths[leaves[word]].clone(),
            word: bigrams.words[word].0.clone(),
            count: bigrams.words[word].1,
        };
        Ok(Self {
            entries: order.into_iter().map(entry).collect(),
            classes,
            information,
        })
    }

    /// All words: by path, those of a class most frequent first, then bytewise.
    #[must_use]
    pub fn entries(&self) -> &[ClusteredWord] {
        &self.entries
    }

    /// Number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Average mutual information of neighboring classes, in bits.
    #[must_use]
    pub fn information(&self) -> f64 {
        self.information
    }

    /// Writes `path TAB word TAB count`, a word a line: what `cluster` reads in templates.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        for entry in &self.entries {
            writeln!(out, "{}\t{}\t{}", entry.path, entry.word, entry.count)?;
        }
        Ok(())
    }
}

/// The window, and which words are in which of its slots.
struct State {
    window: Window,
    forest: Forest,
}

impl State {
    /// Gives `word` a class of its own.
    fn take_in(&mut self, word: usize, bigrams: &Bigrams) {
        let slot = self.forest.plant(word);
        self.window.open(slot);
        let mut own = 0;
        for neighbor in bigrams.earlier(word) {
            if neighbor.word == word {
                own += neighbor.count;
            } else {
                let other = self.forest.slot(neighbor.word);
                self.window
                    .collect(neighbor.direction, other, neighbor.count);
            }
        }
        self.window.augment(slot, own);
    }

    /// Merges the two classes that lose least by it; returns the slot that has both and the other one.
    fn merge(&mut self) -> (usize, usize) {
        let (kept, dropped) = self.window.merge();
        self.forest.join(kept, dropped);
        (kept, dropped)
    }
}
