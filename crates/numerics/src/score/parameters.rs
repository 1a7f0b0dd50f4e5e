//! The layout of θ.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::observed::{Frequencies, ObservedLabels};
use super::targets::{FeatureBlock, Targets};
use crate::chain::{self, LabelWeights, Order, Transitions};
use crate::data::{Classes, Dataset};
use crate::math::{add, set_zeros};

/// Whether the first and the last label of a sentence have weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Boundary {
    /// They do.
    #[default]
    On,
    /// They do not, as in CRFsuite.
    Off,
}

crate::named!(Boundary, "switch of boundary weights": On = "on", Off = "off");

/// Which (attribute, label) pairs have weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum States {
    /// All pairs.
    All,
    /// Pairs that occur in the training data, as in CRFsuite.
    Observed,
}

crate::named!(States, "set of pairs": All = "all", Observed = "observed");

/// Options that determine which parameters exist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpaceOptions {
    /// Order of the chain.
    pub order: Order,
    /// Whether there are boundary weights.
    pub boundary: Boundary,
    /// Which (attribute, label) pairs have weights.
    pub states: States,
    /// Whether label pairs have weights without an attribute (order 1 only).
    pub transitions: bool,
    /// Which label pairs, first labels and last labels have such weights.
    pub label_pairs: States,
    /// The frequency below which weights do not exist.
    pub min_frequency: Option<f64>,
}

impl SpaceOptions {
    /// All parameters of a first-order chain.
    pub const FIRST_ORDER: Self = Self {
        order: Order::One,
        boundary: Boundary::On,
        states: States::All,
        transitions: true,
        label_pairs: States::All,
        min_frequency: None,
    };
}

/// Weights that exist whether or not they are observed.
#[derive(Clone, Debug, Default)]
pub struct ExtraWeights {
    /// Weights of node attributes: column, and position of the score.
    pub nodes: Vec<(u32, u32)>,
    /// Weights of edge attributes: column, and position of the score.
    pub edges: Vec<(u32, u32)>,
    /// Weights of node attributes that count as observed, with a value of 0.
    pub occurring: Vec<(u32, u32)>,
    /// Positions of label pairs, first labels and last labels.
    pub labels: [Vec<u32>; 3],
}

/// The layout of θ: node weights, edge weights, transitions, start, end.
///
/// Clones share the layout of attribute weights.
#[derive(Clone, Debug)]
pub struct ParameterSpace {
    labels: usize, // K
    stride: usize, // K padded
    order: Order,
    /// Node attributes: one column per class.
    pub nodes: Arc<FeatureBlock>,
    /// Edge attributes: one column per class.
    pub edges: Arc<FeatureBlock>,
    label_blocks: Vec<FeatureBlock>, // transitions, start, end: one column each, or none
    dimension: usize,
}

impl ParameterSpace {
    /// Lays out the parameters for K `labels`, given the collapsed training data and its classes
    /// of node and edge attributes.
    pub fn new(
        labels: usize,
        data: &Dataset,
        node_classes: &Classes,
        edge_classes: &Classes,
        options: SpaceOptions,
    ) -> Self {
        let classes = [node_classes, edge_classes];
        Self::including(labels, data, classes, options, ExtraWeights::default())
    }

