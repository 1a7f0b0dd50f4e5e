//! The workspace of the kernel.

use crate::chain::products::{LaneBlock, blocks};
use crate::chain::{LANES, Mode};
use crate::noise::regularizer::{ChainContext, Derivatives, SentenceInput};

/// The largest v whose square is used: 2⁴⁰⁰.
const MAX_SUFFIX: f64 = f64::from_bits((1023 + 400) << 52);

/// Matrices, messages and sums; a reusable workspace.
///
/// The factors of the sums are buffered over sentences until there are enough tokens
/// ([`FLUSH_TOKENS`](super::sums::FLUSH_TOKENS)).
#[derive(Clone, Debug, Default)]
pub(in crate::noise) struct AdjointKernel {
    pub(super) panels: [Vec<LaneBlock>; 3], // [S/LANES][K] ½eτ, e², e²τ
    pub(super) transposed_panels: [Vec<LaneBlock>; 3], // [S/LANES][K]
    pub(super) sums: [Vec<f64>; 4],         // [K][S] P₀ to P₃
    pub(super) pending: usize, // length of the arrays [P][S] in use by previous sentences
    pub(super) alpha: Vec<f64>, // [P][S] weight·α
    pub(super) phi: Vec<f64>,  // [P][S] Φ; weight·Φ once the sentence is done
    pub(super) alpha_squared: Vec<f64>, // [P][S] α²; weight·α² once the sentence is done
    pub(super) v: Vec<f64>,    // [P][S]
    pub(super) g: Vec<f64>,    // [P][S]
    pub(super) v_squared: Vec<f64>, // [P][S] v²
    pub(super) n_v_squared: Vec<f64>, // [P][S] n·v²
    pub(super) forward_products: [Vec<f64>; 3], // [T][S] Σ_a α·½eτ, C, D
    pub(super) backward_products: [Vec<f64>; 2], // [T][S] Σ_b ½eτ·v, Σ_b (e²·n·v² + e²τ·v²)
    pub(super) omega: Vec<f64>, // [S] ω[t]
    pub(super) row: Vec<f64>,  // [S]
}

impl AdjointKernel {
    /// Starts a batch of sentences: computes the matrices and clears the sums.
    pub fn begin(&mut self, context: ChainContext<'_>) {
        let (labels, stride) = (context.transitions.labels(), context.transitions.stride());
        self.pending = 0;
        for panels in self.panels.iter_mut().chain(&mut self.transposed_panels) {
            panels.clear();
            panels.resize(stride / LANES * labels, [0.0; LANES]);
        }
        for sums in &mut self.sums {
            sums.clear();
            sums.resize(labels * stride, 0.0);
        }
        for row in [&mut self.omega, &mut self.row] {
            row.clear();
            row.resize(stride, 0.0);
        }
        let potentials = context.transitions.potentials();
        for a in 0..labels {
            for b in 0..labels {
                let (e, tau) = (potentials[a * stride + b], context.variance[a * stride + b]);
                let entry = [0.5 * e * tau, e * e, e * e * tau];
                for (i, x) in entry.into_iter().enumerate() {
                    self.panels[i][b / LANES * labels + a][b % LANES] = x;
                    self.transposed_panels[i][a / LANES * labels + b][a % LANES] = x;
                }
            }
        }
    }

    /// Returns whether this kernel can handle a sentence.
    pub fn supports(sentence: SentenceInput<'_>, out: &Derivatives<'_>) -> bool {
        let lattice = sentence.lattice;
        let mut highest = [0.0; LANES];
        for suffix in blocks(lattice.suffix()) {
            for (highest, &v) in highest.iter_mut().zip(suffix) {
                *highest = if v > *highest { v } else { *highest };
            }
        }
        lattice.mode() == Mode::Scaled
            && lattice.edge_potentials().is_empty()
            && sentence.edge_variance.is_none()
            && out.edge.is_none()
            && out.edge_variance.is_none()
            && highest.iter().all(|&v| v <= MAX_SUFFIX)
    }

    /// Reserves space for a sentence with T·S = `numbers`.
    pub(super) fn reserve(&mut self, numbers: usize) {
        let buffered = [
            &mut self.alpha,
            &mut self.phi,
            &mut self.alpha_squared,
            &mut self.v,
            &mut self.g,
            &mut self.v_squared,
            &mut self.n_v_squared,
        ];
        for array in buffered {
            array.resize(array.len().max(self.pending + numbers), 0.0);
        }
        for array in self
            .forward_products
            .iter_mut()
            .chain(&mut self.backward_products)
        {
            array.resize(array.len().max(numbers), 0.0);
        }
    }
}
