//! The data of a learner, and the weights that it changes.
//!
//! Weights have the layout of the parameters θ ([`ParameterSpace`]), and the rows of the design
//! matrices are those of training. A class of m attributes with identical columns has the parameter
//! φ = √m·θ and the score √m·φ there. Here it has the weight w = m·θ, so that scores are sums
//! without factors, and sums of integers stay exact; the number of members enters the updates.

use std::ops::Range;

use dropchain::kernel::extract::Dataset;
use dropchain::kernel::score::ParameterSpace;
use serde::{Deserialize, Serialize};

/// The data and the layout of the weights, which do not change during training.
///
/// Weights form groups, which are numbered: those of each column of node attributes, of each column
/// of edge attributes, and at last those of label pairs, starts and ends.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub data: &'a Dataset,
    pub space: &'a ParameterSpace,
    /// Members m of the class of attributes of each group; of label weights 1.
    pub members: Vec<f64>,
}

impl<'a> Problem<'a> {
    pub fn new(data: &'a Dataset, space: &'a ParameterSpace) -> Self {
        // Scales are square roots of integers far below 2⁵⁰, so rounding recovers these.
        let scales = space.blocks().into_iter().flat_map(|block| &block.scale);
        let members = scales.map(|scale| (scale * scale).round()).chain([1.0]).collect();
        Self { data, space, members }
    }

    /// Returns the group of the first column of node (0) or of edge attributes (1), or that of the
    /// label weights (2).
    pub fn first_group(&self, block: usize) -> usize {
        self.space.blocks()[..block].iter().map(|block| block.columns()).sum()
    }

    /// Returns the range of the weights of a group.
    pub fn group(&self, group: usize) -> Range<usize> {
        let [nodes, edges] = self.space.blocks();
        let (block, column) = match group.checked_sub(nodes.columns()) {
            None => (nodes, group),
            Some(column) if column < edges.columns() => (edges, column),
            Some(_) => return edges.range.end..self.space.dimension(),
        };
        let weights = block.targets.range(column);
        block.range.start + weights.start..block.range.start + weights.end
    }

    /// Returns the weights for the parameters θ.
    pub fn weights(&self, mut theta: Vec<f64>) -> Vec<f64> {
        self.for_each_scale(|group, scale| theta[group].iter_mut().for_each(|w| *w *= scale));
        theta
    }

    /// Computes the parameters θ from the weights, of which `weight(i)` is one.
    pub fn write(&self, weight: impl Fn(usize) -> f64, theta: &mut [f64]) {
        theta.iter_mut().enumerate().for_each(|(i, w)| *w = weight(i));
        self.for_each_scale(|group, scale| theta[group].iter_mut().for_each(|w| *w /= scale));
    }

    /// Calls `visit` with each group of several members, and √m.
    fn for_each_scale(&self, mut visit: impl FnMut(Range<usize>, f64)) {
        let several = self.members.iter().enumerate().filter(|(_, m)| **m != 1.0);
        several.for_each(|(group, m)| visit(self.group(group), m.sqrt()));
    }
}

/// The state that epochs change: a learner continues from it to the same bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The number of epochs so far.
    pub epochs: usize,
    /// The number of sentences that were learned from.
    pub steps: u64,
    /// The learning rate η, once it is calibrated.
    pub eta: Option<f64>,
    /// The objectives of the last epochs, of stochastic gradient descent.
    pub history: Vec<f64>,
    /// The weights, `[dimension]`.
    pub weights: Vec<f64>,
    /// A number beside each weight, or none: the sum s of changes, or a variance.
    pub sums: Vec<f64>,
    /// The epoch with the lowest objective, if it is kept.
    pub lowest: Option<LowestEpoch>,
}

/// The epoch with the lowest objective so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LowestEpoch {
    /// Number of the epoch; 0 if there is none yet.
    pub epoch: usize,
    objective: f64,
    /// The parameters θ after it.
    pub theta: Vec<f64>,
}

impl LowestEpoch {
    pub fn record(&mut self, epoch: usize, objective: f64, theta: &[f64]) {
        if self.epoch == 0 || objective < self.objective {
            (self.epoch, self.objective) = (epoch, objective);
            self.theta.clear();
            self.theta.extend_from_slice(theta);
        }
    }
}
