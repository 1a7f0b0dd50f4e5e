//! The prediction of the first pass for a sentence.

use serde::{Deserialize, Serialize};

use super::label_types::LabelTypes;
use crate::chain::Marginals;
use crate::ids::LabelId;

/// The probability 1 as an integer. Sums of integers do not depend on their order.
const ONE: f64 = 65536.0;

/// The prediction of the first pass for a sentence of T tokens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prediction {
    /// The predicted labels, `[T]`, as the first model numbers them.
    pub labels: Vec<LabelId>,
    /// The probability of each type at each token, as a multiple of 2⁻¹⁶, `[T][types]`.
    shares: Vec<u32>,
    /// The predicted spans.
    pub spans: Vec<PredictedSpan>,
    types: usize,
}

/// A predicted span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedSpan {
    /// First token in the sentence.
    pub start: usize,
    /// One past the last token.
    pub end: usize,
    /// Index of the type.
    pub kind: usize,
}

impl Prediction {
    /// Creates the prediction from the labels, `[T]`, and marginals, `[T][K]`, of a model whose
    /// labels have these types.
    pub fn new(labels: &[LabelId], marginals: &Marginals, types: &LabelTypes) -> Self {
        let mut shares = vec![0; labels.len() * types.len()];
        for (shares, marginals) in shares
            .chunks_exact_mut(types.len().max(1))
            .zip(marginals.rows())
        {
            for (label, probability) in marginals.iter().enumerate() {
                let kind = types.of(LabelId(label as u16));
                shares[kind] += (probability * ONE).round() as u32;
            }
        }
        let mut predicted = Vec::new();
        if types.has_spans() {
            let names: Vec<&str> = labels.iter().map(|&label| types.label(label)).collect();
            predicted.extend(types.scheme().spans(&names).into_iter().filter_map(|span| {
                Some(PredictedSpan {
                    start: span.start,
                    end: span.end,
                    kind: types.find(span.kind)?,
                })
            }));
        }
        Self {
            labels: labels.iter().map(|&label| types.id(label)).collect(),
            shares,
            spans: predicted,
            types: types.len(),
        }
    }

    /// Returns whether this may be a prediction for a sentence of so many tokens, for labels with
    /// these types: one that was read from a file could be anything.
    pub fn fits(&self, tokens: usize, types: &LabelTypes) -> bool {
        let labels = types.number_of_labels();
        let is_inside = |span: &PredictedSpan| {
            span.start < span.end && span.end <= tokens && span.kind < types.len()
        };
        self.types == types.len()
            && self.labels.len() == tokens
            && self.shares.len() == tokens * types.len()
            && self.labels.iter().all(|label| label.index() < labels)
            && self.spans.iter().all(is_inside)
            && self.spans.is_sorted_by(|a, b| a.end <= b.start)
    }

    /// Returns the probability of each type at token `t`, as a multiple of 2⁻¹⁶.
    pub fn shares(&self, t: usize) -> &[u32] {
        &self.shares[t * self.types..(t + 1) * self.types]
    }
}
