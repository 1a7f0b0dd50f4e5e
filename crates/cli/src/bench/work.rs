//! The count of multiply-adds of an evaluation.
//!
//! Counted from the shapes: K labels; of each sentence T tokens, E node attributes of all tokens
//! and q distinct ones, before or after collapsing; r the radius. Padding of rows to whole vectors,
//! exponentials, and what is linear in the number of weights are not counted.
//!
//! | part | multiply-adds | |
//! |---|---|---|
//! | likelihood | 2EK + 3TK² | scores and their transpose; forward, backward, expectations |
//! | every noise term | 2EK | variances and their transpose |
//! | `exact` | 13TK² | `adjoint_kernel/mod.rs`: 4 forward, 4 backward, 5 in sums |
//! | `local` | 13TK² | marginals and M 4, value 5, covariances 4 |
//! | `window=R` | (21 + 6r)TK² | also marginals and M twice, 3 per source to both sides |
//! | `message` | 2TK²·(Kq + K²) + 9TK² | vectors over (feature, label) and label pairs |
//! | `reweighted` | – | a weighted L2 penalty within a round |
//!
//! Edge attributes, of which each stands for K features of `message` and K² products with every
//! other, count K-fold.

use dropchain::kernel::chain::Order;
use dropchain::kernel::noise::Engine;
use dropchain::kernel::objective::active_counts;

use super::problem::Problem;
use super::variant::Variant;

/// Returns the number of multiply-adds of an evaluation.
pub fn multiply_adds(problem: &Problem, variant: Variant) -> f64 {
    let (data, labels) = (&problem.data, problem.space.labels() as f64);
    let pairs = match problem.space.order() {
        Order::Zero => 0.0,
        Order::One => labels * labels,
    };
    let entries = data.nodes.nonzeros() as f64 + labels * data.edges.nonzeros() as f64;
    let products = 2.0 * entries * labels;
    let tokens = data.tokens() as f64;
    let likelihood = products + 3.0 * tokens * pairs;
    let engine = match variant {
        Variant::Likelihood | Variant::Reweighted(_) => return likelihood,
        Variant::Quadratic(engine) => match engine {
            Engine::Exact | Engine::Window(0) => 13.0 * tokens * pairs,
            Engine::Window(radius) => (21.0 + 6.0 * radius as f64) * tokens * pairs,
            Engine::Message { collapse } => {
                let vectors = (0..data.len()).map(|i| {
                    let sentence = problem.sentence(i);
                    let counts = active_counts(&sentence.data, &sentence.space);
                    let active = if collapse { counts.collapsed } else { counts.attributes };
                    sentence.data.tokens() as f64 * (labels * active as f64 + pairs)
                });
                2.0 * pairs * vectors.sum::<f64>() + 9.0 * tokens * pairs
            }
        },
    };
    likelihood + products + engine
}
