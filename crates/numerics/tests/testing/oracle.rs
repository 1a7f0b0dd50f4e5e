//! The test oracle: a chain small enough to enumerate all its K^T paths.
//!
//! All inference is tested against it. It is meant to be obviously correct and is never optimized:
//! scores are unpadded nested vectors, and the score of every path is computed from the definition.
//! [`Transitions`] and [`Scores`] appear only as outputs.

use crate::chain::{Constraint, Order, Scores, Transitions, padded};
use crate::ids::LabelId;
use crate::math::log_sum_exp;

/// The scores of a sentence, and an optional constraint on its paths.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The order of the chain.
    pub order: Order,
    /// The number of labels K.
    pub labels: usize,
    /// Node scores, `[T][K]`.
    pub node: Vec<Vec<f64>>,
    /// Transition scores, `[K][K]`.
    pub trans: Vec<Vec<f64>>,
    /// Edge scores, `[T][K][K]`, if there are any.
    pub edge: Option<Vec<Vec<Vec<f64>>>>,
    /// Start scores, `[K]`.
    pub start: Vec<f64>,
    /// End scores, `[K]`.
    pub end: Vec<f64>,
    /// Which paths are legal; `None`: all.
    pub constraint: Option<Constraint>,
}

/// Every legal path with its score, in ascending order of the labels read from last to first.
#[derive(Clone, Debug)]
pub struct Oracle {
    labels: usize,
    tokens: usize,
    /// The paths and their scores.
    pub paths: Vec<(Vec<LabelId>, f64)>,
}

impl Chain {
    /// Creates a chain of T tokens and K labels with scores drawn from `number`.
    pub fn new(tokens: usize, labels: usize, mut number: impl FnMut() -> f64) -> Self {
        let mut row = || (0..labels).map(|_| number()).collect::<Vec<_>>();
        Self {
            order: Order::One,
            labels,
            node: (0..tokens).map(|_| row()).collect(),
            trans: (0..labels).map(|_| row()).collect(),
            edge: None,
            start: row(),
            end: row(),
            constraint: None,
        }
    }

    /// Adds edge scores drawn from `number`.
    pub fn with_edges(mut self, mut number: impl FnMut() -> f64) -> Self {
        let mut row = || (0..self.labels).map(|_| number()).collect::<Vec<_>>();
        let mut matrix = || (0..self.labels).map(|_| row()).collect::<Vec<_>>();
        self.edge = Some(self.node.iter().map(|_| matrix()).collect());
        self
    }

    /// Returns the transitions in the form that inference expects.
    pub fn transitions(&self) -> Transitions {
        let mut transitions = Transitions::new(self.labels, self.order);
        transitions.set(&self.trans.concat(), &self.start, &self.end);
        transitions
    }

    /// Calls `f` with the scores in the form that inference expects, padded with `padding`.
    pub fn scores<R>(&self, padding: f64, f: impl FnOnce(Scores) -> R) -> R {
        let pad = |row: &Vec<f64>| {
            let mut row = row.clone();
            row.resize(padded(self.labels), padding);
            row
        };
        let node: Vec<f64> = self.node.iter().flat_map(pad).collect();
        let edge = self
            .edge
            .as_ref()
            .map(|edge| edge.iter().flatten().flat_map(pad).collect::<Vec<f64>>());
        f(Scores { node: &node, edge: edge.as_deref() })
    }

    /// Returns the score of a path, from the definition.
    pub fn score(&self, path: &[LabelId]) -> f64 {
        let mut total = 0.0;
        for (t, y) in path.iter().enumerate() {
            let y = y.index();
            if t > 0 && self.order == Order::One {
                let before = path[t - 1].index();
                total += self.trans[before][y];
                total += self.edge.as_ref().map_or(0.0, |edge| edge[t][before][y]);
            }
            total += self.node[t][y];
            total += if t == 0 { self.start[y] } else { 0.0 };
            total += if t + 1 == path.len() { self.end[y] } else { 0.0 };
        }
        total
    }

    /// Returns whether a path is legal.
    pub fn allows(&self, path: &[LabelId]) -> bool {
        let Some(constraint) = &self.constraint else { return true };
        path.first().is_none_or(|y| constraint.allows_start(y.index()))
            && path.last().is_none_or(|y| constraint.allows_end(y.index()))
            && path.windows(2).all(|pair| constraint.allows(pair[0].index(), pair[1].index()))
    }

    /// Enumerates all legal paths.
    pub fn enumerate(&self) -> Oracle {
        let tokens = self.node.len();
        let count = self.labels.pow(tokens as u32);
        assert!(count <= 1 << 20, "{count} paths are too many to enumerate");
        let path = |mut number: usize| {
            let mut path = vec![LabelId(0); tokens];
            for y in &mut path {
                *y = LabelId((number % self.labels) as u16);
                number /= self.labels;
            }
            path
        };
        let paths = (0..count).map(path).filter(|path| self.allows(path));
        Oracle {
            labels: self.labels,
            tokens,
            paths: paths.map(|path| (path.clone(), self.score(&path))).collect(),
        }
    }
}

impl Oracle {
    /// Restricts the paths to those for which `f` holds.
    pub fn given(mut self, f: impl Fn(&[LabelId]) -> bool) -> Self {
        self.paths.retain(|(path, _)| f(path));
        self
    }

    /// Returns the log-partition function A.
    pub fn log_partition(&self) -> f64 {
        log_sum_exp(&self.paths.iter().map(|path| path.1).collect::<Vec<_>>())
    }

    /// Returns the probability of the paths for which `f` holds.
    fn probability(&self, f: impl Fn(&[LabelId]) -> bool) -> f64 {
        let total = self.log_partition();
        self.paths.iter().filter(|(path, _)| f(path)).map(|(_, score)| (score - total).exp()).sum()
    }

    /// Returns p(y_t = b), of shape `[T][S]`, padded with 0.
    pub fn node_marginals(&self) -> Vec<f64> {
        let mut marginals = Vec::new();
        for t in 0..self.tokens {
            for b in 0..self.labels {
                marginals.push(self.probability(|path| path[t].index() == b));
            }
            marginals.resize(marginals.len().next_multiple_of(padded(self.labels)), 0.0);
        }
        marginals
    }

    /// Returns p(y_{t−1} = a, y_t = b), of shape `[K][S]`, padded with 0.
    pub fn edge_marginals(&self, t: usize) -> Vec<f64> {
        let mut marginals = Vec::new();
        for a in 0..self.labels {
            for b in 0..self.labels {
                let edge = |path: &[LabelId]| path[t - 1].index() == a && path[t].index() == b;
                marginals.push(self.probability(edge));
            }
            marginals.resize(marginals.len().next_multiple_of(padded(self.labels)), 0.0);
        }
        marginals
    }

    /// Returns the n best paths. Among equal scores the path with the lowest last label comes
    /// first, then the one with the lowest second-to-last label, and so on.
    pub fn nbest(&self, n: usize) -> Vec<(Vec<LabelId>, f64)> {
        let mut paths = self.paths.clone();
        paths.sort_by(|x, y| y.1.total_cmp(&x.1)); // stable, and `paths` are in that order
        paths.truncate(n);
        paths
    }
}
