//! The oracle: a chain small enough to enumerate all its K^T paths.
//!
//! Everything that infers is held against it. It is written to be seen to be right: it keeps its
//! scores unpadded and by token, adds up the score of every path from the definition, and is never
//! made faster. It knows [`Transitions`] and [`Scores`] only to fill them.

use super::{Constraint, LANES, Order, Scores, Transitions, padded};
use crate::ids::LabelId;
use crate::math::log_sum_exp;

/// A sentence with all its scores, and where some paths are illegal, which.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub order: Order,
    pub labels: usize,
    pub node: Vec<Vec<f64>>,              // [T][K]
    pub trans: Vec<Vec<f64>>,             // [K][K]
    pub edge: Option<Vec<Vec<Vec<f64>>>>, // [T][K][K]
    pub start: Vec<f64>,                  // [K]
    pub end: Vec<f64>,                    // [K]
    pub constraint: Option<Constraint>,
}

/// Every legal path with its score, in ascending order of its labels read from the last.
#[derive(Clone, Debug)]
pub(crate) struct Oracle {
    labels: usize,
    tokens: usize,
    pub paths: Vec<(Vec<LabelId>, f64)>,
}

impl Chain {
    /// T tokens of K labels whose scores are what `number` gives, one after another.
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

    /// The same with edge scores.
    pub fn with_edges(mut self, mut number: impl FnMut() -> f64) -> Self {
        let mut row = || (0..self.labels).map(|_| number()).collect::<Vec<_>>();
        let mut matrix = || (0..self.labels).map(|_| row()).collect::<Vec<_>>();
        self.edge = Some(self.node.iter().map(|_| matrix()).collect());
        self
    }

    /// The transitions, as inference takes them.
    pub fn transitions(&self) -> Transitions {
        let mut transitions = Transitions::new(self.labels, self.order);
        transitions.set(&self.trans.concat(), &self.start, &self.end);
        transitions
    }

    /// Calls `f` with the scores, as inference takes them; the padding is filled with `padding`.
    pub fn scores<R>(&self, padding: f64, f: impl FnOnce(Scores) -> R) -> R {
        let pad = |row: &Vec<f64>| {
            let mut row = row.clone();
            row.resize(padded(self.labels), padding);
            row
        };
        let node: Vec<f64> = self.node.iter().flat_map(pad).collect();
        let edge = self.edge.as_ref().map(|edge| {
            let rows = edge.iter().flatten();
            rows.flat_map(pad).collect::<Vec<f64>>()
        });
        f(Scores {
            node: &node,
            edge: edge.as_deref(),
        })
    }

    /// The score of a path, from the definition.
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
            total += if t + 1 == path.len() {
                self.end[y]
            } else {
                0.0
            };
        }
        total
    }

    /// Whether a path is legal.
    pub fn allows(&self, path: &[LabelId]) -> bool {
        let Some(constraint) = &self.constraint else {
            return true;
        };
        path.first()
            .is_none_or(|y| constraint.allows_start(y.index()))
            && path.last().is_none_or(|y| constraint.allows_end(y.index()))
            && path
                .windows(2)
                .all(|pair| constraint.allows(pair[0].index(), pair[1].index()))
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
            paths: paths
                .map(|path| (path.clone(), self.score(&path)))
                .collect(),
        }
    }
}

impl Oracle {
    /// A.
    pub fn log_partition(&self) -> f64 {
        log_sum_exp(&self.paths.iter().map(|path| path.1).collect::<Vec<_>>())
    }

    /// The probability of the paths that `f` picks.
    fn probability(&self, f: impl Fn(&[LabelId]) -> bool) -> f64 {
        let total = self.log_partition();
        let picked = self.paths.iter().filter(|(path, _)| f(path));
        picked.map(|(_, score)| (score - total).exp()).sum()
    }

    /// p(y_t = b), of shape `[T][S]`, padded with 0.
    pub fn node_marginals(&self) -> Vec<f64> {
        let mut marginals = Vec::new();
        for t in 0..self.tokens {
            for b in 0..self.labels {
                marginals.push(self.probability(|path| path[t].index() == b));
            }
            marginals.resize(marginals.len().next_multiple_of(LANES), 0.0);
        }
        marginals
    }

    /// p(y_{t−1} = a, y_t = b), of shape `[K][S]`, padded with 0.
    pub fn edge_marginals(&self, t: usize) -> Vec<f64> {
        let mut marginals = Vec::new();
        for a in 0..self.labels {
            for b in 0..self.labels {
                let edge = |path: &[LabelId]| path[t - 1].index() == a && path[t].index() == b;
                marginals.push(self.probability(edge));
            }
            marginals.resize(marginals.len().next_multiple_of(LANES), 0.0);
        }
        marginals
    }

    /// The n best paths. Of equal scores the one with the lowest last label comes first, then the
    /// lowest last but one, and so on.
    pub fn nbest(&self, n: usize) -> Vec<(Vec<LabelId>, f64)> {
        let mut paths = self.paths.clone();
        paths.sort_by(|x, y| y.1.total_cmp(&x.1)); // stable, and `paths` are in that order
        paths.truncate(n);
        paths
    }
}
