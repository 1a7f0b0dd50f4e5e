//! What is known about the labels of sentences.
//!
//! Most tokens of a labeled sentence have one label. Others may have several, or any: a *partial*
//! label. Their sets are interned, since a corpus has few different ones, and only tokens that have
//! them take memory.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::ids::LabelId;

/// Stands for the label of a token that has no single one. It is beyond all labels.
const PARTIAL: LabelId = LabelId(u16::MAX);

/// The number of the set of all labels.
const ANY: u32 = u32::MAX;

/// What is known about the labels of a sentence.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// One label per token, `[T]`.
    Gold(&'a [LabelId]),
    /// The labels that each token may have.
    Allowed(AllowedLabels<'a>),
    /// Nothing: the sentence is unlabeled text.
    Unlabeled,
}

/// The labels that a token may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allowed<'a> {
    /// This one.
    One(LabelId),
    /// One of these: distinct and ascending.
    Some(&'a [LabelId]),
    /// Any label.
    Any,
}

impl Allowed<'_> {
    /// Calls `visit` with each label; with none if any is allowed.
    pub fn for_each(self, mut visit: impl FnMut(LabelId)) {
        match self {
            Self::One(label) => visit(label),
            Self::Some(labels) => labels.iter().copied().for_each(visit),
            Self::Any => {}
        }
    }
}

/// The labels that the tokens of a sentence may have.
#[derive(Clone, Copy, Debug)]
pub struct AllowedLabels<'a> {
    labels: &'a [LabelId], // [T]
    first: u64,            // the first token of the sentence in the data set
    tokens: &'a [u64],     // those without a single label
    sets: &'a [u32],       // of each of them
    partial: &'a PartialLabels,
}

impl<'a> AllowedLabels<'a> {
    /// Iterates over the tokens.
    pub fn iter(self) -> impl Iterator<Item = Allowed<'a>> {
        let mut next = 0;
        self.labels.iter().enumerate().map(move |(t, &label)| {
            if self.tokens.get(next) != Some(&(self.first + t as u64)) {
                return Allowed::One(label);
            }
            next += 1;
            self.partial.set(self.sets[next - 1])
        })
    }

    /// Returns whether every token may have any label.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.tokens.len() == self.labels.len() && self.sets.iter().all(|&set| set == ANY)
    }
}

/// The labels of the tokens that have no single one.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct PartialLabels {
    tokens: Vec<u64>,                     // ascending
    sets: Vec<u32>,                       // the set of each token
    ends: Vec<u32>,                       // [sets] end of each set in `members`
    members: Vec<LabelId>,                // distinct and ascending
    numbers: BTreeMap<Vec<LabelId>, u32>, // of the sets
}

impl PartialLabels {
    /// Returns whether every token has a single label.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Returns the number of tokens without a single label.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Adds the next token of the data set; returns what stands for its label. Without labels, it
    /// may have any.
    pub fn push(&mut self, token: usize, labels: &[LabelId]) -> LabelId {
        if let [label] = labels {
            return *label;
        }
        let mut labels = labels.to_vec();
        labels.sort_unstable();
        labels.dedup();
        let set = match labels[..] {
            [label] => return label,
            [] => ANY,
            _ => match self.numbers.get(&labels) {
                Some(&number) => number,
                None => {
                    let number = self.ends.len() as u32;
                    self.members.extend_from_slice(&labels);
                    self.ends.push(self.members.len() as u32);
                    self.numbers.insert(labels, number);
                    number
                }
            },
        };
        self.tokens.push(token as u64);
        self.sets.push(set);
        PARTIAL
    }

    /// Returns the target of a sentence with these tokens and labels.
    pub fn target<'a>(&'a self, tokens: Range<usize>, labels: &'a [LabelId]) -> Target<'a> {
        let range = self.find(&tokens);
        if range.is_empty() {
            return Target::Gold(labels);
        }
        Target::Allowed(AllowedLabels {
            labels,
            first: tokens.start as u64,
            tokens: &self.tokens[range.clone()],
            sets: &self.sets[range],
            partial: self,
        })
    }

    /// Returns the positions of these tokens.
    fn find(&self, tokens: &Range<usize>) -> Range<usize> {
        let position = |token: usize| self.tokens.partition_point(|&t| t < token as u64);
        position(tokens.start)..position(tokens.end)
    }

    fn set(&self, number: u32) -> Allowed<'_> {
        if number == ANY {
            return Allowed::Any;
        }
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Allowed::Some(&self.members[start as usize..self.ends[number] as usize])
    }

    pub fn shrink_to_fit(&mut self) {
        self.tokens.shrink_to_fit();
        self.sets.shrink_to_fit();
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        // Each set is stored twice, once in a map.
        8 * self.tokens.capacity()
            + 4 * (self.sets.capacity() + self.members.capacity())
            + 64 * self.numbers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_interned_and_a_set_of_one_is_a_label() {
        let mut partial = PartialLabels::default();
        let labels = [&[4, 2][..], &[7], &[], &[2, 4, 2], &[1, 2], &[3, 3]];
        let labels: Vec<LabelId> = (10..)
            .zip(labels)
            .map(|(token, set)| {
                let set: Vec<LabelId> = set.iter().copied().map(LabelId).collect();
                partial.push(token, &set)
            })
            .collect();
        let Target::Allowed(allowed) = partial.target(10..16, &labels) else {
            panic!("a partial target");
        };
        assert!(!allowed.is_any());
        let [two_four, one_two] = [[LabelId(2), LabelId(4)], [LabelId(1), LabelId(2)]];
        assert_eq!(
            allowed.iter().collect::<Vec<_>>(),
            [
                Allowed::Some(&two_four[..]),
                Allowed::One(LabelId(7)),
                Allowed::Any,
                Allowed::Some(&two_four),
                Allowed::Some(&one_two),
                Allowed::One(LabelId(3)),
            ]
        );
        assert_eq!((partial.len(), partial.numbers.len()), (4, 2));
        assert!(matches!(
            partial.target(11..12, &labels[1..2]),
            Target::Gold([LabelId(7)])
        ));
        let Target::Allowed(any) = partial.target(12..13, &labels[2..3]) else {
            panic!("a partial target");
        };
        assert!(any.is_any());
    }
}
