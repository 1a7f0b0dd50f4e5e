//! Arrays over the tokens of a block, and slices of them.

use crate::math::largest_magnitude;
use crate::score::ParameterSpace;

/// The derivatives of one block of sentences.
#[derive(Debug, Default)]
pub(super) struct BlockDerivatives {
    /// With respect to scores.
    pub scores: BlockArrays,
    /// With respect to variances; empty unless noise is proportional to the values.
    pub variances: BlockArrays,
}

/// One number per score of the tokens of a block.
#[derive(Debug, Default)]
pub(super) struct BlockArrays {
    pub nodes: Vec<f64>, // [tokens][stride]
    pub edges: Vec<f64>, // [tokens][K][stride], or empty without edge attributes
}

/// A number per score of a chunk or a sentence of T tokens. `edges` is empty
/// without edge attributes; both are empty if they are not needed.
#[derive(Debug)]
pub struct ScoreArrays<'a> {
    /// Of nodes, `[T][stride]`.
    pub nodes: &'a mut [f64],
    /// Of edges, `[T][K][stride]`.
    pub edges: &'a mut [f64],
}

impl BlockArrays {
    /// Creates zeros for `tokens` tokens.
    pub fn new(tokens: usize, space: &ParameterSpace) -> Self {
        Self {
            nodes: vec![0.0; tokens * space.stride()],
            edges: vec![0.0; tokens * space.edges.used_width()],
        }
    }

    pub fn clear(&mut self) {
        self.nodes.fill(0.0);
        self.edges.fill(0.0);
    }

    /// Splits the arrays into consecutive slices, one for each element of `tokens`, its number of
    /// tokens.
    pub fn split(&mut self, tokens: &[usize], space: &ParameterSpace) -> Vec<ScoreArrays<'_>> {
        let mut rest = ScoreArrays {
            nodes: &mut self.nodes,
            edges: &mut self.edges,
        };
        tokens.iter().map(|&n| rest.take(n, space)).collect()
    }
}

impl<'a> ScoreArrays<'a> {
    /// Lends the slices.
    pub(super) fn reborrow(&mut self) -> ScoreArrays<'_> {
        ScoreArrays {
            nodes: self.nodes,
            edges: self.edges,
        }
    }

    /// Returns the largest magnitude among the numbers.
    pub(super) fn largest_magnitude(&self) -> f64 {
        largest_magnitude(self.nodes).max(largest_magnitude(self.edges))
    }

    /// Splits off the first `tokens` tokens.
    pub(super) fn take(&mut self, tokens: usize, space: &ParameterSpace) -> ScoreArrays<'a> {
        ScoreArrays {
            nodes: take(&mut self.nodes, tokens * space.stride()),
            edges: take(&mut self.edges, tokens * space.edges.width()),
        }
    }
}

/// Splits off the first `length` numbers, or none if the slice is empty.
fn take<'a>(numbers: &mut &'a mut [f64], length: usize) -> &'a mut [f64] {
    let length = length.min(numbers.len());
    let (head, tail) = std::mem::take(numbers).split_at_mut(length);
    *numbers = tail;
    head
}
