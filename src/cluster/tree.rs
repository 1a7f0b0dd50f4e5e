//! Which words are in which class, and the tree of the classes.

/// Words in classes, classes in slots.
///
/// The words of a class are linked to one another, and at the end of the links stands one that knows
/// the slot.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    links: Vec<usize>,         // [words] another word of the class, or itself
    slots: Vec<usize>,         // [words] of those that are linked to themselves
    roots: Vec<Option<usize>>, // [slots] the word that knows the slot
    first: Vec<usize>,         // [slots] the most frequent word
}

impl Forest {
    /// So many words, in no class yet.
    pub(super) fn new(words: usize, slots: usize) -> Self {
        Self {
            links: (0..words).collect(),
            slots: vec![0; words],
            roots: vec![None; slots],
            first: vec![0; slots],
        }
    }

    /// Puts `word` into a class of its own, in the first free slot.
    pub(super) fn plant(&mut self, word: usize) -> usize {
        let free = self.roots.iter().position(Option::is_none);
        let slot = free.unwrap_or_default();
        self.slots[word] = slot;
        self.roots[slot] = Some(word);
        self.first[slot] = word;
        slot
    }

    /// The slot of a word that has been planted.
    pub(super) fn slot(&mut self, mut word: usize) -> usize {
        while self.links[word] != word {
            self.links[word] = self.links[self.links[word]];
            word = self.links[word];
        }
        self.slots[word]
    }

    /// Merges the class in `dropped` into that in `kept`.
    pub(super) fn join(&mut self, kept: usize, dropped: usize) {
        if let (Some(root), Some(other)) = (self.roots[kept], self.roots[dropped].take()) {
            self.links[other] = root;
            self.first[kept] = self.first[kept].min(self.first[dropped]);
        }
    }

    /// The class of every word: its slot's number among those in use.
    pub(super) fn leaves(&mut self) -> Vec<usize> {
        let leaf = self.numbers();
        (0..self.links.len()).map(|w| leaf[self.slot(w)]).collect()
    }

    /// The numbers of the slots in use, from 0.
    fn numbers(&self) -> Vec<usize> {
        let mut next = 0;
        let number = |root: &Option<usize>| {
            next += usize::from(root.is_some());
            next.saturating_sub(1)
        };
        self.roots.iter().map(number).collect()
    }
}

/// The tree that mergers of classes make; leaves come first, the root last.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    leaves: usize,
    joins: Vec<[usize; 2]>, // nodes below: that with the more frequent word first
    nodes: Vec<usize>,      // [slots]
    first: Vec<usize>,      // [slots] the most frequent word, as it was before the last merger
}

impl Tree {
    /// The leaves: the classes of `forest`.
    pub(super) fn new(leaves: usize, forest: &Forest) -> Self {
        Self {
            leaves,
            joins: Vec::with_capacity(leaves),
            nodes: forest.numbers(),
            first: forest.first.clone(),
        }
    }

    /// Puts a node above the classes in two slots, which `forest` has just joined in `kept`.
    pub(super) fn join(&mut self, kept: usize, dropped: usize, forest: &Forest) {
        let mut pair = [self.nodes[kept], self.nodes[dropped]];
        if self.first[dropped] < self.first[kept] {
            pair.reverse();
        }
        self.nodes[kept] = self.leaves + self.joins.len();
        self.first[kept] = forest.first[kept];
        self.joins.push(pair);
    }

    /// The path from the root to each leaf: `0` to the side with the most frequent word.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = vec![String::new(); self.leaves + self.joins.len()];
        for (i, below) in self.joins.iter().enumerate().rev() {
            let path = std::mem::take(&mut paths[self.leaves + i]);
            for (bit, &node) in ["0", "1"].into_iter().zip(below) {
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
    fn paths_lead_to_the_more_frequent_word_by_0() {
        let mut forest = Forest::new(3, 4);
        for word in 0..3 {
            assert_eq!(forest.plant(word), word);
        }
        assert_eq!(forest.leaves(), [0, 1, 2]);
        let mut tree = Tree::new(3, &forest);
        forest.join(2, 0);
        tree.join(2, 0, &forest);
        forest.join(2, 1);
        tree.join(2, 1, &forest);
        assert_eq!(tree.paths(), ["00", "1", "01"]);
    }

    #[test]
    fn words_move_with_their_class_and_slots_are_used_again() {
        let mut forest = Forest::new(4, 3);
        for word in 0..3 {
            forest.plant(word);
        }
        forest.join(2, 0);
        assert_eq!(forest.plant(3), 0);
        forest.join(1, 2);
        assert_eq!([0, 1, 2, 3].map(|word| forest.slot(word)), [1, 1, 1, 0]);
        assert_eq!(forest.leaves(), [1, 1, 1, 0]);
    }
}
