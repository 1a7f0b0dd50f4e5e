//! The inner loops over the attributes of a sentence, compiled for several instruction sets.
//!
//! Rows of weights are processed in pieces of up to [`PIECE`] vectors, which stay in registers
//! while the tokens of a column are visited.

use std::ops::Range;

use super::columns::{SentenceEntries, value};
use super::layout::BlockSlots;
use dropchain::chain::LANES;
use dropchain::math::exp_at_least;
use dropchain::score::NoiseRates;
use dropchain::simd::Kernel;

/// Vectors per piece: as many as registers hold.
const PIECE: usize = 7;

/// The smallest exponent of a decay; smaller factors are 0 for all purposes.
const LOWEST_EXPONENT: f64 = -700.0;

/// The weights or scores of eight consecutive labels.
type Lanes = [f64; LANES];

/// Calls a method once for each piece of a row, with the number of vectors as a constant.
macro_rules! for_each_piece {
    ($self:ident, $method:ident, $width:expr) => {
        for at in (0..$width).step_by(PIECE * LANES) {
            match (($width - at) / LANES).min(PIECE) {
                1 => $self.$method::<1>(at),
                2 => $self.$method::<2>(at),
                3 => $self.$method::<3>(at),
                4 => $self.$method::<4>(at),
                5 => $self.$method::<5>(at),
                6 => $self.$method::<6>(at),
                _ => $self.$method::<PIECE>(at),
            }
        }
    };
}

/// Adds the weights of the attributes of a sentence to its scores, `S += X·W`, or if `SQUARED`
/// their squares to its variances, `V += ρ·X∘²·W∘²/m`.
pub(super) struct AddProducts<'a, const SQUARED: bool> {
    pub entries: SentenceEntries<'a>,
    pub slots: &'a BlockSlots,
    pub weights: &'a [f64],
    /// ρ, if `SQUARED`.
    pub rates: &'a NoiseRates,
    /// `[T][width]`.
    pub sums: &'a mut [f64],
}

impl<const SQUARED: bool> Kernel for AddProducts<'_, SQUARED> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for_each_piece!(self, add_rows, self.slots.width);
        let width = self.slots.width;
        for (i, single) in self.entries.singles.iter().enumerate() {
            let weight = self.weights[self.slots.singles + single.slot as usize];
            let x = self.entries.single_value(i) * weight;
            let position = single.token as usize * width + single.position as usize;
            self.sums[position] += if SQUARED {
                self.rates.column(single.column as usize) / f64::from(single.members) * (x * x)
            } else {
                x
            };
        }
    }
}

impl<const SQUARED: bool> AddProducts<'_, SQUARED> {
    #[inline(always)]
    fn add_rows<const B: usize>(&mut self, at: usize) {
        let width = self.slots.width;
        let first = self.slots.rows + at;
        let sums = &mut *self.sums;
        for (row, tokens, values) in self.entries.iter_rows() {
            let weights = piece::<B>(self.weights, first + row.row as usize * width);
            let rate = match SQUARED {
                true => self.rates.column(row.column as usize) / f64::from(row.members),
                false => 1.0,
            };
            for (i, &token) in tokens.iter().enumerate() {
                let x = value(values, i);
                let factor = if SQUARED { x * x * rate } else { x };
                let sums = piece_mut::<B>(sums, token as usize * width + at);
                for k in 0..B {
                    for j in 0..LANES {
                        let w = weights[k][j];
                        sums[k][j] += factor * if SQUARED { w * w } else { w };
                    }
                }
            }
        }
    }
}

/// The derivatives of a sentence with respect to its scores and, under noise, their variances.
#[derive(Clone, Copy)]
pub(super) struct Derivatives<'a> {
    /// `[T][width]`.
    pub scores: &'a [f64],
    /// `[T][width]`, or empty without noise.
    pub variances: &'a [f64],
    /// Second derivatives with respect to scores, `[T][width]`, if the step needs them.
    pub curvatures: &'a [f64],
}

