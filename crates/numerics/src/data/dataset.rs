//! Sentences as numbers: the input of training and of dev scoring.
//!
//! # What is known about labels
//!
//! Most tokens of a labeled sentence have one label. Others may have several, or any: a *partial*
//! label. Their sets are interned, since a corpus has few different ones, and only tokens that have
//! them take memory.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::matrix::SparseRows;
use crate::ids::LabelId;

/// The tokens at which an attribute occurs, each with the weight of its sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColumnCount(f64);

impl ColumnCount {
    /// Rounding of sums of weights, relative to the count.
    const ROUNDING: f64 = 1e-9;

    fn add(&mut self, weight: f64) {
        // Above 0 for every occurrence, also in a sentence of weight 0.
        self.0 += weight.max(f64::MIN_POSITIVE);
    }

    /// Returns whether the count is at least `min_count`. A single occurrence of any weight counts
    /// as 1, so that weights below 1 drop no attributes by default.
    pub fn is_at_least(self, min_count: u32) -> bool {
        match min_count {
            0 | 1 => self.0 > 0.0,
            _ => self.0 >= f64::from(min_count) * (1.0 - Self::ROUNDING),
        }
    }
}

/// N sentences of M tokens in all, as sparse matrices and labels.
///
/// Clones share the matrices.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    pub(super) ends: Vec<u64>, // [N] end of each sentence, in tokens
    /// Node attributes, M rows.
    pub nodes: Arc<SparseRows>,
    /// Edge attributes, M rows. The row of a token belongs to the edge into it, so the row of the
    /// first token of a sentence is empty.
    pub edges: Arc<SparseRows>,
    /// Labels of the first sentences, concatenated. The sentences after them are unlabeled.
    /// [`target`](Self::target) says where a token has no single label.
    pub labels: Vec<LabelId>,
    pub(super) partial: PartialLabels,
    /// Weights of the sentences, `[N]`; `None`: all 1.
    pub weights: Option<Vec<f64>>,
}

impl Dataset {
    /// Returns the number of sentences N.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no sentences.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of tokens M.
    pub fn tokens(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    /// Returns the tokens of sentence `i`.
    pub fn sentence(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        start..self.ends[i] as usize
    }

    /// Returns the number of labeled sentences, which come first.
    pub fn labeled(&self) -> usize {
        self.ends.partition_point(|&end| end <= self.labels.len() as u64)
    }

    /// Returns the number of tokens of labeled sentences that have no single label.
    pub fn partial_tokens(&self) -> usize {
        self.partial.tokens.len()
    }

    /// Returns what is known about the labels of sentence `i`.
    pub fn target(&self, i: usize) -> Target<'_> {
        let tokens = self.sentence(i);
        match self.labels.get(tokens.clone()) {
            Some(labels) if !tokens.is_empty() => match self.partial.tokens.is_empty() {
                true => Target::Gold(labels),
                false => self.partial.target(tokens, labels),
            },
            _ => Target::Unlabeled,
        }
    }

    /// Returns the weight of sentence `i`.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Returns the sum of the weights of some sentences.
    pub fn total_weight(&self, sentences: Range<usize>) -> f64 {
        match &self.weights {
            None => sentences.len() as f64,
            Some(weights) => weights[sentences].iter().sum(),
        }
    }

    /// Returns the total weights of the labeled and of the unlabeled sentences.
    pub fn total_weights(&self) -> [f64; 2] {
        let labeled = self.labeled();
        [0..labeled, labeled..self.len()].map(|sentences| self.total_weight(sentences))
    }

    /// Ends a sentence of this weight.
    pub fn end_sentence(&mut self, tokens: usize, weight: f64) {
        if weight != 1.0 && self.weights.is_none() {
            self.weights = Some(vec![1.0; self.ends.len()]);
        }
        if let Some(weights) = &mut self.weights {
            weights.push(weight);
        }
        self.ends.push(tokens as u64);
    }

    /// Appends the labels that the next token may have, none for any.
    pub fn push_labels(&mut self, labels: &[LabelId]) {
        let label = self.partial.push(self.labels.len(), labels);
        self.labels.push(label);
    }

    /// Copies some of the sentences, labeled ones first.
    pub fn select(&self, sentences: &[usize]) -> Self {
        let mut selected = Self::default();
        selected.append(self, sentences.iter().copied());
        selected
    }

