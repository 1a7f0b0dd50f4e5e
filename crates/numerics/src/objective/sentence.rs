//! The value and gradient of one sentence, from its scores.
//!
//! Inputs are the scores S of nodes and edges, and under noise their variances V. Outputs are
//! −log p(Y|x), R, and the derivatives ∂J/∂S (which overwrite S) and ∂J/∂V.
//!
//! The likelihood. With the log-partition A and the marginals μ = ∇A (forward-backward),
//!
//! ```text
//! −log p(y|x) = A(s) − score(y)          ∂/∂s[t][a][b] = μ[t][a][b] − 1{y_{t−1} = a, y_t = b}
//! ```
//!
//! Where tokens have partial labels (Tsuboi et al. 2008), Y are the paths that these allow:
//!
//! ```text
//! −log p(Y|x) = A(s) − A_Y(s)            ∂/∂s[t][a][b] = μ[t][a][b] − μ_Y[t][a][b]
//! ```
//!
//! where A_Y is the log-partition over the paths of Y alone, and μ_Y = ∇A_Y are the marginals given
//! that the path is in Y: a second forward-backward, with a mask. If Y are all paths, both are 0.
//!
//! Source: Tsuboi, Kashima, Mori, Oda and Matsumoto, "Training conditional random fields using
//! incomplete annotations", COLING 2008, equations 4 to 6.
//!
//! All terms of a sentence are multiplied by its weight.
//!
//! The noise term λ·R, eq. 14 of Wang et al. 2013, comes from a [`Regularizer`]. It reads the
//! marginals from the same lattice, and treats labeled and unlabeled sentences alike.
//!
//! Transitions and boundary weights are added to the scores of every sentence, so their derivatives
//! are sums over sentences ([`LabelSums`]). The derivative of the likelihood with respect to
//! transitions is expected minus observed counts; the observed counts never change, so the caller
//! subtracts them.
//!
//! Time O(TK²); once warm, it does not allocate. The kernel knows neither attributes nor θ, so
//! batch and online training can share it.

use super::buffers::LabelSums;
use crate::chain::{EdgeSums, LabelMask, Lattice, Order, ScoreArrays, Transitions};
use crate::data::{Allowed, AllowedLabels, Target};
use crate::ids::LabelId;
use crate::math::add;
use crate::noise::{
    ChainContext, ChainDerivatives, Derivatives, Engine, FeatureGradient, Features, Regularizer,
    SentenceInput,
};

/// A sentence to be evaluated.
#[derive(Clone, Copy, Debug)]
pub struct SentenceTask<'a> {
    /// The chain, with the weights of the evaluation.
    pub chain: ChainContext<'a>,
    /// What is known about its labels.
    pub target: Target<'a>,
    /// The factor of its likelihood.
    pub weight: f64,
    /// The factor of its noise term: its weight times λ or αλ.
    pub noise_weight: f64,
    /// The attributes of the sentence, for engines that work on them.
    pub attributes: Features<'a>,
}

/// The arrays of a sentence, T > 0 tokens. There is no edge into the first token: its edge scores
/// must be 0, and its edge derivatives are 0.
#[derive(Debug)]
pub struct SentenceArrays<'a> {
    /// Input, under noise: V, without those of transitions and boundary weights. Overwritten.
    pub variances: ScoreArrays<'a>,
    /// `scores`: input S, without transitions and boundary weights; output ∂J/∂S. `variances`:
    /// output, under noise: ∂J/∂V; for edges only if their array is not empty.
    pub derivatives: Derivatives<'a>,
}

/// The terms of the objective that a sentence contributes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SentenceTerms {
    /// −log p(Y|x) times its weight; 0 if it is unlabeled.
    pub loss: f64,
    /// The noise term of the sentence.
    pub noise: f64,
}

/// Evaluates sentences and sums their derivatives with respect to label weights; a reusable
/// workspace.
#[derive(Debug, Default)]
pub struct SentenceKernel {
    lattice: Lattice,
    expected: EdgeSums,
    expected_of_sentence: Option<EdgeSums>, // created when it is first needed
    mask: LabelMask,
    allowed: Lattice,    // of the paths that are allowed
    marginals: Vec<f64>, // [K][stride]
    regularizer: Option<Box<dyn Regularizer>>,
    /// Derivatives with respect to label weights since [`begin`](Self::begin). For the likelihood
    /// of label pairs these are the expected counts alone.
    pub sums: LabelSums,
    /// Derivatives with respect to attribute weights since `begin`, if the engine computes these
    /// instead of derivatives with respect to scores.
    pub(super) attribute_gradient: FeatureGradient,
}

