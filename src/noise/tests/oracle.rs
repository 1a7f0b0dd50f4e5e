//! R and its derivatives by adding up paths. It is written to be seen to be right, and never made
//! faster.

use super::{TestSentence, ValueAndGradient};
use crate::chain::{Order, padded};

/// The local labels of a path at t: those of the edge to t, or of t alone where no edge leads.
#[derive(Clone, Copy, PartialEq)]
enum Place {
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
        Self {
            sentence,
            paths: paths.collect(),
        }
    }

    fn place(&self, path: &[usize], t: usize) -> Place {
        if t == 0 || self.sentence.chain.order == Order::Zero {
            Place::Node(path[t])
        } else {
            Place::Edge(path[t - 1], path[t])
        }
    }

    fn places(&self, t: usize) -> Vec<Place> {
        let labels = self.sentence.chain.labels;
        if t == 0 || self.sentence.chain.order == Order::Zero {
            return (0..labels).map(Place::Node).collect();
        }
        let pairs = (0..labels).flat_map(|a| (0..labels).map(move |b| Place::Edge(a, b)));
        pairs.collect()
    }

    /// The expectation of a function of the paths.
    fn expect(&self, f: impl Fn(&[usize]) -> f64) -> f64 {
        self.paths.iter().map(|(path, p)| p * f(path)).sum()
    }

    fn probability(&self, t: usize, place: Place) -> f64 {
        self.expect(|path| f64::from(self.place(path, t) == place))
    }

    fn variance(&self, t: usize, place: Place) -> f64 {
        match place {
            Place::Node(b) => self.sentence.node[t][b],
            Place::Edge(a, b) => {
                let edge = self
                    .sentence
                    .edge
                    .as_ref()
                    .map_or(0.0, |edge| edge[t][a][b]);
                self.sentence.node[t][b] + self.sentence.trans[a][b] + edge
            }
        }
    }

    /// R, without the weight.
    pub fn value(&self) -> f64 {
        let mut value = 0.0;
        for t in 0..self.sentence.node.len() {
            for place in self.places(t) {
                let mu = self.probability(t, place);
                value += 0.5 * mu * (1.0 - mu) * self.variance(t, place);
            }
        }
        value
    }

    /// weight·R and its derivatives; of those by scores, what is within the radius.
    pub fn derivatives(&self, radius: usize) -> ValueAndGradient {
        let tokens = self.sentence.node.len();
        let mut found = ValueAndGradient::zeros(self.sentence);
        found.value = self.sentence.weight * self.value();
        let mut deviations = Vec::new(); // [T][paths] w[t] − E[w[t]]
        for t in 0..tokens {
            let places = self.places(t).into_iter().map(|place| {
                let mu = self.probability(t, place);
                self.add(&mut found, (t, place, true), 0.5 * mu * (1.0 - mu));
                (place, 0.5 * (1.0 - 2.0 * mu) * self.variance(t, place))
            });
            let weights: Vec<(Place, f64)> = places.collect();
            let weight = |path: &[usize]| {
                let place = self.place(path, t);
                weights.iter().find(|w| w.0 == place).unwrap().1
            };
            let mean = self.expect(weight);
            let paths = self.paths.iter().map(|(path, _)| weight(path) - mean);
            deviations.push(paths.collect::<Vec<f64>>());
        }
        for i in 0..tokens {
            let window = i.saturating_sub(radius)..(i.saturating_add(radius).min(tokens - 1) + 1);
            for (number, (path, p)) in self.paths.iter().enumerate() {
                let sum: f64 = deviations[window.clone()].iter().map(|w| w[number]).sum();
                self.add(&mut found, (i, self.place(path, i), false), p * sum);
            }
        }
        found
    }

    fn add(&self, found: &mut ValueAndGradient, at: (usize, Place, bool), x: f64) {
        let (t, place, is_variance) = at;
        let (labels, x) = (self.sentence.chain.labels, self.sentence.weight * x);
        let stride = padded(labels);
        let (node, trans, edge) = if is_variance {
            let found = (&mut found.node_variance, &mut found.trans_variance);
            (found.0, found.1, None)
        } else {
            (&mut found.node, &mut found.trans, found.edge.as_mut())
        };
        match place {
            Place::Node(b) => node[t * stride + b] += x,
            Place::Edge(a, b) => {
                node[t * stride + b] += x;
                trans[a * stride + b] += x;
                if let Some(edge) = edge {
                    edge[(t * labels + a) * stride + b] += x;
                }
                if let (true, Some(edge)) = (is_variance, &mut found.edge_variance) {
                    edge[(t * labels + a) * stride + b] += x;
                }
            }
        }
    }
}
