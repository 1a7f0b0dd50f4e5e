//! Where derivatives and sums are kept between the sentences and the gradient.

use crate::score::ParameterSpace;

/// Derivatives of a block.
#[derive(Debug, Default)]
pub(super) struct BlockDerivatives {
    pub scores: Blocks,
    pub variances: Blocks, // empty without proportional noise
}

/// Numbers for the tokens of a block.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub nodes: Vec<f64>, // [tokens][stride]
    pub edges: Vec<f64>, // [tokens][K][stride], or empty
}

impl Blocks {
    pub fn new(tokens: usize, space: &ParameterSpace) -> Self {
        let edges = if space.edges.columns() > 0 {
            tokens * space.edges.width()
        } else {
            0
        };
        Self {
            nodes: vec![0.0; tokens * space.stride()],
            edges: vec![0.0; edges],
        }
    }

    pub fn len(&self) -> usize {
        self.nodes.len() + self.edges.len()
    }

    pub fn clear(&mut self) {
        self.nodes.fill(0.0);
        self.edges.fill(0.0);
    }

    /// Cuts the numbers into pieces of `tokens` tokens each.
    pub fn pieces(&mut self, tokens: &[usize], space: &ParameterSpace) -> Vec<[&mut [f64]; 2]> {
        let edge_width = if self.edges.is_empty() {
            0
        } else {
            space.edges.width()
        };
        let node_width = if self.nodes.is_empty() {
            0
        } else {
            space.stride()
        };
        let (mut nodes, mut edges) = (&mut self.nodes[..], &mut self.edges[..]);
        let mut pieces = Vec::with_capacity(tokens.len());
        for &tokens in tokens {
            let (mine, rest) = nodes.split_at_mut(tokens * node_width);
            let (mine_edges, rest_edges) = edges.split_at_mut(tokens * edge_width);
            (nodes, edges) = (rest, rest_edges);
            pieces.push([mine, mine_edges]);
        }
        pieces
    }
}

/// Sums of derivatives by what does not depend on the text.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelSums {
    pub pairs: Vec<f64>, // [K][stride]
    pub first: Vec<f64>, // [stride]
    pub last: Vec<f64>,  // [stride]
    pub pair_variances: Vec<f64>,
    pub first_variances: Vec<f64>,
    pub last_variances: Vec<f64>,
    pub node_variances: Vec<f64>, // [stride] over all tokens
}

impl LabelSums {
    pub fn fields(&mut self) -> [&mut Vec<f64>; 7] {
        [
            &mut self.pairs,
            &mut self.pair_variances,
            &mut self.first,
            &mut self.last,
            &mut self.first_variances,
            &mut self.last_variances,
            &mut self.node_variances,
        ]
    }

    pub fn clear(&mut self, labels: usize, stride: usize) {
        for (i, sums) in self.fields().into_iter().enumerate() {
            sums.clear();
            sums.resize(if i < 2 { labels * stride } else { stride }, 0.0);
        }
    }

    pub fn add(&mut self, other: &mut Self) {
        for (sums, more) in self.fields().into_iter().zip(other.fields()) {
            add(sums, more);
        }
    }
}

/// Adds numbers to numbers.
pub(super) fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(s, t)| *s += t);
}