impl SentenceKernel {
    /// Creates a kernel for the number of labels of `transitions`, and for the noise term of an
    /// engine, if there is one.
    pub fn new(transitions: &Transitions, engine: Option<Engine>) -> Self {
        Self {
            expected: EdgeSums::new(transitions),
            regularizer: engine.map(Engine::regularizer),
            ..Self::default()
        }
    }

    /// Resets the sums for sentences of one chain.
    pub fn begin(&mut self, chain: ChainContext<'_>) {
        let transitions = chain.transitions;
        self.sums.clear(transitions.pair_numbers(), transitions.stride());
        self.attribute_gradient.clear();
        self.expected.clear();
        if let Some(regularizer) = &mut self.regularizer {
            regularizer.begin(chain);
        }
    }

    /// Evaluates a sentence and adds its derivatives to the sums.
    pub fn evaluate(
        &mut self,
        task: SentenceTask<'_>,
        arrays: &mut SentenceArrays<'_>,
    ) -> SentenceTerms {
        let (transitions, scores) = (task.chain.transitions, &mut arrays.derivatives.scores);
        let log_partition = self.lattice.forward_backward(transitions, scores.as_scores(), None);
        let mut terms = SentenceTerms::default();
        match task.target {
            Target::Gold(labels) => {
                terms.loss = log_partition - gold_score(transitions, labels, scores);
                self.differentiate_likelihood(task, labels, scores);
            }
            Target::Allowed(labels) if !labels.is_any() => {
                terms.loss = log_partition - self.differentiate_partial(task, labels, scores);
            }
            Target::Allowed(_) | Target::Unlabeled => scores.fill(0.0),
        }
        if task.weight != 1.0 {
            terms.loss *= task.weight;
            scores.nodes.iter_mut().for_each(|x| *x *= task.weight);
            scores.edges.iter_mut().for_each(|x| *x *= task.weight);
        }
        if self.regularizer.is_some() {
            terms.noise = self.regularize(task, arrays);
        }
        let (stride, nodes) = (transitions.stride(), &*arrays.derivatives.scores.nodes);
        add(&mut self.sums.first, &nodes[..stride]);
        add(&mut self.sums.last, &nodes[nodes.len() - stride..]);
        terms
    }

    /// Completes the sums.
    pub fn finish(&mut self, chain: ChainContext<'_>) {
        if chain.transitions.order() == Order::One {
            self.expected.finish(chain.transitions, &mut self.sums.pairs);
        }
        if let Some(regularizer) = &mut self.regularizer {
            let derivatives = ChainDerivatives {
                scores: &mut self.sums.pairs,
                variance: &mut self.sums.pair_variances,
            };
            regularizer.finish(chain, derivatives);
        }
    }

    /// Replaces scores by the derivatives of −log p(Y|x), and adds the expected counts of label
    /// pairs, multiplied by `weight`. Returns the log-partition over the paths that are allowed.
    fn differentiate_partial(
        &mut self,
        task: SentenceTask<'_>,
        labels: AllowedLabels<'_>,
        scores: &mut ScoreArrays<'_>,
    ) -> f64 {
        let (transitions, weight) = (task.chain.transitions, task.weight);
        let Self { lattice, allowed, mask, marginals, .. } = self;
        fill_mask(mask, transitions.labels(), labels);
        let sum = allowed.forward_backward(transitions, scores.as_scores(), Some(mask));
        scores.nodes.copy_from_slice(lattice.node_marginals());
        subtract(scores.nodes, allowed.node_marginals());
        if transitions.order() == Order::Zero {
            return sum;
        }
        let expected = self.expected_of_sentence.get_or_insert_with(|| EdgeSums::new(transitions));
        for (lattice, factor) in [(&*lattice, weight), (&*allowed, -weight)] {
            expected.clear();
            lattice.add_edge_expectations(transitions, expected);
            self.expected.merge_scaled(factor, expected, transitions);
        }
        marginals.resize(transitions.labels() * transitions.stride(), 0.0);
        for (t, row) in scores.edges.chunks_exact_mut(marginals.len()).enumerate().skip(1) {
            lattice.edge_marginals(transitions, t, row);
            allowed.edge_marginals(transitions, t, marginals);
            subtract(row, marginals);
        }
        sum
    }