    /// Like [`new`](Self::new), but `extra` weights exist, too.
    pub fn including(
        labels: usize,
        data: &Dataset,
        classes: [&Classes; 2],
        options: SpaceOptions,
        extra: ExtraWeights,
    ) -> Self {
        let stride = chain::padded(labels);
        let frequencies =
            options.min_frequency.and_then(|min| Frequencies::new(data, [labels, stride], min));
        let by_token = options.states == States::Observed || frequencies.is_some();
        let observed = ObservedLabels::new(data, labels, stride, by_token);
        let frequencies = frequencies.as_ref();
        let matrices = [(&*data.nodes, 1), (&*data.edges, labels)];
        let mut extra_weights = [(extra.occurring, extra.nodes), (Vec::new(), extra.edges)];
        let attributes = [0, 1].map(|i| {
            let ((rows, height), positions) = (matrices[i], &observed.at[i]);
            let (occurring, more) = std::mem::take(&mut extra_weights[i]);
            let columns = classes[i].len();
            let all = match options.states {
                States::All => Targets::all(columns, labels, stride, height),
                States::Observed => {
                    let of = |token| positions.of(token);
                    Targets::observed(columns, labels, stride, height, rows, of)
                }
            };
            let all = all.including(occurring);
            let frequent = match frequencies {
                None => all,
                Some(frequencies) => frequencies.retain(all, rows, positions),
            };
            frequent.including(more)
        });
        let has_pairs = options.order == Order::One && options.transitions;
        let has_boundary = options.boundary == Boundary::On;
        let exist = [(has_pairs, labels), (has_boundary, 1), (has_boundary, 1)];
        let all_pairs = options.label_pairs == States::All;
        let positions = match frequencies {
            None => observed.labels,
            Some(frequencies) => frequencies.label_positions(&observed, all_pairs),
        };
        let positions = positions.into_iter().zip(extra.labels).zip(exist);
        let label_targets = positions.map(|((positions, more), (exists, height))| {
            if !exists || (all_pairs && frequencies.is_none()) {
                return Targets::all(usize::from(exists), labels, stride, height);
            }
            let more = more.into_iter().map(|position| (0, position)).collect();
            Targets::single(labels, stride, height, positions).including(more)
        });
        Self::of_targets(options.order, attributes, classes, label_targets.collect())
    }

    /// Lays out the weights of node and edge attributes, and of transitions, start and end.
    fn of_targets(
        order: Order,
        [nodes, edges]: [Targets; 2],
        [node_classes, edge_classes]: [&Classes; 2],
        labels: Vec<Targets>,
    ) -> Self {
        let mut end = 0;
        let mut block = |targets: Targets, scale: Vec<f64>| {
            let start = end;
            end += targets.weights();
            FeatureBlock { range: start..end, targets, scale }
        };
        let nodes = Arc::new(block(nodes, node_classes.scales()));
        let edges = Arc::new(block(edges, edge_classes.scales()));
        let label_blocks = labels.into_iter().map(|targets| block(targets, Vec::new())).collect();
        Self {
            labels: nodes.targets.labels,
            stride: nodes.targets.stride,
            order,
            label_blocks,
            nodes,
            edges,
            dimension: end,
        }
    }

    /// Returns the number of parameters.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the blocks of node and edge attributes.
    pub fn blocks(&self) -> [&FeatureBlock; 2] {
        [&self.nodes, &self.edges]
    }

    /// Returns the memory usage in bytes, excluding the weights.
    pub fn memory(&self) -> usize {
        self.blocks().into_iter().map(|block| block.targets.memory()).sum()
    }

    /// Returns the number of labels K.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns K padded to whole SIMD vectors: the distance between rows of scores.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns the order of the chain.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns the label pairs that have transition weights, as positions a·stride + b, ascending,
    /// if not all have one.
    pub fn label_pairs(&self) -> Option<&[u32]> {
        let block = &self.label_blocks[0];
        let targets = &block.targets;
        let is_observed = !block.is_empty() && targets.is_observed();
        is_observed.then(|| targets.positions(targets.range(0)))
    }

    /// Returns √m for each parameter, `[dimension]`: that of a class of m attributes is √m times
    /// the weight of each. Parameters of label pairs and boundaries are the weights themselves.
    pub fn scales(&self) -> Vec<f64> {
        let mut scales = vec![1.0; self.dimension()];
        for block in self.blocks() {
            let scales = block.weights_mut(&mut scales);
            for (column, &scale) in block.scale.iter().enumerate() {
                scales[block.targets.range(column)].fill(scale);
            }
        }
        scales
    }

