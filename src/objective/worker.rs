//! One chunk of sentences: likelihood, noise term, and their derivatives by scores and variances.

use std::ops::Range;

use super::features::{AttributeSums, Features, take_feature_gradient};
use super::noise::{LabelVariances, Noise, NoiseDistribution};
use super::{LabelSums, add};
use crate::chain::LabelWeights;
use crate::chain::{EdgeSums, Lattice, Order, Scores, Transitions};
use crate::extract::Dataset;
use crate::ids::LabelId;
use crate::noise::{self, Engine, Regularizer};
use crate::score::{ForwardProduct, ParameterSpace};

/// What all workers of an evaluation read.
pub(super) struct Shared<'a> {
    pub data: &'a Dataset,
    pub space: &'a ParameterSpace,
    pub rows: &'a [ForwardProduct; 2],
    pub theta: &'a [f64],
    pub transitions: &'a Transitions,
    pub weights: &'a LabelWeights,
    pub noise: Option<&'a Noise>,
    pub variances: &'a LabelVariances,
}

impl Shared<'_> {
    /// What the engines share.
    fn engine(&self) -> noise::ChainContext<'_> {
        noise::ChainContext {
            transitions: self.transitions,
            variance: &self.variances.pairs,
        }
    }

    /// Whether the variances of a token depend on its attributes.
    fn is_proportional(&self) -> bool {
        self.noise.is_some() && self.variances.node.is_empty()
    }
}

