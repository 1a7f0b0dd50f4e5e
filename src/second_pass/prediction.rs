//! The prediction of the first pass for a sentence, and the types of its labels: what is left
//! without the position in a span.

use serde::{Deserialize, Serialize};

use crate::chain::Marginals;
use crate::error::{Error, Result};
use crate::ids::LabelId;
use crate::label::{LabelSet, Labeling};

/// The labels of a model that makes a first pass, and their types, such as `PER` for `B-PER` and
/// `I-PER`. Labels that encode no spans are their own types.
#[derive(Clone, Debug)]
pub struct LabelTypes {
    /// The names of the types.
    pub types: Vec<String>,
    /// The labels, `[K]`.
    pub labels: Vec<TypedLabel>,
    /// The scheme of the labels.
    pub labeling: Labeling,
}

/// A label of a model that makes a first pass.
#[derive(Clone, Debug)]
pub struct TypedLabel {
    /// The label.
    pub name: String,
    /// Index of its type.
    pub kind: usize,
    /// The id of the label in the first model.
    pub id: LabelId,
}

impl LabelTypes {
    /// Returns the types of `labels`.
    pub fn new(labels: &LabelSet, labeling: &Labeling) -> Self {
        let has_spans = labeling.scheme.has_spans();
        let mut types: Vec<String> = Vec::new();
        let labels = labels.names().iter().zip(0..).map(|(label, id)| {
            let name = match labeling.chunk(label) {
                chunk if has_spans && chunk.is_inside() => chunk.kind,
                _ => label,
            };
            let kind = types.iter().position(|known| known == name).unwrap_or_else(|| {
                types.push(name.to_owned());
                types.len() - 1
            });
            TypedLabel { name: label.clone(), kind, id: LabelId(id) }
        });
        Self { labels: labels.collect(), types, labeling: labeling.clone() }
    }

    /// Returns the same types for the labels of another model, which was trained on a part of the
    /// data: it has no other labels, but perhaps not all of them, and in another order.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it has other labels.
    pub fn of_labels(&self, labels: &LabelSet) -> Result<Self> {
        let find = |name: &String| self.labels.iter().find(|known| known.name == *name).cloned();
        let labels: Option<_> = labels.names().iter().map(find).collect();
        let labels =
            labels.ok_or_else(|| Error::parameter("the two passes have different labels"))?;
        Ok(Self { labels, ..self.clone() })
    }
}

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
        let kinds = types.types.len();
        let mut shares = vec![0; labels.len() * kinds];
        let rows = shares.chunks_exact_mut(kinds.max(1));
        for (shares, marginals) in rows.zip(marginals.rows()) {
            for (label, probability) in types.labels.iter().zip(marginals) {
                shares[label.kind] += (probability * ONE).round() as u32;
            }
        }
        let labels = labels.iter().map(|label| &types.labels[label.index()]);
        let mut spans = Vec::new();
        if types.labeling.scheme.has_spans() {
            let names: Vec<&str> = labels.clone().map(|label| &*label.name).collect();
            spans.extend(types.labeling.spans(&names).into_iter().filter_map(|span| {
                Some(PredictedSpan {
                    start: span.start,
                    end: span.end,
                    kind: types.types.iter().position(|name| name == span.kind)?,
                })
            }));
        }
        Self { labels: labels.map(|label| label.id).collect(), shares, spans, types: kinds }
    }

    /// Returns whether this may be a prediction for a sentence of so many tokens, for labels with
    /// these types: one that was read from a file could be anything.
    pub fn fits(&self, tokens: usize, types: &LabelTypes) -> bool {
        let labels = types.labels.len();
        let is_inside = |span: &PredictedSpan| {
            span.start < span.end && span.end <= tokens && span.kind < types.types.len()
        };
        self.types == types.types.len()
            && self.labels.len() == tokens
            && self.shares.len() == tokens * types.types.len()
            && self.labels.iter().all(|label| label.index() < labels)
            && self.spans.iter().all(is_inside)
            && self.spans.is_sorted_by(|a, b| a.end <= b.start)
    }

    /// Returns the probability of each type at token `t`, as a multiple of 2⁻¹⁶.
    pub fn shares(&self, t: usize) -> &[u32] {
        &self.shares[t * self.types..(t + 1) * self.types]
    }
}