/// How a weight moves, given its gradient.
pub(super) trait Step: Copy {
    /// Whether steps need second derivatives.
    const NEEDS_CURVATURES: bool = false;

    /// Moves the weights w and the numbers kept beside them, both of consecutive slots, of one of
    /// the m `members` of a class of attributes.
    fn apply(self, weights: Moved<'_>, members: f64, slope: &Slope);
}

/// The derivatives with respect to the weights of eight slots.
#[derive(Clone, Copy)]
pub(super) struct Slope {
    /// Those of the loss.
    gradient: Lanes,
    /// Those of the noise term with respect to the variances, times ρ.
    noise: Lanes,
    /// The second ones of the loss, if the step needs them.
    curvature: Lanes,
}

/// The weights of eight slots that a step moves.
pub(super) struct Moved<'a> {
    pub weights: &'a mut Lanes,
    /// Empty if the step needs none.
    pub sums: &'a mut [f64],
    pub mask: u8,
}

/// A step against the gradient, by the same rate for all weights. Weights are stored without the
/// decay that all share.
#[derive(Clone, Copy)]
pub(super) struct DecreasingStep {
    /// The learning rate over the decay.
    pub gain: f64,
    /// The learning rate.
    pub eta: f64,
}

/// A step of AdaGrad, whose sums are those of squared gradients.
#[derive(Clone, Copy)]
pub(super) struct AdagradStep {
    /// The learning rate.
    pub eta: f64,
}

/// A step over the sum of second derivatives, whose square is beside each weight and is above 0.
#[derive(Clone, Copy)]
pub(super) struct CurvatureStep {
    /// The learning rate.
    pub eta: f64,
}

impl Step for DecreasingStep {
    #[inline(always)]
    fn apply(self, moved: Moved<'_>, members: f64, slope: &Slope) {
        let (gain, noise) = (self.gain * members, 2.0 * self.eta);
        for j in 0..LANES {
            let step = gain * slope.gradient[j] + noise * (moved.weights[j] * slope.noise[j]);
            moved.weights[j] -= masked(step, moved.mask, j);
        }
    }
}

impl Step for AdagradStep {
    #[inline(always)]
    fn apply(self, moved: Moved<'_>, members: f64, slope: &Slope) {
        let (rate, noise) = (self.eta * members, 2.0 / members);
        for j in 0..LANES {
            let g = slope.gradient[j] + noise * (moved.weights[j] * slope.noise[j]);
            let g = masked(g, moved.mask, j);
            let sum = moved.sums[j] + g * g;
            moved.sums[j] = sum;
            moved.weights[j] -= if sum > 0.0 { rate * g / sum.sqrt() } else { 0.0 };
        }
    }
}

impl Step for CurvatureStep {
    const NEEDS_CURVATURES: bool = true;

    #[inline(always)]
    fn apply(self, moved: Moved<'_>, members: f64, slope: &Slope) {
        let (rate, noise) = (self.eta * members, 2.0 / members);
        for j in 0..LANES {
            let g = slope.gradient[j] + noise * (moved.weights[j] * slope.noise[j]);
            let g = masked(g, moved.mask, j);
            let sum = moved.sums[j].sqrt() + masked(slope.curvature[j], moved.mask, j);
            moved.sums[j] = sum * sum;
            moved.weights[j] -= rate * g / sum;
        }
    }
}

/// Moves the weights of the attributes of a sentence.
pub(super) struct Descend<'a, S> {
    pub entries: SentenceEntries<'a>,
    pub slots: &'a BlockSlots,
    pub masks: &'a [u8],
    pub weights: &'a mut [f64],
    /// One number beside each weight, or empty.
    pub sums: &'a mut [f64],
    pub derivatives: Derivatives<'a>,
    /// ρ.
    pub rates: &'a NoiseRates,
    pub step: S,
}