/// Where a chunk leaves its derivatives: those of nodes `[tokens][stride]`, and of edges
/// `[tokens][K][stride]` (empty without edge attributes; the first token's line of a sentence stays 0).
pub(super) struct Buffers<'a> {
    pub scores: [&'a mut [f64]; 2],
    /// Empty without proportional noise.
    pub variances: [&'a mut [f64]; 2],
}

/// Scratch space and sums for the sentences of one chunk.
#[derive(Debug)]
pub(super) struct Worker {
    lattice: Lattice,
    edge_sums: EdgeSums,
    engine: Option<Box<dyn Regularizer>>,
    variances: [Vec<f64>; 2],   // of the sentence at hand: nodes, edges
    node_derivatives: Vec<f64>, // by its node variances, under additive noise
    features: Features,
    /// Derivatives by weights of attributes, where the engine gives these: nodes, edges.
    pub attributes: [AttributeSums; 2],
    /// − Σ log p(y|x) over the chunk.
    pub loss: f64,
    /// Its noise term.
    pub noise: f64,
    /// Its sums: pairs are expected counts, first and last labels expected minus observed ones.
    pub sums: LabelSums,
}

impl Worker {
    pub fn new(transitions: &Transitions, engine: Option<Engine>) -> Self {
        Self {
            lattice: Lattice::default(),
            edge_sums: EdgeSums::new(transitions),
            engine: engine.map(Engine::regularizer),
            variances: [Vec::new(), Vec::new()],
            node_derivatives: Vec::new(),
            features: Features::default(),
            attributes: Default::default(),
            loss: 0.0,
            noise: 0.0,
            sums: LabelSums::default(),
        }
    }

    /// Runs the sentences `chunk`.
    pub fn run(&mut self, shared: &Shared<'_>, chunk: Range<usize>, buffers: Buffers<'_>) {
        let (labels, stride) = (shared.space.labels(), shared.space.stride());
        self.loss = 0.0;
        self.noise = 0.0;
        self.sums.clear(labels, stride);
        self.attributes.iter_mut().for_each(AttributeSums::clear);
        self.edge_sums.clear();
        if let Some(engine) = &mut self.engine {
            engine.begin(shared.engine());
        }
        let Buffers {
            scores: [mut nodes, mut edges],
            variances: [mut node_variances, mut edge_variances],
        } = buffers;
        for i in chunk {
            let tokens = shared.data.sentence(i);
            let widths = [stride, shared.space.edges.width()];
            let sentence = Buffers {
                scores: [
                    cut(&mut nodes, tokens.len() * widths[0]),
                    cut(&mut edges, tokens.len() * widths[1]),
                ],
                variances: [
                    cut(&mut node_variances, tokens.len() * widths[0]),
                    cut(&mut edge_variances, tokens.len() * widths[1]),
                ],
            };
            if !tokens.is_empty() {
                self.sentence(shared, tokens, sentence);
            }
        }
        if shared.space.order() == Order::One {
            self.edge_sums
                .finish(shared.transitions, &mut self.sums.pairs);
        }
        if let Some(engine) = &mut self.engine {
            let derivatives = noise::ChainDerivatives {
                scores: &mut self.sums.pairs,
                variance: &mut self.sums.pair_variances,
            };
            engine.finish(shared.engine(), derivatives);
        }
    }

    fn sentence(&mut self, shared: &Shared<'_>, tokens: Range<usize>, buffers: Buffers<'_>) {
        let Buffers {
            scores: [nodes, edges],
            variances,
        } = buffers;
        let labels = shared.data.labels.get(tokens.clone()).unwrap_or_default();
        self.write_scores(shared, &tokens, nodes, edges);
        let scores = Scores {
            node: nodes,
            edge: (!edges.is_empty()).then_some(&*edges),
        };
        let log_partition = self.lattice.forward_backward(shared.transitions, scores);
        if labels.is_empty() {
            nodes.fill(0.0);
            edges.fill(0.0);
        } else {
            self.loss += log_partition - gold_score(shared, labels, nodes, edges);
            self.likelihood_derivatives(shared, labels, nodes, edges);
        }
        if shared.noise.is_some() {
            let unlabeled = labels.is_empty();
            self.regularize(shared, (tokens, unlabeled), [nodes, edges], variances);
        }
        let stride = shared.space.stride();
        add(&mut self.sums.first, &nodes[..stride]);
        add(&mut self.sums.last, &nodes[nodes.len() - stride..]);
    }

    /// Turns scores into derivatives of −log p(y|x) by scores.
    fn likelihood_derivatives(
        &mut self,
        shared: &Shared<'_>,
        labels: &[LabelId],
        nodes: &mut [f64],
        edges: &mut [f64],
    ) {
        let (stride, width) = (shared.space.stride(), shared.space.edges.width());
        nodes.copy_from_slice(self.lattice.node_marginals());
        for (row, label) in nodes.chunks_exact_mut(stride).zip(labels) {
            row[label.index()] -= 1.0;
        }
        if shared.space.order() == Order::Zero {
            return;
        }
        self.lattice
            .add_edge_expectations(shared.transitions, &mut self.edge_sums);
        let rows = edges.chunks_exact_mut(width).enumerate().skip(1);
        for ((t, row), pair) in rows.zip(labels.windows(2)) {
            self.lattice.edge_marginals(shared.transitions, t, row);
            row[pair[0].index() * stride + pair[1].index()] -= 1.0;
        }
    }

    /// Adds the noise term and its derivatives.
    fn regularize(
        &mut self,
        shared: &Shared<'_>,
        (tokens, unlabeled): (Range<usize>, bool),
        [nodes, edges]: [&mut [f64]; 2],
        [by_node_variance, by_edge_variance]: [&mut [f64]; 2],
    ) {
        let (Some(noise), Some(engine)) = (shared.noise, &mut self.engine) else {
            return;
        };
        let stride = shared.space.stride();
        let [node_variance, edge_variance] = &mut self.variances;
        if !shared.is_proportional() {
            node_variance.clear();
            for _ in 0..nodes.len() / stride {
                node_variance.extend_from_slice(&shared.variances.node);
            }
            edge_variance.clear();
        }
        add(&mut node_variance[..stride], &shared.variances.start);
        let last = nodes.len() - stride;
        add(&mut node_variance[last..], &shared.variances.end);

        let by_node_variance = if by_node_variance.is_empty() {
            self.node_derivatives.resize(nodes.len(), 0.0);
            &mut self.node_derivatives[..]
        } else {
            by_node_variance
        };
        by_node_variance.fill(0.0);
        by_edge_variance.fill(0.0);
        let [labeled_weight, unlabeled_weight] =
            noise.weights(shared.data.labeled(), shared.data.unlabeled());
        let sentence = noise::SentenceInput {
            lattice: &self.lattice,
            node_variance,
            edge_variance: (!edge_variance.is_empty()).then_some(edge_variance),
            weight: if unlabeled {
                unlabeled_weight
            } else {
                labeled_weight
            },
            features: self.features.of(shared, noise.engine, tokens),
        };
        let derivatives = noise::Derivatives {
            node: nodes,
            edge: (!edges.is_empty()).then_some(edges),
            node_variance: by_node_variance,
            edge_variance: (!by_edge_variance.is_empty()).then_some(by_edge_variance),
        };
        self.noise += engine.regularize(shared.engine(), sentence, derivatives);
        if let Some(gradient) = engine.feature_gradient() {
            let boundary = shared.space.nodes.columns() as u32;
            take_feature_gradient(gradient, boundary, &mut self.attributes, &mut self.sums);
        }
        let sums = &mut self.sums;
        add(&mut sums.first_variances, &by_node_variance[..stride]);
        add(&mut sums.last_variances, &by_node_variance[last..]);
        if noise.scheme == NoiseDistribution::Additive {
            for row in by_node_variance.chunks_exact(stride) {
                add(&mut sums.node_variances, row);
            }
        }
    }

    /// Writes the scores of a sentence, and where noise is proportional to the values their variances
    /// without those of the boundary.
    fn write_scores(
        &mut self,
        shared: &Shared<'_>,
        tokens: &Range<usize>,
        nodes: &mut [f64],
        edges: &mut [f64],
    ) {
        let (space, data) = (shared.space, shared.data);
        let rates = shared.noise.map_or([0.0; 2], Noise::rates);
        let node_part = (&data.nodes, &space.nodes, &space.node_scale[..]);
        let edge_part = (&data.edges, &space.edges, &space.edge_scale[..]);
        let parts = [
            (node_part, space.node_range(), nodes),
            (edge_part, space.edge_range(), edges),
        ];
        for (i, (part, range, scores)) in parts.into_iter().enumerate() {
            let variances = shared.is_proportional().then(|| {
                self.variances[i].resize(scores.len(), 0.0);
                (&mut self.variances[i][..], rates[i])
            });
            let weights = &shared.theta[range];
            shared.rows[i].write(part, weights, tokens.clone(), scores, variances);
        }
    }
}

/// Takes the first `length` numbers off a slice; none off an empty one.
pub(super) fn cut<'a>(numbers: &mut &'a mut [f64], length: usize) -> &'a mut [f64] {
    let length = length.min(numbers.len());
    let (head, tail) = std::mem::take(numbers).split_at_mut(length);
    *numbers = tail;
    head
}