    /// Returns the number P of label pairs that have transition weights, if inference works by
    /// pairs ([`Transitions::is_sparse`]).
    pub fn sparse_pairs(&self) -> Option<usize> {
        let pairs = self.pairs_without_attributes()?.len();
        Transitions::is_sparse(self.labels, self.order, pairs).then_some(pairs)
    }

    /// Returns the label pairs that have weights, if not all do and there are no edge attributes.
    fn pairs_without_attributes(&self) -> Option<&[u32]> {
        self.label_pairs().filter(|_| self.edges.is_empty())
    }

    /// Creates transitions for the label weights of θ, all 0: by pairs if few pairs have weights.
    pub fn transitions(&self) -> Transitions {
        Transitions::for_pairs(self.labels, self.order, self.pairs_without_attributes())
    }

    /// Sets [`transitions`](Self::transitions) to the label weights of θ. `weights` is a buffer.
    pub fn set_transitions(
        &self,
        theta: &[f64],
        weights: &mut LabelWeights,
        transitions: &mut Transitions,
    ) {
        if transitions.pairs().is_none() {
            self.label_weights(theta, weights);
            transitions.set(&weights.transitions, &weights.start, &weights.end);
        } else {
            self.boundary_weights(theta, weights);
            let scores = self.label_blocks[0].weights(theta);
            transitions.set_pairs(scores, &weights.start, &weights.end);
        }
    }

    /// Copies the transition and boundary weights of θ to `weights`; absent ones are 0.
    pub fn label_weights(&self, theta: &[f64], weights: &mut LabelWeights) {
        let k = self.labels;
        spread(&self.label_blocks[0], theta, [k, k], &mut weights.transitions);
        self.boundary_weights(theta, weights);
    }

    fn boundary_weights(&self, theta: &[f64], weights: &mut LabelWeights) {
        let boundaries = [&mut weights.start, &mut weights.end];
        for (block, weights) in self.label_blocks[1..].iter().zip(boundaries) {
            spread(block, theta, [1, self.labels], weights);
        }
    }

    /// Writes transition and boundary weights into θ. Those that θ does not have are left out.
    pub fn set_label_weights(&self, weights: &LabelWeights, theta: &mut [f64]) {
        let weights = [&weights.transitions, &weights.start, &weights.end];
        for (block, weights) in self.label_blocks.iter().zip(weights) {
            if !block.is_empty() {
                let theta = block.weights_mut(theta);
                block.targets.for_each(0, |position, index| {
                    let (a, b) = (position / self.stride, position % self.stride);
                    theta[index] = weights[a * self.labels + b];
                });
            }
        }
    }

    /// Adds the derivatives with respect to transition scores `[K][stride]`, or `[P]` if only P
    /// pairs have weights, start scores and end scores `[stride]` to the gradient.
    pub fn add_label_gradient(&self, derivatives: [&[f64]; 3], gradient: &mut [f64]) {
        for (block, derivatives) in self.label_blocks.iter().zip(derivatives) {
            if !block.is_empty() {
                let gradient = block.weights_mut(gradient);
                if derivatives.len() == gradient.len() {
                    add(gradient, derivatives);
                    continue;
                }
                let add = |position: usize, index: usize| gradient[index] += derivatives[position];
                block.targets.for_each(0, add);
            }
        }
    }
}

/// Writes the weights of θ to a matrix of this shape without padding; absent ones are 0.
fn spread(block: &FeatureBlock, theta: &[f64], [height, labels]: [usize; 2], out: &mut Vec<f64>) {
    set_zeros(out, height * labels);
    let (theta, targets) = (block.weights(theta), &block.targets);
    if !block.is_empty() && !targets.is_observed() {
        out.copy_from_slice(theta);
    } else if !block.is_empty() {
        targets.for_each(0, |position, index| {
            out[position / targets.stride * labels + position % targets.stride] = theta[index];
        });
    }
}