impl<S: Step> Kernel for Descend<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for_each_piece!(self, move_rows, self.slots.width);
        let (width, entries) = (self.slots.width, self.entries);
        for (single, range) in entries.iter_singles() {
            let [mut gradient, mut noise, mut curvature] = [[0.0; LANES]; 3];
            for i in range {
                let x = entries.single_value(i);
                let token = entries.singles[i].token as usize;
                let position = token * width + single.position as usize;
                gradient[0] += x * self.derivatives.scores[position];
                if !self.derivatives.variances.is_empty() {
                    let rate = self.rates.column(single.column as usize);
                    noise[0] += x * x * rate * self.derivatives.variances[position];
                }
                if S::NEEDS_CURVATURES {
                    curvature[0] += x * x * self.derivatives.curvatures[position];
                }
            }
            let slot = self.slots.singles + single.slot as usize;
            let [mut weights, mut sums] = [[0.0; LANES]; 2];
            weights[0] = self.weights[slot];
            sums[0] = self.sums.get(slot).copied().unwrap_or(0.0);
            let moved = Moved { weights: &mut weights, sums: &mut sums, mask: 1 };
            let members = f64::from(single.members);
            let slope = Slope { gradient, noise, curvature };
            self.step.apply(moved, members, &slope);
            self.weights[slot] = weights[0];
            if let Some(sum) = self.sums.get_mut(slot) {
                *sum = sums[0];
            }
        }
    }
}

impl<S: Step> Descend<'_, S> {
    #[inline(always)]
    fn move_rows<const B: usize>(&mut self, at: usize) {
        let width = self.slots.width;
        let first = self.slots.rows + at;
        let derivatives = self.derivatives;
        for (row, tokens, values) in self.entries.iter_rows() {
            let [mut gradient, mut noise, mut curvature] = [[[0.0; LANES]; B]; 3];
            let rate = self.rates.column(row.column as usize);
            for (i, &token) in tokens.iter().enumerate() {
                let x = value(values, i);
                let start = token as usize * width + at;
                add_multiple(&mut gradient, x, piece(derivatives.scores, start));
                if !derivatives.variances.is_empty() {
                    let variances = piece(derivatives.variances, start);
                    add_multiple(&mut noise, x * x * rate, variances);
                }
                if S::NEEDS_CURVATURES {
                    let curvatures = piece(derivatives.curvatures, start);
                    add_multiple(&mut curvature, x * x, curvatures);
                }
            }
            let start = first + row.row as usize * width;
            let weights = piece_mut::<B>(self.weights, start);
            let members = f64::from(row.members);
            for k in 0..B {
                let slot = start + k * LANES;
                let sums =
                    if self.sums.is_empty() { &mut [] } else { &mut self.sums[slot..slot + LANES] };
                let moved =
                    Moved { weights: &mut weights[k], sums, mask: self.masks[slot / LANES] };
                let slope =
                    Slope { gradient: gradient[k], noise: noise[k], curvature: curvature[k] };
                self.step.apply(moved, members, &slope);
            }
        }
    }
}

/// Moves label weights, the slots of which are consecutive, given the derivatives with respect to
/// them.
pub(super) struct DescendLabels<'a, S> {
    pub masks: &'a [u8],
    pub weights: &'a mut [f64],
    /// One number beside each weight, or empty.
    pub sums: &'a mut [f64],
    pub derivatives: &'a [f64],
    /// The second derivatives, if the step needs them.
    pub curvatures: &'a [f64],
    pub step: S,
}

impl<S: Step> Kernel for DescendLabels<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let weights = self.weights.as_chunks_mut::<LANES>().0.iter_mut();
        let derivatives = self.derivatives.as_chunks::<LANES>().0;
        for (k, ((weights, derivatives), &mask)) in
            weights.zip(derivatives).zip(self.masks).enumerate()
        {
            let sums =
                if self.sums.is_empty() { &mut [] } else { &mut self.sums[k * LANES..][..LANES] };
            let moved = Moved { weights, sums, mask };
            let curvatures = self.curvatures.as_chunks::<LANES>().0;
            let slope = Slope {
                gradient: *derivatives,
                noise: [0.0; LANES],
                curvature: curvatures.get(k).copied().unwrap_or_default(),
            };
            self.step.apply(moved, 1.0, &slope);
        }
    }
}