/// Writes the scores of a sentence: `nodes` `[T][stride]`, `edges` `[T][K][stride]` (or empty).
pub(crate) fn write_scores(
    data: &Dataset,
    space: &ParameterSpace,
    theta: &[f64],
    tokens: Range<usize>,
    nodes: &mut [f64],
    edges: &mut [f64],
) {
    nodes.fill(0.0);
    let weights = &theta[space.node_range()];
    for (token, scores) in tokens.clone().zip(nodes.chunks_exact_mut(space.stride())) {
        let row = data.nodes.row(token);
        space
            .nodes
            .add_scores(weights, &space.node_scale, row, scores);
    }
    edges.fill(0.0);
    let weights = &theta[space.edge_range()];
    for (token, scores) in tokens.zip(edges.chunks_exact_mut(space.edges.width().max(1))) {
        let row = data.edges.row(token);
        space
            .edges
            .add_scores(weights, &space.edge_scale, row, scores);
    }
}

/// The score of the labels that the corpus gives.
fn gold_score(shared: &Shared<'_>, labels: &[LabelId], nodes: &[f64], edges: &[f64]) -> f64 {
    let (k, stride) = (shared.space.labels(), shared.space.stride());
    let weights = shared.weights;
    let mut score = 0.0;
    if let (Some(first), Some(last)) = (labels.first(), labels.last()) {
        score += weights.start[first.index()] + weights.end[last.index()];
    }
    for (row, label) in nodes.chunks_exact(stride).zip(labels) {
        score += row[label.index()];
    }
    if shared.space.order() == Order::One {
        for (t, pair) in labels.windows(2).enumerate() {
            let (a, b) = (pair[0].index(), pair[1].index());
            score += weights.transitions[a * k + b];
            if !edges.is_empty() {
                score += edges[((t + 1) * k + a) * stride + b];
            }
        }
    }
    score
}
