//! The groups of weights of a sentence, and a vector over the weights that is 0 but for these: the
//! difference of the features of two label sequences.

use dropchain::kernel::chain::Order;
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::objective::LabelSums;

use crate::problem::Problem;
use crate::rows::Rows;

/// A set of groups of weights.
#[derive(Debug)]
pub(crate) struct Groups {
    pub list: Vec<u32>,
    has: Vec<bool>,
}

impl Groups {
    /// Creates the empty set.
    pub fn new(problem: &Problem<'_>) -> Self {
        Self { list: Vec::new(), has: vec![false; problem.members.len()] }
    }

    /// Removes all groups.
    pub fn clear(&mut self) {
        self.list.drain(..).for_each(|group| self.has[group as usize] = false);
    }

    /// Includes all groups of a sentence.
    pub fn include_sentence(&mut self, rows: &Rows<'_>) {
        let problem = rows.problem;
        for (i, block) in problem.space.blocks().into_iter().enumerate() {
            let first = problem.first_group(i);
            let tokens = if block.is_empty() { 0..0 } else { rows.tokens.clone() };
            for token in tokens {
                let columns = rows.matrices[i].row(token).0.iter();
                columns.for_each(|&column| self.include(first + column as usize));
            }
        }
        self.include(problem.first_group(2));
    }

    fn include(&mut self, group: usize) {
        if !std::mem::replace(&mut self.has[group], true) {
            self.list.push(group as u32);
        }
    }
}

/// A vector over the weights that is 0 outside of some groups. Of a class of attributes it has the
/// numbers of one member.
#[derive(Debug)]
pub(crate) struct SentenceVector {
    /// The numbers, `[dimension]`.
    pub values: Vec<f64>,
    /// The groups.
    pub groups: Groups,
    sums: LabelSums, // a buffer
}

impl SentenceVector {
    /// Creates the vector 0.
    pub fn new(problem: &Problem<'_>) -> Self {
        let values = vec![0.0; problem.space.dimension()];
        Self { values, groups: Groups::new(problem), sums: LabelSums::default() }
    }

    /// Makes the vector 0.
    fn clear(&mut self, problem: &Problem<'_>) {
        let groups = self.groups.list.iter();
        groups.for_each(|&group| self.values[problem.group(group as usize)].fill(0.0));
        self.groups.clear();
    }

    /// Sets this to the features of a path of a sentence minus those of another one, in ascending
    /// groups.
    pub fn set_difference(&mut self, rows: &Rows<'_>, paths: [&[LabelId]; 2]) {
        let problem = rows.problem;
        self.clear(problem);
        let stride = problem.space.stride() as u32;
        let node = |t: usize| paths.map(|path| u32::from(path[t].0));
        let edge = |t: usize| match (t, problem.space.order()) {
            (0, _) | (_, Order::Zero) => [0; 2],
            _ => paths.map(|path| u32::from(path[t - 1].0) * stride + u32::from(path[t].0)),
        };
        let mut sums = std::mem::take(&mut self.sums);
        sums.clear(problem.space.labels() * stride as usize, stride as usize);
        let last = rows.tokens.len() - 1;
        add_difference(&mut sums.first, node(0));
        add_difference(&mut sums.last, node(last));
        for (t, token) in rows.tokens.clone().enumerate() {
            self.add_attributes(rows, 0, token, node(t));
            self.add_attributes(rows, 1, token, edge(t));
            add_difference(&mut sums.pairs, edge(t));
        }
        self.groups.include(problem.first_group(2));
        let labels = [&sums.pairs[..], &sums.first, &sums.last];
        problem.space.add_label_gradient(labels, &mut self.values);
        self.sums = sums;
        self.groups.list.sort_unstable();
    }

    /// Adds the attributes of a token with the score at one position, and subtracts those with the
    /// score at another.
    fn add_attributes(&mut self, rows: &Rows<'_>, i: usize, token: usize, positions: [u32; 2]) {
        let block = rows.problem.space.blocks()[i];
        if positions[0] == positions[1] || block.is_empty() {
            return;
        }
        let first = rows.problem.first_group(i);
        for (column, value) in rows.matrices[i].entries(token) {
            self.groups.include(first + column as usize);
            for (position, value) in positions.into_iter().zip([value, -value]) {
                if let Some(index) = block.targets.index(column as usize, position) {
                    self.values[block.range.start + index] += value;
                }
            }
        }
    }
}

fn add_difference(sums: &mut [f64], positions: [u32; 2]) {
    sums[positions[0] as usize] += 1.0;
    sums[positions[1] as usize] -= 1.0;
}
