//! The evaluated problem: sentences as numbers, the layout of the weights, and the noise.

use std::sync::Arc;

use dropchain::kernel::extract::{Classes, Dataset, SparseRows};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::objective::{NoiseOptions, PenalizedLikelihood, active_counts};
use dropchain::kernel::random::uniform;
use dropchain::kernel::score::{Boundary, ParameterSpace, SpaceOptions, States};
use dropchain::kernel::train::TrainingSet;
use dropchain::train::TrainSettings;

use super::variant::Variant;

/// Seeds of the labels, and of the attributes that are kept.
const LABELS: u64 = 1;
const ATTRIBUTES: u64 = 2;

/// The objective without a penalty, of any variant.
#[derive(Clone, Debug)]
pub struct Problem {
    pub data: Dataset,
    pub space: ParameterSpace,
    noise: NoiseOptions,
}

/// The size of synthetic sentences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Number of tokens T of each sentence.
    pub length: usize,
    /// Number of labels K.
    pub labels: usize,
    /// The share of the attributes that are kept.
    pub share: f64,
}

impl Problem {
    /// Returns the problem of a training set with the noise of the settings.
    pub fn new(set: &TrainingSet, settings: &TrainSettings) -> Self {
        let noise = settings.regularization().noise;
        Self { data: set.data().clone(), space: set.space().clone(), noise }
    }

    /// Returns the objective of a variant, without L2 penalty.
    pub fn objective(&self, variant: Variant) -> PenalizedLikelihood {
        let likelihood = PenalizedLikelihood::new(&self.data, &self.space, 0.0);
        let mut noise = self.noise;
        variant.apply(&mut noise);
        if noise.is_on() { likelihood.with_noise(noise) } else { likelihood }
    }

    /// Returns the problem of one sentence, with the same weights.
    pub fn sentence(&self, i: usize) -> Self {
        Self { data: self.data.select(&[i]), ..self.clone() }
    }

    /// Returns q/T, before collapsing or after.
    pub fn active_per_token(&self, is_collapsed: bool) -> f64 {
        let counts = active_counts(&self.data, &self.space);
        let active = if is_collapsed { counts.collapsed } else { counts.attributes };
        active as f64 / counts.tokens.max(1) as f64
    }

    /// Returns synthetic sentences: the tokens of the corpus one after another, from the start
    /// again if they are too few, cut after every T; random labels; a random part of the node
    /// attributes, and no edge attributes. Only attributes that occur have weights, and all pairs
    /// with labels.
    pub fn synthetic(&self, shape: Shape, sentences: usize) -> Self {
        let tokens = self.data.tokens().max(1);
        let kept = |column: u32| uniform(ATTRIBUTES, u64::from(column)) < shape.share;
        let mut numbers = vec![None; self.space.nodes.columns()];
        let (mut data, mut count) = (Dataset::default(), 0);
        let (mut nodes, mut edges) = (SparseRows::default(), SparseRows::default());
        for sentence in 0..sentences {
            for token in sentence * shape.length..(sentence + 1) * shape.length {
                let entries = self.data.nodes.entries(token % tokens);
                let entries = entries.filter(|(column, _)| kept(*column));
                let mut row: Vec<(u32, f64)> = entries
                    .map(|(column, value)| {
                        let number = numbers[column as usize].get_or_insert_with(|| {
                            count += 1;
                            count - 1
                        });
                        (*number, value)
                    })
                    .collect();
                nodes.push_row(&mut row);
                edges.push_row(&mut Vec::new());
                let label = uniform(LABELS, token as u64) * shape.labels as f64;
                data.push_labels(&[LabelId(label as u16)]);
            }
            data.end_sentence((sentence + 1) * shape.length, 1.0);
        }
        (data.nodes, data.edges) = (Arc::new(nodes), Arc::new(edges));
        let options = SpaceOptions {
            order: self.space.order(),
            boundary: Boundary::On,
            states: States::All,
            transitions: true,
            label_pairs: States::All,
            min_frequency: None,
        };
        let classes = [count as usize, 0].map(Classes::singletons);
        Self {
            space: ParameterSpace::new(shape.labels, &data, &classes[0], &classes[1], options),
            data,
            noise: self.noise,
        }
    }
}
