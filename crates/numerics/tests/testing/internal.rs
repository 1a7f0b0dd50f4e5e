//! Parts of modules that have tests of their own, and are not public without those.

use crate::by_stride;
use crate::chain::forward_backward::{backward_in_log_space, forward_in_log_space};
use crate::chain::products;
use crate::chain::{LabelMask, Lattice, Mode, Scores, Transitions};
use crate::objective::PenalizedLikelihood;
use crate::objective::pass::PassInput;
use crate::objective::problem::Problem;
use crate::objective::totals::LIMITS;
use crate::ranks::Ranks;

pub use crate::data::dataset::PartialLabels;
pub use crate::exact_sum::{FixedPointSum, anchor, untied};
pub use crate::noise::adjoint_kernel::AdjointKernel;
pub use crate::noise::features::ActiveFeatures;
pub use crate::noise::quadratic::EdgeMatrices;
pub use crate::optim::lbfgs::LbfgsMemory;
pub use crate::optim::line_search::{
    LineSearchStart, NON_FINITE_SHRINK, SearchMethod, StepSearch, TrialDecision, TrialStep,
    cubic_minimum, shorten,
};
pub use crate::optim::owlqn::{L1Penalty, pseudo_derivative};
pub use crate::optim::state::ConvergenceTest;
pub use crate::optim::vector::{CHUNK, Point, difference, dot, norms, step};

/// The words of 4 bytes that ranks send at a time.
pub const PIECE: usize = Ranks::PIECE;

/// out += x·matrix, as `products` has it.
pub fn add_matrix_product(stride: usize, x: &[f64], matrix: &[f64], out: &mut [f64]) {
    products::add_matrix_product(stride, x, matrix, out);
}

/// out += xᵀ·y, as `products` has it.
pub fn add_outer_products(stride: usize, x: &[f64], y: &[f64], out: &mut [f64]) {
    products::add_outer_products(stride, x, y, out);
}

/// out = first + x·matrix for one row of this stride, as `products` has it.
pub fn row_times_matrix(stride: usize, x: &[f64], matrix: &[f64], first: &[f64], out: &mut [f64]) {
    by_stride!(48, stride, |L, B| products::row_times_matrix::<L, B>(x, matrix, first, out));
}

impl Lattice {
    /// Returns how the messages are represented.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns α, β, v, ψ, c and e.
    pub fn arrays(&self) -> [&[f64]; 6] {
        [&self.alpha, &self.beta, &self.suffix, &self.psi, &self.scale, &self.edge]
    }

    /// Like [`Lattice::forward_backward`], but always in log space.
    pub fn forward_backward_in_log_space(
        &mut self,
        transitions: &Transitions,
        scores: Scores,
        mask: Option<&LabelMask>,
    ) -> f64 {
        assert!(self.prepare(transitions, scores, mask));
        forward_in_log_space(self, transitions);
        backward_in_log_space(self, transitions);
        self.log_partition()
    }
}

impl PenalizedLikelihood {
    /// Returns the data and how they are divided.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns whether label pairs without a weight are left out.
    pub fn is_by_pairs(&self) -> bool {
        self.pass.transitions.pairs().is_some()
    }

    /// Works with matrices over all label pairs from now on.
    pub fn use_all_pairs(&mut self) {
        self.pass.use_all_pairs(&self.problem);
    }

    /// Returns whether derivatives at θ exceed the first of the limits that sums are for.
    pub fn exceeds_first_limit(&mut self, theta: &[f64]) -> bool {
        let Self { problem, pass, .. } = self;
        let input = PassInput { problem, theta, is_noise_alone: false, factors: theta };
        pass.set_weights(input);
        let limit = LIMITS[0] * problem.totals.largest_weight;
        pass.add_blocks(input, limit, &mut vec![0.0; theta.len()]).exceeds_limit
    }
}
