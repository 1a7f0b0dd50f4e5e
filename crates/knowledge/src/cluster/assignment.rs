//! The assignment of words to clusters, and the binary tree of merges of clusters.

/// Assigns words to clusters, and clusters to the slots of the window.
///
/// A union-find structure: the words of a cluster form a tree of links, whose root has the slot.
#[derive(Clone, Debug)]
pub(super) struct ClusterAssignment {
    links: Vec<usize>,         // [words] the parent; a root links to itself
    slots: Vec<usize>,         // [words] valid for roots
    roots: Vec<Option<usize>>, // [slots]
    first: Vec<usize>,         // [slots] the most frequent word
}

impl ClusterAssignment {
    /// An assignment with empty slots: no word has a cluster.
    pub(super) fn new(words: usize, slots: usize) -> Self {
        Self {
            links: (0..words).collect(),
            slots: vec![0; words],
            roots: vec![None; slots],
            first: vec![0; slots],
        }
    }

    /// Creates a cluster of `word` in the first free slot and returns the slot.
    pub(super) fn add(&mut self, word: usize) -> usize {
        let slot = self.roots.iter().position(Option::is_none).unwrap_or_default();
        self.slots[word] = slot;
        self.roots[slot] = Some(word);
        self.first[slot] = word;
        slot
    }

    /// The slot of a word that has a cluster.
    pub(super) fn slot(&mut self, mut word: usize) -> usize {
        while self.links[word] != word {
            self.links[word] = self.links[self.links[word]]; // path halving
            word = self.links[word];
        }
        self.slots[word]
    }

    /// Merges the cluster in slot `dropped` into that in `kept`. Returns the slots, that which had
    /// the more frequent word first.
    pub(super) fn merge(&mut self, kept: usize, dropped: usize) -> [usize; 2] {
        if let (Some(root), Some(other)) = (self.roots[kept], self.roots[dropped].take()) {
            self.links[other] = root;
        }
        if self.first[dropped] < self.first[kept] {
            self.first[kept] = self.first[dropped];
            return [dropped, kept];
        }
        [kept, dropped]
    }

    /// The cluster of every word, numbered as by [`ClusterAssignment::numbers`].
    pub(super) fn leaves(&mut self) -> Vec<usize> {
        let numbers = self.numbers();
        (0..self.links.len()).map(|word| numbers[self.slot(word)]).collect()
    }

    /// Numbers the clusters from 0, in slot order: `[slots]`, valid for slots in use.
    pub(super) fn numbers(&self) -> Vec<usize> {
        let mut next = 0;
        let number = |root: &Option<usize>| {
            next += usize::from(root.is_some());
            next.saturating_sub(1)
        };
        self.roots.iter().map(number).collect()
    }
}

/// The merge tree, whose leaves are clusters. Nodes are numbered: leaves first, the root last.
#[derive(Clone, Debug)]
pub(super) struct MergeTree {
    leaves: usize,
    children: Vec<[usize; 2]>, // of inner nodes; the one with the more frequent word first
    nodes: Vec<usize>,         // [slots] the node of the cluster in each slot
}

impl MergeTree {
    /// A forest of leaves: the clusters of `assignment`.
    pub(super) fn new(leaves: usize, assignment: &ClusterAssignment) -> Self {
        Self { leaves, children: Vec::with_capacity(leaves), nodes: assignment.numbers() }
    }

    /// Adds a parent to the clusters in two slots, that with the more frequent word first, of which
    /// one becomes that of both.
    pub(super) fn merge(&mut self, pair: [usize; 2]) {
        let children = pair.map(|slot| self.nodes[slot]);
        for slot in pair {
            self.nodes[slot] = self.leaves + self.children.len();
        }
        self.children.push(children);
    }

    /// The bit-string path from the root to each leaf; 0 leads to the most frequent word.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = vec![String::new(); self.leaves + self.children.len()];
        for (i, children) in self.children.iter().enumerate().rev() {
            let path = std::mem::take(&mut paths[self.leaves + i]);
            for (bit, &node) in ["0", "1"].into_iter().zip(children) {
                paths[node] = format!("{path}{bit}");
            }
        }
        paths.truncate(self.leaves);
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_moves_all_words_and_frees_the_slot() {
        let mut assignment = ClusterAssignment::new(4, 3);
        for word in 0..3 {
            assignment.add(word);
        }
        assignment.merge(2, 0);
        assert_eq!(assignment.add(3), 0);
        assignment.merge(1, 2);
        let slots = [0, 1, 2, 3].map(|word| assignment.slot(word));
        assert_eq!(slots, [1, 1, 1, 0]);
        assert_eq!(assignment.leaves(), [1, 1, 1, 0]);
    }

    #[test]
    fn bit_0_leads_to_the_more_frequent_word() {
        let mut assignment = ClusterAssignment::new(3, 4);
        for word in 0..3 {
            assert_eq!(assignment.add(word), word);
        }
        assert_eq!(assignment.leaves(), [0, 1, 2]);
        let mut tree = MergeTree::new(3, &assignment);
        tree.merge(assignment.merge(2, 0));
        tree.merge(assignment.merge(2, 1));
        assert_eq!(tree.paths(), ["00", "1", "01"]);
    }
}
