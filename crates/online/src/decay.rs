//! The penalty of one sentence, (λ/2)·(w − c)² of each weight, and how weights decay by it.
//!
//! If all weights have center 0 and the same learning rate η, they decay by the same factor
//! 1 − ηλ at every step. So they are stored as v, w = a·v: the decay changes the number a, and a
//! sentence only the v of its own attributes.
//!
//! Otherwise a weight decays towards its center while learning rates η_t pass without a gradient,
//!
//! ```text
//! w ← c + (w − c)·exp(−λ·Σ η_t)
//! ```
//!
//! The weights of an attribute decay when it occurs next, for the time since then.

use dropchain::kernel::math::exp_at_least;
use dropchain::kernel::objective::Penalty;
use dropchain::kernel::simd::{self, Kernel};

use crate::problem::{Problem, State};

/// The smallest exponent of a decay; smaller factors are 0 for all purposes.
const LOWEST_EXPONENT: f64 = -700.0;

/// The penalty of one sentence, and the decay of the weights in an epoch.
#[derive(Clone, Debug)]
pub(crate) struct Decay {
    /// λ = 2·c2/N: it determines the schedule of the learning rate.
    pub strength: f64,
    centers: Vec<f64>, // [dimension] c of each weight; empty: 0
    /// a.
    pub factor: f64,
    elapsed: f64,      // Σ η
    last: Vec<f64>,    // [groups] its value when the group decayed last; empty: all decay alike
    factors: Vec<f64>, // a buffer
}

impl Decay {
    /// Divides a penalty among `sentences` sentences.
    pub fn new(problem: &Problem<'_>, penalty: &Penalty, sentences: usize) -> Self {
        let parameters = 0..problem.space.dimension();
        let scale = 2.0 / sentences.max(1) as f64;
        let mut centers = problem.weights(parameters.map(|i| penalty.center(i)).collect());
        if centers.iter().all(|center| *center == 0.0) {
            centers.clear();
        }
        let is_lazy = !centers.is_empty();
        Self {
            strength: scale * penalty.strength,
            centers,
            factor: 1.0,
            elapsed: 0.0,
            last: vec![0.0; if is_lazy { problem.members.len() } else { 0 }],
            factors: Vec::new(),
        }
    }

    /// Whether the weights of a group decay when it occurs next.
    pub fn is_lazy(&self) -> bool {
        !self.last.is_empty()
    }

    /// Lets the learning rate η of a step pass. Weights of these groups decay now.
    pub fn pass(&mut self, problem: &Problem<'_>, eta: f64, groups: &[u32], state: &mut State) {
        if !self.is_lazy() {
            self.factor *= 1.0 - eta * self.strength;
            return;
        }
        self.elapsed += eta;
        groups.iter().for_each(|&group| self.decay(problem, group as usize, state));
    }

    /// Makes what is stored the weights themselves, after the steps so far.
    pub fn complete(&mut self, problem: &Problem<'_>, state: &mut State) {
        if self.factor != 1.0 {
            state.weights.iter_mut().for_each(|w| *w *= self.factor);
        }
        (0..self.last.len()).for_each(|group| self.decay(problem, group, state));
        (self.factor, self.elapsed) = (1.0, 0.0);
        self.last.fill(0.0);
    }

    fn decay(&mut self, problem: &Problem<'_>, group: usize, state: &mut State) {
        let elapsed = self.elapsed - std::mem::replace(&mut self.last[group], self.elapsed);
        let range = problem.group(group);
        self.factors.clear();
        self.factors.resize(range.len(), self.strength);
        simd::dispatch(DecayGroup {
            factors: &mut self.factors,
            elapsed,
            centers: &self.centers[range.clone()],
            weights: &mut state.weights[range],
        });
    }
}

/// The kernel that lets the weights of a group decay.
struct DecayGroup<'a> {
    /// λ of each weight; overwritten.
    factors: &'a mut [f64],
    elapsed: f64,
    /// c of each weight.
    centers: &'a [f64],
    weights: &'a mut [f64],
}

impl Kernel for DecayGroup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const SUMS: usize>(self) {
        let Self { factors, elapsed, centers, weights } = self;
        factors.iter_mut().for_each(|x| *x = -*x * elapsed);
        exp_at_least(factors, LOWEST_EXPONENT);
        for ((w, x), center) in weights.iter_mut().zip(factors).zip(centers) {
            *w = center + (*w - center) * *x;
        }
    }
}
