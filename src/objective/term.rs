//! What else an objective can have: terms that are neither the likelihood, nor the noise term of
//! the sentences, nor a penalty. An extra adds one.

use std::fmt::Debug;

use super::buffers::{BlockArrays, LabelSums};
use super::noise::{AttributeNoise, MonteCarlo};
use crate::chain::Transitions;
use crate::extract::Dataset;
use crate::score::{Block, BlockPartition, ParameterSpace};

/// A sum over sentences that is evaluated after the other terms, block by block of the partition.
pub trait Term: Debug + Send + Sync {
    /// Called at the start of each iteration, counted from 0, those of earlier segments included.
    /// Returns whether the term has changed.
    fn begin_iteration(&mut self, iteration: u64) -> bool;

    /// Returns the term of the sentences of a block, and adds its derivatives.
    fn add_block(&mut self, input: &TermInput<'_>, out: TermDerivatives<'_>) -> f64;
}

/// What a term depends on.
#[derive(Clone, Copy, Debug)]
pub struct TermInput<'a> {
    /// All sentences.
    pub data: &'a Dataset,
    /// The layout of θ.
    pub space: &'a ParameterSpace,
    /// θ.
    pub theta: &'a [f64],
    /// The label weights of θ, with matrices over all pairs.
    pub transitions: &'a Transitions,
    /// The total weights of labeled and of unlabeled sentences.
    pub total_weights: [f64; 2],
    /// The block of sentences.
    pub block: &'a Block,
    /// Its index.
    pub index: usize,
    /// The number of tokens of each of its chunks.
    pub tokens: &'a [usize],
}

/// What the derivatives of a term are added to.
#[derive(Debug)]
pub struct TermDerivatives<'a> {
    /// With respect to the scores of the block, 0 before. They become derivatives with respect to
    /// attribute weights.
    pub scores: &'a mut BlockArrays,
    /// With respect to label weights.
    pub sums: &'a mut LabelSums,
    /// With respect to θ.
    pub gradient: &'a mut [f64],
}

/// Creates the term of Monte-Carlo noise with these rates of single attributes. The library has no
/// such term; [`NoiseOptions::sampler`](crate::train::NoiseOptions::sampler) brings one.
#[derive(Clone, Copy, Debug)]
pub struct Sampler(
    /// The function.
    pub fn(MonteCarlo, AttributeNoise, &Dataset, &ParameterSpace, &BlockPartition) -> Box<dyn Term>,
);

/// It is no option: all are equal.
impl PartialEq for Sampler {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