/// The penalty of one sentence, and how it moves weights that have rates of their own.
///
/// While learning rates η_t pass without a gradient, a weight with the strength λ decays towards
/// its center c: `w ← c + (w − c)·exp(−λ·Σ η_t)`; with AdaGrad η_t/√G takes the place of η_t.
#[derive(Clone, Copy)]
pub(super) struct Decay<'a> {
    /// λ of all weights.
    pub strength: f64,
    /// λ of each weight, or empty.
    pub strengths: &'a [f64],
    /// c of each weight; empty: 0.
    pub centers: &'a [f64],
    /// G of each weight; empty: 1.
    pub squares: &'a [f64],
}

impl Decay<'_> {
    /// Applies the penalty to the weights of consecutive slots, whole vectors of them.
    #[inline(always)]
    fn apply(&self, weights: &mut [f64], slots: Range<usize>, elapsed: f64) {
        for (i, weights) in weights[slots.clone()].as_chunks_mut::<LANES>().0.iter_mut().enumerate()
        {
            let first = slots.start + i * LANES;
            let mut factors = [0.0; LANES];
            for (j, factor) in factors.iter_mut().enumerate() {
                *factor = self.exponent(first + j, elapsed);
            }
            exp_at_least(&mut factors, LOWEST_EXPONENT);
            for j in 0..LANES {
                weights[j] = self.moved(first + j, weights[j], factors[j]);
            }
        }
    }

    /// Applies the penalty to one weight.
    #[inline(always)]
    fn apply_one(&self, weights: &mut [f64], slot: usize, elapsed: f64) {
        let mut factor = [self.exponent(slot, elapsed)];
        exp_at_least(&mut factor, LOWEST_EXPONENT);
        weights[slot] = self.moved(slot, weights[slot], factor[0]);
    }

    #[inline(always)]
    fn exponent(&self, slot: usize, elapsed: f64) -> f64 {
        let strength = if self.strengths.is_empty() { self.strength } else { self.strengths[slot] };
        if self.squares.is_empty() {
            return -strength * elapsed;
        }
        // A weight that has never had a gradient has no rate yet.
        let square = self.squares[slot];
        if square > 0.0 { -strength * elapsed / square.sqrt() } else { 0.0 }
    }

    #[inline(always)]
    fn moved(&self, slot: usize, weight: f64, factor: f64) -> f64 {
        if self.centers.is_empty() {
            return weight * factor;
        }
        let center = self.centers[slot];
        center + (weight - center) * factor
    }
}

/// Applies the penalty to the weights of the attributes of a sentence, for the time since the last
/// sentence with each.
pub(super) struct DecayEntries<'a> {
    pub decay: Decay<'a>,
    pub entries: SentenceEntries<'a>,
    pub slots: &'a BlockSlots,
    pub weights: &'a mut [f64],
    /// The time of the last decay of each row and each single weight.
    pub last: &'a mut [Vec<f64>; 2],
    /// Σ η_t until now.
    pub now: f64,
}

impl Kernel for DecayEntries<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let width = self.slots.width;
        let [rows, singles] = self.last;
        for row in self.entries.rows {
            let row = row.row as usize;
            let elapsed = self.now - std::mem::replace(&mut rows[row], self.now);
            let start = self.slots.rows + row * width;
            self.decay.apply(self.weights, start..start + width, elapsed);
        }
        for single in self.entries.singles {
            let last = &mut singles[single.slot as usize];
            let elapsed = self.now - std::mem::replace(last, self.now);
            if elapsed > 0.0 {
                let slot = self.slots.singles + single.slot as usize;
                self.decay.apply_one(self.weights, slot, elapsed);
            }
        }
    }
}

