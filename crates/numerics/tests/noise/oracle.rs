//! The test oracle: R and its derivatives by enumeration of all paths. It is meant to be obviously
//! correct and is never optimized.

use super::{TestSentence, ValueAndGradient};
use dropchain_numerics::chain::{Order, padded};

/// The labels of a path at t: those of the edge into t, or that of t alone if there is none.
#[derive(Clone, Copy, PartialEq)]
enum LocalLabels {
    Node(usize),
    Edge(usize, usize),
}

/// All paths of a sentence with their probabilities.
pub struct Paths<'a> {
    sentence: &'a TestSentence,
    paths: Vec<(Vec<usize>, f64)>,
}

impl<'a> Paths<'a> {
    pub fn new(sentence: &'a TestSentence) -> Self {
        let oracle = sentence.chain.enumerate();
        let total = oracle.log_partition();
        let paths = oracle.paths.into_iter().map(|(path, score)| {
            let labels = path.iter().map(|y| y.index());
            (labels.collect(), (score - total).exp())
        });
        Self { sentence, paths: paths.collect() }
    }

    /// Returns the labels of a path at t.
    fn labels_at(&self, path: &[usize], t: usize) -> LocalLabels {
        if t == 0 || self.sentence.chain.order == Order::Zero {
            LocalLabels::Node(path[t])
        } else {
            LocalLabels::Edge(path[t - 1], path[t])
        }
    }

    /// Returns all labels possible at t.
    fn all_labels(&self, t: usize) -> Vec<LocalLabels> {
        let labels = self.sentence.chain.labels;
        if t == 0 || self.sentence.chain.order == Order::Zero {
            return (0..labels).map(LocalLabels::Node).collect();
        }
        (0..labels).flat_map(|a| (0..labels).map(move |b| LocalLabels::Edge(a, b))).collect()
    }

    /// Returns the expectation of a function of the paths.
    fn expect(&self, f: impl Fn(&[usize]) -> f64) -> f64 {
        self.paths.iter().map(|(path, p)| p * f(path)).sum()
    }

    /// Returns μ.
    fn marginal(&self, t: usize, local: LocalLabels) -> f64 {
        self.expect(|path| f64::from(self.labels_at(path, t) == local))
    }

    /// Returns V.
    fn variance(&self, t: usize, local: LocalLabels) -> f64 {
        let sentence = self.sentence;
        match local {
            LocalLabels::Node(b) => sentence.node[t][b],
            LocalLabels::Edge(a, b) => {
                let edge = sentence.edge.as_ref().map_or(0.0, |edge| edge[t][a][b]);
                sentence.node[t][b] + sentence.trans[a][b] + edge
            }
        }
    }

    /// Returns R without the weight: eq. 14 verbatim.
    pub fn value(&self) -> f64 {
        let mut value = 0.0;
        for t in 0..self.sentence.node.len() {
            for local in self.all_labels(t) {
                let mu = self.marginal(t, local);
                value += 0.5 * mu * (1.0 - mu) * self.variance(t, local);
            }
        }
        value
    }

    /// Returns weight·R and its derivatives; those with respect to scores within the radius only.
    pub fn derivatives(&self, radius: usize) -> ValueAndGradient {
        let tokens = self.sentence.node.len();
        let mut result = ValueAndGradient::zeros(self.sentence);
        result.value = self.sentence.weight * self.value();
        let mut deviations = Vec::new(); // [T][paths] w[t] − E[w[t]]
        for t in 0..tokens {
            let weights = self.all_labels(t).into_iter().map(|local| {
                let mu = self.marginal(t, local);
                self.add_variance(&mut result, t, local, 0.5 * mu * (1.0 - mu));
                (local, 0.5 * (1.0 - 2.0 * mu) * self.variance(t, local))
            });
            let weights: Vec<(LocalLabels, f64)> = weights.collect();
            let weight = |path: &[usize]| {
                let local = self.labels_at(path, t);
                weights.iter().find(|w| w.0 == local).unwrap().1
            };
            let mean = self.expect(weight);
            let paths = self.paths.iter().map(|(path, _)| weight(path) - mean);
            deviations.push(paths.collect::<Vec<f64>>());
        }
        for i in 0..tokens {
            let window = i.saturating_sub(radius)..(i.saturating_add(radius).min(tokens - 1) + 1);
            for (number, (path, p)) in self.paths.iter().enumerate() {
                let sum: f64 = deviations[window.clone()].iter().map(|w| w[number]).sum();
                self.add_score(&mut result, i, self.labels_at(path, i), p * sum);
            }
        }
        result
    }

    /// Adds weight·x to the derivatives with respect to the scores at t.
    fn add_score(&self, result: &mut ValueAndGradient, t: usize, local: LocalLabels, x: f64) {
        let edge = &mut result.edge;
        self.add(&mut result.node, &mut result.trans, edge, (t, local), x);
    }

    /// Adds weight·x to the derivatives with respect to the variances at t.
    fn add_variance(&self, result: &mut ValueAndGradient, t: usize, local: LocalLabels, x: f64) {
        let (node, trans) = (&mut result.node_variance, &mut result.trans_variance);
        self.add(node, trans, &mut result.edge_variance, (t, local), x);
    }

    fn add(
        &self,
        node: &mut [f64],
        trans: &mut [f64],
        edge: &mut Option<Vec<f64>>,
        at: (usize, LocalLabels),
        x: f64,
    ) {
        let (t, local) = at;
        let (labels, x) = (self.sentence.chain.labels, self.sentence.weight * x);
        let stride = padded(labels);
        match local {
            LocalLabels::Node(b) => node[t * stride + b] += x,
            LocalLabels::Edge(a, b) => {
                node[t * stride + b] += x;
                trans[a * stride + b] += x;
                if let Some(edge) = edge {
                    edge[(t * labels + a) * stride + b] += x;
                }
            }
        }
    }
}
