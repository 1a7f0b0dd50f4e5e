//! L2 strengths by how informative a feature is of a class alone.
//!
//! The strength on the weight of feature j and class i is c2/(r_ij + ε) with
//!
//! ```text
//! r_ij = | log p(x_j|y = i) − log p(x_j|y ≠ i) |
//! ```
//!
//! where p(x_j|·) is the share of the documents with (without) the class in which the feature
//! occurs, plus one occurrence and one absence. A feature that says nothing of a class has the
//! strength c2/ε there, so it cannot learn to correct what informative ones do: weights are kept
//! from adapting to each other, as by dropout.
//!
//! Source: Wang and Manning, "Fast dropout training", ICML 2013, appendix A.3.

use super::design::Design;
use super::objective::Examples;

/// Divides the strengths of all weights.
pub(super) fn divide(
    strengths: &mut [f64],
    epsilon: f64,
    design: &Design,
    outputs: usize,
    examples: &Examples,
) {
    let is_of = |n: usize, k: usize| examples.targets[n * outputs + k] > 0.0;
    let count = |documents: &mut dyn Iterator<Item = usize>, k: usize| {
        documents.fold([0.0; 2], |mut counts, n| {
            counts[usize::from(is_of(n, k))] += examples.weights[n];
            counts
        })
    };
    let totals: Vec<[f64; 2]> =
        (0..outputs).map(|k| count(&mut (0..examples.weights.len()), k)).collect();
    for j in 0..design.dimension() {
        for (k, strength) in strengths[j * outputs..][..outputs].iter_mut().enumerate() {
            let entries = design.columns.entries(j).filter(|(_, x)| *x != 0.0);
            let occurrences = count(&mut entries.map(|(n, _)| n as usize), k);
            let [outside, inside] =
                [0, 1].map(|i| ((occurrences[i] + 1.0) / (totals[k][i] + 2.0)).ln());
            *strength /= (inside - outside).abs() + epsilon;
        }
    }
}
