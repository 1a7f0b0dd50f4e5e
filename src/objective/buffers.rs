//! Arrays over the tokens of a block, and their pieces.

use crate::score::ParameterSpace;

/// The derivatives of one block of sentences.
#[derive(Debug, Default)]
pub(super) struct BlockDerivatives {
    /// By scores.
    pub scores: BlockArrays,
    /// By variances; empty unless noise is proportional to the values.
    pub variances: BlockArrays,
}

/// Numbers for the scores of the tokens of a block.
#[derive(Debug, Default)]
pub(super) struct BlockArrays {
    pub nodes: Vec<f64>, // [tokens][stride]
    pub edges: Vec<f64>, // [tokens][K][stride], or empty without edge attributes
}

/// A piece of [`BlockArrays`], of a chunk or of a sentence of T tokens. Without edge attributes
/// `edges` is empty; what is not wanted at all is empty as well.
#[derive(Debug)]
pub(crate) struct Arrays<'a> {
    pub nodes: &'a mut [f64], // [T][stride]
    pub edges: &'a mut [f64], // [T][K][stride]
}

impl BlockArrays {
    /// Zeros for `tokens` tokens.
    pub fn new(tokens: usize, space: &ParameterSpace) -> Self {
        Self {
            nodes: vec![0.0; tokens * space.stride()],
            edges: vec![0.0; tokens * space.edges.used_width()],
        }
    }

    pub fn len(&self) -> usize {
        self.nodes.len() + self.edges.len()
    }

    pub fn clear(&mut self) {
        self.nodes.fill(0.0);
        self.edges.fill(0.0);
    }

    /// Splits the arrays into pieces of `tokens` tokens each.
    pub fn split(&mut self, tokens: &[usize], space: &ParameterSpace) -> Vec<Arrays<'_>> {
        let mut rest = Arrays {
            nodes: &mut self.nodes,
            edges: &mut self.edges,
        };
        tokens.iter().map(|&n| rest.take(n, space)).collect()
    }
}

impl<'a> Arrays<'a> {
    /// Splits off the first `tokens` tokens.
    pub fn take(&mut self, tokens: usize, space: &ParameterSpace) -> Arrays<'a> {
        Arrays {
            nodes: take(&mut self.nodes, tokens * space.stride()),
            edges: take(&mut self.edges, tokens * space.edges.width()),
        }
    }
}

/// Splits off the first `length` numbers; of an empty slice, none.
fn take<'a>(numbers: &mut &'a mut [f64], length: usize) -> &'a mut [f64] {
    let length = length.min(numbers.len());
    let (head, tail) = std::mem::take(numbers).split_at_mut(length);
    *numbers = tail;
    head
}
