//! One suite: every engine on every sentence, against the enumeration of all paths.

mod adjoint_kernel;
mod approximate;
mod direct;
mod engine;
mod exact;
mod extreme;
mod features;
mod model;
mod oracle;
mod pairs;

use dropchain_numerics::chain::{Lattice, Mode, Order, ScoreArrays, Scores, Transitions, padded};
use dropchain_numerics::math::add;
use dropchain_numerics::noise::*;
use dropchain_numerics::testing::{Chain, Lcg};
use oracle::Paths;

/// Attributes and values of each token.
type Attributes = Vec<Vec<(u32, f64)>>;

/// A random sentence with its variances and features.
#[derive(Clone, Debug)]
struct TestSentence {
    chain: Chain,
    node: Vec<Vec<f64>>,              // [T][K] variances
    trans: Vec<Vec<f64>>,             // [K][K]
    edge: Option<Vec<Vec<Vec<f64>>>>, // [T][K][K]
    weight: f64,
    node_attributes: Attributes,
    edge_attributes: Attributes,
}

impl TestSentence {
    /// Draws scores, variances and attributes.
    fn new(tokens: usize, labels: usize, numbers: &mut Lcg) -> Self {
        let chain = Chain::new(tokens, labels, || 2.0 * numbers.next());
        let variances = Chain::new(tokens, labels, || 1.0 + numbers.next());
        let mut attributes = |count: usize, most: usize| -> Attributes {
            let mut row = || {
                let mut columns: Vec<u32> =
                    (0..count).map(|_| numbers.below(most) as u32).collect();
                columns.sort_unstable();
                columns.dedup();
                let value = |column| (column, [1.0, 1.0, -2.0, 0.5][numbers.below(4)]);
                columns.into_iter().map(value).collect()
            };
            (0..tokens).map(|_| row()).collect()
        };
        Self {
            node_attributes: attributes(4, 8),
            edge_attributes: attributes(2, 4),
            chain,
            node: variances.node,
            trans: variances.trans,
            edge: None,
            weight: 1.0,
        }
    }

    fn with_edges(mut self, numbers: &mut Lcg) -> Self {
        self.edge = self.chain.clone().with_edges(|| 1.0 + numbers.next()).edge;
        self.chain = self.chain.with_edges(|| numbers.next());
        self
    }

    /// Returns the scale of the rounding errors in the derivatives.
    fn error_scale(&self) -> f64 {
        let edge = self.edge.iter().flatten().flatten().flatten();
        let all = self.node.iter().chain(&self.trans).flatten().chain(edge);
        self.weight.abs() * all.fold(1.0, |size: f64, x| size.max(x.abs()))
    }
}

/// Returns sentences of all sizes that can be enumerated, both orders, with and without edges.
fn sentences() -> Vec<TestSentence> {
    let mut numbers = Lcg(1);
    let mut sentences = Vec::new();
    for labels in 1..=9_usize {
        for tokens in (1..=8).filter(|&tokens| labels.pow(tokens) <= 700) {
            let sentence = TestSentence::new(tokens as usize, labels, &mut numbers);
            sentences.push(sentence.clone().with_edges(&mut numbers));
            let mut independent = sentence.clone();
            independent.chain.order = Order::Zero;
            independent.weight = 0.3;
            sentences.extend([sentence, independent]);
        }
    }
    sentences
}

/// weight·R with all its derivatives; rows are padded.
#[derive(Clone, Debug)]
struct ValueAndGradient {
    value: f64,
    node: Vec<f64>,
    trans: Vec<f64>,
    edge: Option<Vec<f64>>,
    node_variance: Vec<f64>,
    trans_variance: Vec<f64>,
    edge_variance: Option<Vec<f64>>,
}

impl ValueAndGradient {
    /// Returns the derivatives of a sentence, to be added to.
    fn derivatives(&mut self) -> Derivatives<'_> {
        Derivatives {
            scores: ScoreArrays {
                nodes: &mut self.node,
                edges: self.edge.as_deref_mut().unwrap_or_default(),
            },
            variances: ScoreArrays {
                nodes: &mut self.node_variance,
                edges: self.edge_variance.as_deref_mut().unwrap_or_default(),
            },
        }
    }

    /// Creates zeros of the shapes of a sentence, with edges if it has any.
    fn zeros(sentence: &TestSentence) -> Self {
        let (labels, stride) = (sentence.chain.labels, padded(sentence.chain.labels));
        let (row, matrix) = (sentence.node.len() * stride, labels * stride);
        let edge = sentence.edge.as_ref().map(|_| vec![0.0; sentence.node.len() * matrix]);
        Self {
            value: 0.0,
            node: vec![0.0; row],
            trans: vec![0.0; matrix],
            edge: edge.clone(),
            node_variance: vec![0.0; row],
            trans_variance: vec![0.0; matrix],
            edge_variance: edge,
        }
    }

    fn gradient(&self) -> Vec<f64> {
        let edge = self.edge.iter().flatten();
        self.node.iter().chain(&self.trans).chain(edge).copied().collect()
    }

    fn variances(&self) -> Vec<f64> {
        let edge = self.edge_variance.iter().flatten();
        self.node_variance.iter().chain(&self.trans_variance).chain(edge).copied().collect()
    }
}

