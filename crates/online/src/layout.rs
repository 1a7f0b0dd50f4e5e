//! Where online learners keep their weights.
//!
//! An example reads and changes the weights of its own attributes only, at random places of memory,
//! so what counts is cache lines. A column of the design matrix with many weights is a *row*: one
//! slot for each score of a token, padded to whole SIMD vectors, with zeros in the gaps
//! ([`Targets::is_dense`](dropchain::score::Targets::is_dense)). Each weight of another column,
//! most of which have one, is a single slot. Transitions, start and end weights are rows as well.
//!
//! A class of m attributes with identical columns has the parameter φ = √m·θ in the batch layout
//! and the score √m·φ. Here it has the weight w = m·θ, so that scores are sums without factors; the
//! number of members enters the updates.

use std::ops::Range;

use dropchain::chain::{LANES, LabelWeights};
use dropchain::score::{FeatureBlock, ParameterSpace};

/// The slots of one design matrix.
#[derive(Clone, Debug)]
pub(super) struct BlockSlots {
    /// Number of slots of a row.
    pub width: usize,
    /// The first row.
    pub rows: usize,
    /// The first single weight.
    pub singles: usize,
    /// Number of rows and of single weights.
    pub counts: [usize; 2],
}

/// The assignment of parameters to slots.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Of node and edge attributes.
    pub blocks: [BlockSlots; 2],
    /// Of transitions, `[K][S]`.
    pub transitions: Range<usize>,
    /// Of start weights, `[S]`.
    pub start: Range<usize>,
    /// Of end weights, `[S]`.
    pub end: Range<usize>,
    /// Which slots hold a weight, one bit each: those of padding and gaps stay 0.
    pub masks: Vec<u8>,
}

/// Counts rows and single weights of a block.
pub(super) fn count(block: &FeatureBlock) -> [usize; 2] {
    let [mut rows, mut singles] = [0, 0];
    for column in 0..block.columns() {
        if block.targets.is_dense(column) {
            rows += 1;
        } else {
            singles += block.targets.range(column).len();
        }
    }
    [rows, singles]
}

/// Where the weights of a column are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The number of its row.
    Row(u32),
    /// The number of its first single weight, counted from that of the block.
    Singles(u32),
}

impl Layout {
    /// Lays out the parameters of `space`.
    pub fn new(space: &ParameterSpace) -> Self {
        let mut slots = 0;
        let mut take = |count: usize| {
            let start = slots;
            slots += count.next_multiple_of(LANES);
            start..start + count
        };
        let blocks = space.blocks().map(|block| {
            let [rows, singles] = count(block);
            BlockSlots {
                width: block.width(),
                rows: take(rows * block.width()).start,
                singles: take(singles).start,
                counts: [rows, singles],
            }
        });
        let (k, stride) = (space.labels(), space.stride());
        let [transitions, start, end] = [k * stride, stride, stride].map(&mut take);
        let mut layout = Self { blocks, transitions, start, end, masks: vec![0; slots / LANES] };
        layout.fill_masks(space);
        layout
    }

    /// Returns the number of slots.
    pub fn slots(&self) -> usize {
        self.masks.len() * LANES
    }

    /// Returns whether a slot holds a weight.
    #[inline(always)]
    pub fn has_weight(&self, slot: usize) -> bool {
        self.masks[slot / LANES] >> (slot % LANES) & 1 == 1
    }

    /// Returns the slots of transitions, start and end weights.
    pub fn label_ranges(&self) -> [Range<usize>; 3] {
        [&self.transitions, &self.start, &self.end].map(Range::clone)
    }

    /// Returns where the weights of each column of a block are.
    pub fn places(block: &FeatureBlock) -> Vec<Place> {
        let [mut rows, mut singles] = [0, 0];
        (0..block.columns())
            .map(|column| {
                if block.targets.is_dense(column) {
                    rows += 1;
                    Place::Row(rows - 1)
                } else {
                    let first = singles;
                    singles += block.targets.range(column).len() as u32;
                    Place::Singles(first)
                }
            })
            .collect()
    }

    /// Calls `visit(slot, index, scale)` for each attribute weight: its slot, its index in θ, and
    /// √m, by which the weight in the slot is larger.
    fn for_each_attribute(&self, space: &ParameterSpace, mut visit: impl FnMut(usize, usize, f64)) {
        for (slots, block) in self.blocks.iter().zip(space.blocks()) {
            let (mut row, mut single) = (slots.rows, slots.singles);
            for (column, &scale) in block.scale.iter().enumerate() {
                let targets = &block.targets;
                if targets.is_dense(column) {
                    targets.for_each(column, |position, index| {
                        visit(row + position, block.range.start + index, scale);
                    });
                    row += slots.width;
                } else {
                    for index in targets.range(column) {
                        visit(single, block.range.start + index, scale);
                        single += 1;
                    }
                }
            }
        }
    }

    fn fill_masks(&mut self, space: &ParameterSpace) {
        let mut masks = std::mem::take(&mut self.masks);
        let mut set = |slot: usize| masks[slot / LANES] |= 1 << (slot % LANES);
        self.for_each_attribute(space, |slot, _, _| set(slot));
        let mut weights = LabelWeights::default();
        space.label_weights(&vec![1.0; space.dimension()], &mut weights);
        self.for_each_label_weight(&weights, |slot, exists| {
            if exists == 1.0 {
                set(slot);
            }
        });
        self.masks = masks;
    }

    /// Calls `visit(slot, weight)` for all label weights.
    fn for_each_label_weight(&self, weights: &LabelWeights, mut visit: impl FnMut(usize, f64)) {
        let (k, stride) = (weights.start.len(), self.start.len());
        for (i, &weight) in weights.transitions.iter().enumerate() {
            visit(self.transitions.start + i / k * stride + i % k, weight);
        }
        for (range, weights) in [(&self.start, &weights.start), (&self.end, &weights.end)] {
            for (i, &weight) in weights.iter().enumerate() {
                visit(range.start + i, weight);
            }
        }
    }

    /// Returns the weights in the slots for the parameters θ.
    pub fn weights(&self, space: &ParameterSpace, theta: &[f64]) -> Vec<f64> {
        let mut weights = self.spread(space, theta);
        self.for_each_attribute(space, |slot, _, scale| weights[slot] *= scale);
        weights
    }

    /// Returns the numbers of all parameters in their slots.
    pub fn spread(&self, space: &ParameterSpace, numbers: &[f64]) -> Vec<f64> {
        let mut slots = vec![0.0; self.slots()];
        self.for_each_attribute(space, |slot, index, _| slots[slot] = numbers[index]);
        let mut labels = LabelWeights::default();
        space.label_weights(numbers, &mut labels);
        self.for_each_label_weight(&labels, |slot, number| slots[slot] = number);
        slots
    }

    /// Computes the parameters θ from the weights in the slots, of which `weight(slot)` is one.
    pub fn write(&self, space: &ParameterSpace, weight: impl Fn(usize) -> f64, theta: &mut [f64]) {
        theta.fill(0.0);
        self.for_each_attribute(space, |slot, index, scale| {
            theta[index] = weight(slot) / scale;
        });
        let [pairs, first, last] =
            self.label_ranges().map(|range| range.map(&weight).collect::<Vec<f64>>());
        space.add_label_gradient([&pairs, &first, &last], theta);
    }
}