    /// Replaces scores by the derivatives of −log p(y|x), and adds the expected counts of label
    /// pairs, multiplied by `weight`.
    fn differentiate_likelihood(
        &mut self,
        task: SentenceTask<'_>,
        labels: &[LabelId],
        scores: &mut ScoreArrays<'_>,
    ) {
        let (transitions, weight) = (task.chain.transitions, task.weight);
        let (k, stride) = (transitions.labels(), transitions.stride());
        scores.nodes.copy_from_slice(self.lattice.node_marginals());
        for (row, label) in scores.nodes.chunks_exact_mut(stride).zip(labels) {
            row[label.index()] -= 1.0;
        }
        if transitions.order() == Order::Zero {
            return;
        }
        if weight == 1.0 {
            self.lattice.add_edge_expectations(transitions, &mut self.expected);
        } else {
            let expected =
                self.expected_of_sentence.get_or_insert_with(|| EdgeSums::new(transitions));
            expected.clear();
            self.lattice.add_edge_expectations(transitions, expected);
            self.expected.merge_scaled(weight, expected, transitions);
        }
        let rows = scores.edges.chunks_exact_mut(k * stride).enumerate().skip(1);
        for ((t, row), pair) in rows.zip(labels.windows(2)) {
            self.lattice.edge_marginals(transitions, t, row);
            row[pair[0].index() * stride + pair[1].index()] -= 1.0;
        }
    }

    /// Returns the noise term of the sentence and adds its derivatives.
    fn regularize(&mut self, task: SentenceTask<'_>, arrays: &mut SentenceArrays<'_>) -> f64 {
        let Some(regularizer) = &mut self.regularizer else { return 0.0 };
        let SentenceArrays { variances, derivatives } = arrays;
        let (stride, length) = (task.chain.transitions.stride(), variances.nodes.len());
        add(&mut variances.nodes[..stride], &task.chain.variances.start);
        add(&mut variances.nodes[length - stride..], &task.chain.variances.end);
        derivatives.variances.fill(0.0);
        let input = SentenceInput {
            chain: task.chain,
            lattice: &self.lattice,
            variances: variances.as_scores(),
            weight: task.noise_weight,
            features: task.attributes,
        };
        let value = regularizer.regularize(input, derivatives);
        let sums = &mut self.sums;
        if let Some(gradient) = regularizer.feature_gradient() {
            for (column, row) in gradient.nodes.iter() {
                match column.checked_sub(task.attributes.boundary) {
                    None => self.attribute_gradient.nodes.push(column, row),
                    Some(0) => add(&mut sums.first, row),
                    Some(_) => add(&mut sums.last, row),
                }
            }
            for (column, matrix) in gradient.edges.iter() {
                self.attribute_gradient.edges.push(column, matrix);
            }
        }
        let by_variance = &*derivatives.variances.nodes;
        add(&mut sums.first_variances, &by_variance[..stride]);
        add(&mut sums.last_variances, &by_variance[length - stride..]);
        value
    }
}

fn subtract(numbers: &mut [f64], terms: &[f64]) {
    numbers.iter_mut().zip(terms).for_each(|(x, y)| *x -= y);
}

/// Fills the mask of a sentence with partial labels.
pub fn fill_mask(mask: &mut LabelMask, labels: usize, allowed: AllowedLabels<'_>) {
    mask.begin(labels);
    for token in allowed.iter() {
        match token {
            Allowed::Any => mask.push_any(),
            _ => mask.push(&[]),
        }
        token.for_each(|label| mask.allow(label));
    }
}

/// Returns the score of the gold labels.
fn gold_score(transitions: &Transitions, labels: &[LabelId], scores: &ScoreArrays<'_>) -> f64 {
    let (k, stride) = (transitions.labels(), transitions.stride());
    let mut score = 0.0;
    if let (Some(first), Some(last)) = (labels.first(), labels.last()) {
        score += transitions.start()[first.index()] + transitions.end()[last.index()];
    }
    for (row, label) in scores.nodes.chunks_exact(stride).zip(labels) {
        score += row[label.index()];
    }
    if transitions.order() == Order::One {
        for (t, pair) in labels.windows(2).enumerate() {
            let (a, b) = (pair[0].index(), pair[1].index());
            score += transitions.score(a, b);
            if !scores.edges.is_empty() {
                score += scores.edges[((t + 1) * k + a) * stride + b];
            }
        }
    }
    score
}
