//! L2 strengths by how informative a feature is alone.
//!
//! The strength on the weight of attribute j and label i is c2/(r_ij + ε) with
//!
//! ```text
//! r_ij = | log p(x_j|y = i) − log p(x_j|y ≠ i) |
//! ```
//!
//! where p(x_j|·) is the share of the tokens with (without) the label at which the attribute
//! occurs, plus one occurrence and one absence. An attribute that says nothing of a label has the
//! strength c2/ε there, so it cannot learn to correct what informative ones do: feature weights are
//! kept from adapting to each other, as by dropout.
//!
//! Source: Wang and Manning, "Fast dropout training", ICML 2013, appendix A.3.

use dropchain::extract::{Dataset, Target};
use dropchain::score::ParameterSpace;
use dropchain::train::L2Rule;

/// Divides the L2 strength of each node weight by r + ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Informativeness {
    /// ε, above 0.
    pub epsilon: f64,
}

impl L2Rule for Informativeness {
    fn divisors(&self, data: &Dataset, space: &ParameterSpace) -> Vec<f64> {
        let counts = Counts::new(data, space);
        let mut divisors = vec![1.0; space.dimension()];
        let block = &space.nodes;
        let divisors_of_block = block.weights_mut(&mut divisors);
        for column in 0..block.columns() {
            let all = counts.of_columns[column];
            block.targets.for_each(column, |label, i| {
                let [inside, outside] = [
                    [counts.of_weights[i], counts.of_labels[label]],
                    [
                        all - counts.of_weights[i],
                        counts.tokens - counts.of_labels[label],
                    ],
                ]
                .map(|[occurrences, tokens]| ((occurrences + 1.0) / (tokens + 2.0)).ln());
                divisors_of_block[i] = (inside - outside).abs() + self.epsilon;
            });
        }
        divisors
    }
}

/// How often attributes and labels occur at tokens with one known label, times weights.
struct Counts {
    tokens: f64,
    of_labels: Vec<f64>,  // [stride]
    of_columns: Vec<f64>, // [J]
    of_weights: Vec<f64>, // of node attributes
}

impl Counts {
    fn new(data: &Dataset, space: &ParameterSpace) -> Self {
        let block = &space.nodes;
        let mut counts = Self {
            tokens: 0.0,
            of_labels: vec![0.0; space.stride()],
            of_columns: vec![0.0; block.columns()],
            of_weights: vec![0.0; block.range.len()],
        };
        for sentence in 0..data.len() {
            let Target::Gold(labels) = data.target(sentence) else {
                continue;
            };
            let weight = data.weight(sentence);
            for (token, label) in data.sentence(sentence).zip(labels) {
                counts.tokens += weight;
                counts.of_labels[label.index()] += weight;
                for (column, value) in data.nodes.entries(token) {
                    if value == 0.0 {
                        continue;
                    }
                    counts.of_columns[column as usize] += weight;
                    let position = label.index() as u32;
                    if let Some(i) = block.targets.index(column as usize, position) {
                        counts.of_weights[i] += weight;
                    }
                }
            }
        }
        counts
    }
}
