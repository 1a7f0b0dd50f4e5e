//! The assignment of words to clusters, and the paths in the binary tree of their merges.

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

    /// Merges the cluster in slot `dropped` into that in `kept`.
    pub(super) fn merge(&mut self, (kept, dropped): (usize, usize)) -> Merge {
        if let (Some(root), Some(other)) = (self.roots[kept], self.roots[dropped].take()) {
            self.links[other] = root;
        }
        if self.first[dropped] < self.first[kept] {
            self.first[kept] = self.first[dropped];
            return Merge { kept, children: [dropped, kept] };
        }
        Merge { kept, children: [kept, dropped] }
    }
}

/// A merge of the clusters in two slots.
pub(super) struct Merge {
    kept: usize,          // the slot of the merged cluster
    children: [usize; 2], // the slots; that which had the more frequent word first
}

/// Returns the bit-string path from the root of the tree of these merges to the cluster that was in
/// each slot before; 0 leads to the most frequent word.
pub(super) fn paths(slots: usize, merges: &[Merge]) -> Vec<String> {
    let mut paths = vec![String::new(); slots];
    for Merge { kept, children } in merges.iter().rev() {
        let path = std::mem::take(&mut paths[*kept]);
        for (bit, slot) in ["0", "1"].into_iter().zip(children) {
            paths[*slot] = format!("{path}{bit}");
        }
    }
    paths
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
        assignment.merge((2, 0));
        assert_eq!(assignment.add(3), 0);
        assignment.merge((1, 2));
        let slots = [0, 1, 2, 3].map(|word| assignment.slot(word));
        assert_eq!(slots, [1, 1, 1, 0]);
    }

    #[test]
    fn bit_0_leads_to_the_more_frequent_word() {
        let mut assignment = ClusterAssignment::new(3, 4);
        for word in 0..3 {
            assert_eq!(assignment.add(word), word);
        }
        let merges = [assignment.merge((2, 0)), assignment.merge((2, 1))];
        assert_eq!(paths(4, &merges), ["00", "1", "01", ""]);
    }
}
