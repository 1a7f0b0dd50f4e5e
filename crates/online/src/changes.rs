//! The difference between the features of two label sequences of a sentence.

use super::columns::{SentenceEntries, value};
use super::problem::Problem;
use dropchain::chain::Order;
use dropchain::ids::LabelId;

/// A weight that counts more often, or less often, on one path than on another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// Its slot.
    pub slot: usize,
    /// The sum of its values on the first path, minus that on the second.
    pub difference: f64,
    /// Members m of its class of attributes.
    pub members: f64,
}

/// The changes between two paths; a reusable workspace.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// One for each weight that differs, in a fixed order.
    pub all: Vec<Change>,
    nodes: Vec<[u32; 2]>, // [T] positions of the scores on the first and second path
    edges: Vec<[u32; 2]>, // [T] those of edges; equal at the first token
    differences: Vec<(u32, f64)>, // position, difference, of one column
}

impl Changes {
    /// Finds the changes from path `other` to path `gold`.
    pub fn find(
        &mut self,
        problem: &Problem<'_>,
        sentence: usize,
        gold: &[LabelId],
        other: &[LabelId],
    ) {
        self.all.clear();
        self.set_positions(problem, gold, other);
        let positions = [std::mem::take(&mut self.nodes), std::mem::take(&mut self.edges)];
        for (i, positions) in positions.iter().enumerate() {
            if !problem.space.blocks()[i].is_empty() {
                let entries = problem.columns[i].sentence(sentence);
                self.add_rows(problem, i, &entries, positions);
                self.add_singles(problem, i, &entries, positions);
            }
        }
        self.add_labels(problem, &positions, gold.len());
        [self.nodes, self.edges] = positions;
    }

    /// Sets the positions of the scores of both paths at each token.
    fn set_positions(&mut self, problem: &Problem<'_>, gold: &[LabelId], other: &[LabelId]) {
        let stride = problem.space.stride() as u32;
        let paths = gold.iter().zip(other);
        self.nodes.clear();
        self.nodes.extend(paths.map(|(a, b)| [u32::from(a.0), u32::from(b.0)]));
        self.edges.clear();
        if problem.space.order() == Order::Zero {
            return self.edges.resize(gold.len(), [0; 2]);
        }
        self.edges.push([0; 2]);
        let pairs = self.nodes.windows(2);
        self.edges.extend(
            pairs.map(|pair| [0, 1].map(|path: usize| pair[0][path] * stride + pair[1][path])),
        );
    }

    fn add_rows(
        &mut self,
        problem: &Problem<'_>,
        block: usize,
        entries: &SentenceEntries<'_>,
        positions: &[[u32; 2]],
    ) {
        let slots = &problem.layout.blocks[block];
        for (row, tokens, values) in entries.iter_rows() {
            for (i, &token) in tokens.iter().enumerate() {
                let [gold, other] = positions[token as usize];
                if gold != other {
                    let x = value(values, i);
                    self.differences.extend([(gold, x), (other, -x)]);
                }
            }
            if !self.differences.is_empty() {
                let first = slots.rows + row.row as usize * slots.width;
                self.push_differences(problem, first, f64::from(row.members));
            }
        }
    }

    fn add_singles(
        &mut self,
        problem: &Problem<'_>,
        block: usize,
        entries: &SentenceEntries<'_>,
        positions: &[[u32; 2]],
    ) {
        let first = problem.layout.blocks[block].singles;
        for (single, range) in entries.iter_singles() {
            let mut change = Change {
                slot: first + single.slot as usize,
                difference: 0.0,
                members: f64::from(single.members),
            };
            let mut has_changed = false;
            for i in range {
                let [gold, other] = positions[entries.singles[i].token as usize];
                if gold != other && (gold == single.position || other == single.position) {
                    let x = entries.single_value(i);
                    change.difference += if gold == single.position { x } else { -x };
                    has_changed = true;
                }
            }
            if has_changed {
                self.all.push(change);
            }
        }
    }

    /// Adds the changes of transitions and boundary weights.
    fn add_labels(&mut self, problem: &Problem<'_>, positions: &[Vec<[u32; 2]>; 2], length: usize) {
        let [nodes, edges] = positions;
        let layout = &problem.layout;
        for (first, positions) in [
            (layout.transitions.start, &edges[..]),
            (layout.start.start, &nodes[..1]),
            (layout.end.start, &nodes[length - 1..]),
        ] {
            for &[gold, other] in positions {
                if gold != other {
                    self.differences.extend([(gold, 1.0), (other, -1.0)]);
                }
            }
            self.push_differences(problem, first, 1.0);
        }
    }

    /// Moves the differences of a row of slots to the changes: sums of equal positions, if there is
    /// a weight.
    fn push_differences(&mut self, problem: &Problem<'_>, first: usize, members: f64) {
        // Stable, so that the order of summation is that of the tokens.
        self.differences.sort_by_key(|&(position, _)| position);
        let mut sums = self.differences.chunk_by(|a, b| a.0 == b.0);
        let changes = std::iter::from_fn(|| {
            let equal = sums.next()?;
            Some(Change {
                slot: first + equal[0].0 as usize,
                difference: equal.iter().map(|&(_, x)| x).sum(),
                members,
            })
        });
        self.all.extend(changes.filter(|change| problem.layout.has_weight(change.slot)));
        self.differences.clear();
    }

    /// Returns the score of the first path minus that of the second.
    pub fn score(&self, weights: &[f64]) -> f64 {
        let changes = self.all.iter();
        changes.map(|c| c.difference * weights[c.slot]).sum()
    }
}
