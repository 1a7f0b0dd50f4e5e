//! Where training starts and what the L2 penalty pulls towards, if training continues from models.
//!
//! With the weights θ_init and θ_towards of the models, 0 where a model has none:
//!
//! | | start | center of the penalty |
//! |---|---|---|
//! | weights that `init` knows | θ_init | θ_towards |
//! | other weights | θ_towards | θ_towards |
//! | attributes of a model that no labeled token has | as above | the start |
//!
//! Nothing is known about attributes of the last kind. Their gradient is exactly 0, because their
//! columns are empty and their weights are at the center, so they keep their weights; the tagger
//! will need them in other text. (Unlabeled text may have them: then the noise term has a say.)

use std::sync::Arc;

use super::base_models::{BaseRole, BaseWeights, Entry, position};
use super::model_match::Occurrences;
use crate::chain::LabelWeights;
use crate::extract::Classes;
use crate::score::{ExtraWeights, ParameterSpace};

/// Where training starts and what the L2 penalty pulls towards.
#[derive(Debug)]
pub(super) struct Origin {
    pub initial: Vec<f64>,        // [n] θ of single attributes, not of classes
    pub centers: Arc<[f64]>,      // [n] φ of classes
    pub is_fixed: [Vec<bool>; 2], // [classes] of nodes and edges: the third row of the table
    pub recall_bias: f64,         // that the search for it starts from
}

/// Returns the nonzero weights of the models, which exist whether or not the training data have
/// them.
pub(super) fn extra_weights(
    base: &[BaseWeights],
    classes: &[Classes; 2],
    labels: usize,
    stride: usize,
) -> ExtraWeights {
    let mut extra = ExtraWeights::default();
    for model in base {
        for (kind, pairs) in [&mut extra.nodes, &mut extra.edges].into_iter().enumerate() {
            for (class, &member) in (0..).zip(&classes[kind].first_members()) {
                let cells = model.row(kind, member as usize).unwrap_or_default().iter();
                pairs.extend(cells.map(|&(cell, _)| (class, position(cell, stride) as u32)));
            }
        }
        let LabelWeights { transitions, start, end } = &model.labels;
        let weights = [transitions, start, end];
        for (positions, weights) in extra.labels.iter_mut().zip(weights) {
            let nonzero = (0..).zip(weights).filter(|&(_, &w)| w != 0.0);
            let padded = |i: usize| (i / labels * stride + i % labels) as u32;
            positions.extend(nonzero.map(|(i, _)| padded(i)));
        }
    }
    extra
}

impl Origin {
    /// Collects the weights of the models for the parameters of `space`, with its classes of node
    /// and edge attributes.
    pub fn new(
        base: &[BaseWeights],
        space: &ParameterSpace,
        classes: &[Classes; 2],
        occurrences: &Occurrences,
    ) -> Self {
        let (n, stride) = (space.dimension(), space.stride());
        let [mut initial, mut centers] = [(); 2].map(|()| vec![0.0; n]);
        let mut is_fixed = classes.each_ref().map(|classes| vec![false; classes.len()]);
        let models = [BaseRole::Init, BaseRole::Towards]
            .map(|role| base.iter().find(|model| model.role == role));
        let known = models[0].map(|init| &init.known_labels);
        for (kind, block) in space.blocks().into_iter().enumerate() {
            let initial = block.weights_mut(&mut initial);
            let centers = block.weights_mut(&mut centers);
            for (class, member) in classes[kind].first_members().into_iter().enumerate() {
                let rows = models.map(|model| model?.row(kind, member as usize));
                if rows.iter().all(Option::is_none) {
                    continue;
                }
                is_fixed[kind][class] = !occurrences.labeled[kind][member as usize];
                block.targets.for_each(class, |at, index| {
                    let weights = rows.map(|row| weight(row.unwrap_or_default(), at, stride));
                    let is_known =
                        |known: &Vec<bool>| known[at % stride] && (kind == 0 || known[at / stride]);
                    let is_init = rows[0].is_some() && known.is_some_and(is_known);
                    let start = weights[usize::from(!is_init)];
                    let center = if is_fixed[kind][class] { start } else { weights[1] };
                    initial[index] = start;
                    centers[index] = block.scale[class] * center;
                });
            }
        }
        space.set_label_weights(&starting_labels(models), &mut initial);
        if let Some(towards) = models[1] {
            space.set_label_weights(&towards.labels, &mut centers);
        }
        Self {
            initial,
            centers: centers.into(),
            is_fixed,
            recall_bias: base.first().map_or(0.0, |first| first.recall_bias),
        }
    }

    /// Returns the parameters φ of `space` where training starts.
    pub fn start(&self, space: &ParameterSpace) -> Vec<f64> {
        let mut start = self.initial.clone();
        for block in space.blocks() {
            let start = block.weights_mut(&mut start);
            for (column, &scale) in block.scale.iter().enumerate() {
                start[block.targets.range(column)].iter_mut().for_each(|w| *w *= scale);
            }
        }
        start
    }

    /// Returns the memory usage in bytes.
    pub fn memory(&self) -> usize {
        8 * (self.initial.len() + self.centers.len())
    }
}

/// Returns the label weights where training starts.
fn starting_labels([init, towards]: [Option<&BaseWeights>; 2]) -> LabelWeights {
    let (Some(init), Some(towards)) = (init, towards) else {
        return init.or(towards).map_or_else(LabelWeights::default, |one| one.labels.clone());
    };
    let k = init.known_labels.len();
    let known: Vec<usize> = (0..k).filter(|&a| init.known_labels[a]).collect();
    let mut labels = towards.labels.clone();
    for &a in &known {
        labels.start[a] = init.labels.start[a];
        labels.end[a] = init.labels.end[a];
        for &b in &known {
            labels.transitions[a * k + b] = init.labels.transitions[a * k + b];
        }
    }
    labels
}

/// Returns the weight of an attribute at a position in a token's row of scores.
fn weight(row: &[Entry], at: usize, stride: usize) -> f64 {
    let found = row.binary_search_by_key(&at, |&(cell, _)| position(cell, stride));
    found.map_or(0.0, |i| f64::from_bits(row[i].1))
}
