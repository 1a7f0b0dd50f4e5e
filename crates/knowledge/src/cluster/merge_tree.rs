//! The binary tree of merges.

use super::assignment::ClusterAssignment;

/// The merge tree, whose leaves are clusters. Nodes are numbered: leaves first, the root last.
#[derive(Clone, Debug)]
pub(super) struct MergeTree {
    leaves: usize,
    children: Vec<[usize; 2]>, // of inner nodes; the one with the more frequent word first
    nodes: Vec<usize>,         // [slots] the node of the cluster in each slot
    first: Vec<usize>,         // [slots] its most frequent word, before the last merge
}

impl MergeTree {
    /// A forest of leaves: the clusters of `assignment`.
    pub(super) fn new(leaves: usize, assignment: &ClusterAssignment) -> Self {
        Self {
            leaves,
            children: Vec::with_capacity(leaves),
            nodes: assignment.numbers(),
            first: assignment.first_words().to_vec(),
        }
    }

    /// Adds a parent to the clusters in two slots, which `assignment` has just merged into `kept`.
    pub(super) fn merge(&mut self, kept: usize, dropped: usize, assignment: &ClusterAssignment) {
        let mut pair = [self.nodes[kept], self.nodes[dropped]];
        if self.first[dropped] < self.first[kept] {
            pair.reverse();
        }
        self.nodes[kept] = self.leaves + self.children.len();
        self.first[kept] = assignment.first_words()[kept];
        self.children.push(pair);
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
    fn bit_0_leads_to_the_more_frequent_word() {
        let mut assignment = ClusterAssignment::new(3, 4);
        for word in 0..3 {
            assert_eq!(assignment.add(word), word);
        }
        assert_eq!(assignment.leaves(), [0, 1, 2]);
        let mut tree = MergeTree::new(3, &assignment);
        assignment.merge(2, 0);
        tree.merge(2, 0, &assignment);
        assignment.merge(2, 1);
        tree.merge(2, 1, &assignment);
        assert_eq!(tree.paths(), ["00", "1", "01"]);
    }
}