/// Ends and entries of [`AttributeRows`].
type OwnedRows = (Vec<usize>, Vec<(u32, f64)>);

/// The padded arrays of a sentence, from which [`SentenceInput`] borrows.
struct SentenceBuffers {
    transitions: Transitions,
    lattice: Lattice,
    node: Vec<f64>,
    variances: LabelVariances, // of pairs
    edge: Option<Vec<f64>>,
    rows: [OwnedRows; 2],
}

impl SentenceBuffers {
    fn new(sentence: &TestSentence, in_log_space: bool) -> Self {
        Self::with_transitions(sentence, sentence.chain.transitions(), in_log_space)
    }

    fn with_transitions(
        sentence: &TestSentence,
        transitions: Transitions,
        in_log_space: bool,
    ) -> Self {
        let pad = |row: &Vec<f64>| {
            let mut row = row.clone();
            row.resize(padded(sentence.chain.labels), 1e30);
            row
        };
        let mut lattice = Lattice::default();
        sentence.chain.scores(f64::NAN, |scores| match in_log_space {
            true => lattice.forward_backward_in_log_space(&transitions, scores, None),
            false => lattice.forward_backward(&transitions, scores, None),
        });
        let rows = [&sentence.node_attributes, &sentence.edge_attributes].map(|attributes| {
            let mut end = 0;
            let ends = attributes.iter().map(|row| {
                end += row.len();
                end
            });
            (ends.collect(), attributes.concat())
        });
        Self {
            transitions,
            lattice,
            node: sentence.node.iter().flat_map(pad).collect(),
            variances: LabelVariances {
                pairs: sentence.trans.iter().flat_map(pad).collect(),
                ..LabelVariances::default()
            },
            edge: sentence.edge.as_ref().map(|edge| edge.iter().flatten().flat_map(pad).collect()),
            rows,
        }
    }

    fn context(&self) -> ChainContext<'_> {
        ChainContext { transitions: &self.transitions, variances: &self.variances }
    }

    fn input(&self, weight: f64) -> SentenceInput<'_> {
        let [node, edge] =
            self.rows.each_ref().map(|(ends, entries)| AttributeRows { ends, entries });
        SentenceInput {
            chain: self.context(),
            lattice: &self.lattice,
            variances: Scores { node: &self.node, edge: self.edge.as_deref() },
            weight,
            features: Features { node, edge, boundary: 0 },
        }
    }

    /// Runs an engine on the sentence and adds its results to `result`.
    fn run(&self, engine: &mut dyn Regularizer, weight: f64, result: &mut ValueAndGradient) {
        engine.begin(self.context());
        let mut out = result.derivatives();
        let value = engine.regularize(self.input(weight), &mut out);
        result.value += value;
        let out =
            ChainDerivatives { scores: &mut result.trans, variance: &mut result.trans_variance };
        engine.finish(self.context(), out);
    }
}

/// Runs an engine on a sentence.
fn evaluate(sentence: &TestSentence, engine: Engine) -> ValueAndGradient {
    let mut result = ValueAndGradient::zeros(sentence);
    SentenceBuffers::new(sentence, false).run(
        &mut *engine.regularizer(),
        sentence.weight,
        &mut result,
    );
    result
}

/// Computes the gradient with respect to feature weights from derivatives with respect to scores,
/// as a caller does.
fn feature_gradient(
    sentence: &TestSentence,
    result: &ValueAndGradient,
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let stride = padded(sentence.chain.labels);
    let map = |attributes: &Attributes, derivatives: &[f64], size: usize| {
        let mut gradient = vec![vec![0.0; size]; 8];
        for (row, from) in attributes.iter().zip(derivatives.chunks_exact(size)) {
            for &(column, value) in row {
                let out = gradient[column as usize].iter_mut();
                out.zip(from).for_each(|(x, d)| *x += value * d);
            }
        }
        gradient
    };
    let node = map(&sentence.node_attributes, &result.node, stride);
    let edge = match (&result.edge, sentence.chain.order) {
        (Some(edge), Order::One) => {
            map(&sentence.edge_attributes, edge, sentence.chain.labels * stride)
        }
        _ => Vec::new(),
    };
    (node, edge)
}

#[track_caller]
fn assert_all_close(result: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(result.len(), expected.len());
    for (i, (result, expected)) in result.iter().zip(expected).enumerate() {
        let error = (result - expected).abs();
        assert!(error <= tolerance, "number {i}: result {result}, expected {expected}");
    }
}

#[track_caller]
fn assert_agrees(result: &ValueAndGradient, expected: &ValueAndGradient, tolerance: f64) {
    assert_all_close(&[result.value], &[expected.value], tolerance);
    assert_all_close(&result.node, &expected.node, tolerance);
    assert_all_close(&result.trans, &expected.trans, tolerance);
    let (edge, other) = (result.edge.as_ref(), expected.edge.as_ref());
    assert_all_close(edge.map_or(&[], |edge| edge), other.map_or(&[], |edge| edge), tolerance);
    assert_all_close(&result.variances(), &expected.variances(), tolerance);
}