/// Applies the penalty to the weights of consecutive slots.
pub(super) struct DecaySlots<'a> {
    pub decay: Decay<'a>,
    pub weights: &'a mut [f64],
    /// Of whole vectors.
    pub slots: Range<usize>,
    pub elapsed: f64,
}

impl Kernel for DecaySlots<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.decay.apply(self.weights, self.slots, self.elapsed);
    }
}

/// Applies the penalty to all weights of a block that were not decayed until now.
pub(super) struct DecayBlock<'a> {
    pub decay: Decay<'a>,
    pub slots: &'a BlockSlots,
    pub weights: &'a mut [f64],
    /// The time of the last decay of each row and each single weight; becomes 0.
    pub last: &'a mut [Vec<f64>; 2],
    /// Σ η_t until now.
    pub now: f64,
}

impl Kernel for DecayBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [rows, singles] = self.last;
        for (i, last) in rows.iter_mut().enumerate() {
            let start = self.slots.rows + i * self.slots.width;
            let elapsed = self.now - std::mem::take(last);
            self.decay.apply(self.weights, start..start + self.slots.width, elapsed);
        }
        for (i, last) in singles.iter_mut().enumerate() {
            let elapsed = self.now - std::mem::take(last);
            self.decay.apply_one(self.weights, self.slots.singles + i, elapsed);
        }
    }
}

/// Returns `x` if bit `j` of the mask is set, or 0.
#[inline(always)]
fn masked(x: f64, mask: u8, j: usize) -> f64 {
    if mask & (1 << j) != 0 { x } else { 0.0 }
}

#[inline(always)]
fn add_multiple<const B: usize>(sums: &mut [Lanes; B], x: f64, terms: &[Lanes; B]) {
    for k in 0..B {
        for j in 0..LANES {
            sums[k][j] += x * terms[k][j];
        }
    }
}

/// Returns `B` vectors from `start` on.
#[inline(always)]
fn piece<const B: usize>(numbers: &[f64], start: usize) -> &[Lanes; B] {
    let numbers = &numbers[start..start + B * LANES];
    &numbers.as_chunks::<LANES>().0.as_chunks::<B>().0[0]
}

/// Like [`piece`], but mutable.
#[inline(always)]
fn piece_mut<const B: usize>(numbers: &mut [f64], start: usize) -> &mut [Lanes; B] {
    let numbers = &mut numbers[start..start + B * LANES];
    &mut numbers.as_chunks_mut::<LANES>().0.as_chunks_mut::<B>().0[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ridge regression of features that do not occur together: each weight is on its own, and
    /// minimizes ½Σ(wx − y)² + ½w².
    #[test]
    fn steps_by_curvature_meet_the_closed_form_of_a_quadratic_loss() {
        let observations = [(0.5, 2.0), (-1.5, 0.25), (3.0, -1.0), (0.0, 7.0), (1.0, 1.0)];
        let (mut weights, mut squares) = ([0.0; LANES], [1.0; LANES]);
        let (mut products, mut variances) = ([0.0; LANES], [1.0; LANES]);
        for (x, y) in observations {
            for j in 0..LANES {
                let x = x + 0.1 * j as f64;
                let mut slope =
                    Slope { gradient: [0.0; LANES], noise: [0.0; LANES], curvature: [0.0; LANES] };
                slope.gradient[j] = x * (weights[j] * x - y);
                slope.curvature[j] = x * x;
                let moved = Moved { weights: &mut weights, sums: &mut squares, mask: 0xff };
                CurvatureStep { eta: 1.0 }.apply(moved, 1.0, &slope);
                products[j] += x * y;
                variances[j] += x * x;
                assert!((weights[j] - products[j] / variances[j]).abs() < 1e-12);
            }
        }
    }
}