    /// Appends sentences of another data set.
    pub fn append(&mut self, other: &Self, sentences: impl IntoIterator<Item = usize>) {
        let mut labels = Vec::new();
        for i in sentences {
            for token in other.target(i).tokens() {
                labels.clear();
                token.for_each(|label| labels.push(label));
                self.push_labels(&labels);
            }
            // Nobody shares the matrices yet, so nothing is copied.
            let (nodes, edges) = (Arc::make_mut(&mut self.nodes), Arc::make_mut(&mut self.edges));
            for row in other.sentence(i) {
                nodes.push_row_from(&other.nodes, row);
                edges.push_row_from(&other.edges, row);
            }
            let tokens = nodes.len();
            self.end_sentence(tokens, other.weight(i));
        }
    }

    /// Counts the tokens of some sentences at which each column of one of the matrices occurs.
    pub fn column_counts(
        &self,
        matrix: &SparseRows,
        columns: usize,
        sentences: impl IntoIterator<Item = usize>,
    ) -> Vec<ColumnCount> {
        let mut counts = vec![ColumnCount::default(); columns];
        for i in sentences {
            let weight = self.weight(i);
            for row in self.sentence(i) {
                for &column in matrix.row(row).0 {
                    counts[column as usize].add(weight);
                }
            }
        }
        counts
    }

    /// Returns the sentences without their labels, to be labeled again.
    pub fn without_labels(&self) -> Self {
        Self { labels: Vec::new(), partial: PartialLabels::default(), ..self.clone() }
    }

    /// Frees excess capacity.
    pub fn shrink_to_fit(&mut self) {
        Arc::make_mut(&mut self.nodes).shrink_to_fit();
        Arc::make_mut(&mut self.edges).shrink_to_fit();
        self.ends.shrink_to_fit();
        self.labels.shrink_to_fit();
        self.partial.tokens.shrink_to_fit();
        self.partial.sets.shrink_to_fit();
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        8 * self.ends.capacity()
            + 2 * self.labels.capacity()
            + self.partial.memory()
            + self.weights.as_ref().map_or(0, |weights| 8 * weights.capacity())
            + self.nodes.memory()
            + self.edges.memory()
    }
}

/// Weights hash by their bits, and only if there are any.
impl Hash for Dataset {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.ends, &self.nodes, &self.edges, &self.labels).hash(state);
        if !self.partial.tokens.is_empty() {
            self.partial.hash(state);
        }
        for weight in self.weights.iter().flatten() {
            state.write_u64(weight.to_bits());
        }
    }
}

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

impl<'a> Target<'a> {
    /// Iterates over the tokens of a labeled sentence; of an unlabeled one there are none.
    pub fn tokens(self) -> impl Iterator<Item = Allowed<'a>> {
        let (gold, allowed) = match self {
            Self::Gold(labels) => (labels, None),
            Self::Allowed(allowed) => (&[][..], Some(allowed)),
            Self::Unlabeled => (&[][..], None),
        };
        let gold = gold.iter().map(|&label| Allowed::One(label));
        gold.chain(allowed.into_iter().flat_map(AllowedLabels::iter))
    }
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
            match self.sets[next - 1] {
                ANY => Allowed::Any,
                set => Allowed::Some(&self.partial.members[set as usize]),
            }
        })
    }

    /// Returns whether every token may have any label.
    pub fn is_any(self) -> bool {
        self.tokens.len() == self.labels.len() && self.sets.iter().all(|&set| set == ANY)
    }
}

/// The labels of the tokens that have no single one.
#[derive(Clone, Debug, Default, Hash)]
pub struct PartialLabels {
    /// The tokens, ascending.
    pub tokens: Vec<u64>,
    sets: Vec<u32>,             // the set of each token
    members: Vec<Vec<LabelId>>, // [sets] distinct and ascending
    /// The numbers of the sets.
    pub numbers: BTreeMap<Vec<LabelId>, u32>,
}

impl PartialLabels {
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
            _ => *self.numbers.entry(labels).or_insert_with_key(|labels| {
                self.members.push(labels.clone());
                self.members.len() as u32 - 1
            }),
        };
        self.tokens.push(token as u64);
        self.sets.push(set);
        PARTIAL
    }

    /// Returns the target of a sentence with these tokens and labels.
    pub fn target<'a>(&'a self, tokens: Range<usize>, labels: &'a [LabelId]) -> Target<'a> {
        let position = |token: usize| self.tokens.partition_point(|&t| t < token as u64);
        let range = position(tokens.start)..position(tokens.end);
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

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        // Each set is stored twice, once in a map.
        let members: usize = self.members.iter().map(|set| 4 * set.len() + 96).sum();
        8 * self.tokens.capacity() + 4 * self.sets.capacity() + members
    }
}
