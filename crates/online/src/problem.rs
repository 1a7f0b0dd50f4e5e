//! The data and the layout of the weights: what does not change during training.

use super::columns::SentenceColumns;
use super::kernels::AddProducts;
use super::layout::Layout;
use dropchain::chain::{LabelWeights, Transitions};
use dropchain::extract::Dataset;
use dropchain::objective::BlockArrays;
use dropchain::score::{NoiseRates, ParameterSpace};
use dropchain::simd;

/// The data and the layout of the weights.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    pub data: &'a Dataset,
    pub space: &'a ParameterSpace,
    pub layout: Layout,
    /// Node attributes and edge attributes.
    pub columns: [SentenceColumns; 2],
}

impl<'a> Problem<'a> {
    pub fn new(data: &'a Dataset, space: &'a ParameterSpace) -> Self {
        let matrices = [(&data.nodes, &space.nodes), (&data.edges, &space.edges)];
        Self {
            layout: Layout::new(space),
            columns: matrices.map(|(matrix, block)| {
                SentenceColumns::new(data, matrix, block, &Layout::places(block))
            }),
            data,
            space,
        }
    }

    /// Computes the scores of a sentence, without those of transitions and boundaries.
    pub fn score(&self, sentence: usize, weights: &[f64], scores: &mut BlockArrays) {
        scores.reset(self.data.sentence(sentence).len(), self.space);
        for (i, scores) in [&mut scores.nodes, &mut scores.edges].into_iter().enumerate() {
            if !scores.is_empty() {
                simd::dispatch(AddProducts::<false> {
                    entries: self.columns[i].sentence(sentence),
                    slots: &self.layout.blocks[i],
                    weights,
                    rates: &NoiseRates::default(),
                    sums: scores,
                });
            }
        }
    }
}

/// Transitions and boundary weights in the forms that inference needs.
#[derive(Debug)]
pub(super) struct Chain {
    pub weights: LabelWeights,
    pub transitions: Transitions,
}

impl Chain {
    pub fn new(space: &ParameterSpace) -> Self {
        Self {
            weights: LabelWeights::default(),
            transitions: Transitions::new(space.labels(), space.order()),
        }
    }

    /// Copies the label weights from their slots, times `factor`.
    pub fn set(&mut self, problem: &Problem<'_>, slots: &[f64], factor: f64) {
        let (k, stride) = (problem.space.labels(), problem.space.stride());
        let layout = &problem.layout;
        let copy = |to: &mut Vec<f64>, from: &[f64]| {
            to.clear();
            for row in from.chunks_exact(stride) {
                to.extend(row[..k].iter().map(|w| factor * w));
            }
        };
        copy(&mut self.weights.transitions, &slots[layout.transitions.clone()]);
        copy(&mut self.weights.start, &slots[layout.start.clone()]);
        copy(&mut self.weights.end, &slots[layout.end.clone()]);
        self.update();
    }

    /// Prepares the transitions for the weights.
    pub fn update(&mut self) {
        let weights = &self.weights;
        self.transitions.set(&weights.transitions, &weights.start, &weights.end);
    }
}
