//! The parts of a margin.

use std::ops::RangeInclusive;

use dropchain::{Result, kernel::chain::Order, kernel::ids::LabelId, model::AttributeKind};
use serde::{Deserialize, Serialize};

use super::{Alternative, Explanation};

/// Largest number of parts of a token that are of labels alone.
const PARTS_OF_LABELS: usize = 5;

/// The origin of a part of a margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// An attribute of the token, with a weight for its label.
    Attribute,
    /// An attribute of the token and the one before it, with a weight for both labels.
    EdgeAttribute,
    /// The transition from the label before.
    Transition,
    /// The weight of the first label of a sentence.
    Start,
    /// The weight of the last label of a sentence.
    End,
    /// The recall bias, which counts against the label `O`.
    RecallBias,
}

/// A part of a margin: what one weight, or the absence of one, contributes at one token.
///
/// The first of every pair belongs to the best label sequence and the second to the alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'e> {
    /// The token.
    pub token: usize,
    /// The origin of the part.
    pub kind: PartKind,
    /// The name of the attribute; empty for other kinds.
    pub name: &'e str,
    /// The labels of the token.
    pub labels: [LabelId; 2],
    /// The labels of the token before, for edge attributes, transitions and their recall bias.
    pub previous: Option<[LabelId; 2]>,
    /// The value of the attribute; 1 for other kinds.
    pub value: f64,
    /// The weights for these labels.
    pub weights: [f64; 2],
}

impl Part<'_> {
    /// Returns the value times the difference of the weights: if positive, it speaks for the label
    /// that the best sequence has, else for the other one.
    pub fn contribution(&self) -> f64 {
        self.value * (self.weights[0] - self.weights[1])
    }
}

impl<'e> Alternative<'e> {
    /// Returns the parts of the margin that are not 0, by descending absolute contribution; equal
    /// ones in the order of tokens, then of kinds, then of the template lines. Their contributions
    /// sum to [`margin`](Self::margin), up to rounding.
    ///
    /// # Errors
    ///
    /// [`Error::Model`](dropchain::Error::Model) if the model file is damaged;
    /// [`Error::Parameter`](dropchain::Error::Parameter) if so many tokens differ that the parts
    /// take more memory than the tagger may.
    pub fn parts(&self) -> Result<Vec<Part<'e>>> {
        let mut parts = Vec::new();
        let (tokens, all) = (self.tokens(), &self.explanation.attributes);
        self.check_memory(&tokens)?;
        for t in tokens {
            if self.range().contains(&t) {
                self.attribute_parts(PartKind::Attribute, t, all.token(t), &mut parts)?;
            }
            if t > 0 && self.explanation.tagger.transitions().order() == Order::One {
                self.attribute_parts(PartKind::EdgeAttribute, t, all.edge(t), &mut parts)?;
                self.transition_parts(t, &mut parts);
            }
            self.boundary_parts(t, &mut parts);
        }
        parts.retain(|part| part.contribution() != 0.0);
        let size = |part: &Part<'_>| part.contribution().abs();
        parts.sort_by(|x, y| {
            size(y).total_cmp(&size(x)).then_with(|| (x.token, x.kind).cmp(&(y.token, y.kind)))
        });
        Ok(parts)
    }

    /// Checks that there is memory for the parts.
    fn check_memory(&self, tokens: &RangeInclusive<usize>) -> Result<()> {
        let all = &self.explanation.attributes;
        let of_token = |t| all.token(t).count() + all.edge(t).count();
        let attributes: usize = tokens.clone().map(of_token).sum();
        let others = PARTS_OF_LABELS * (tokens.end() + 1 - tokens.start());
        self.explanation.check_memory((attributes + others) * size_of::<Part<'e>>(), || {
            format!("an alternative that differs in {} tokens", self.range().len())
        })
    }

    /// Adds the parts of the transition between tokens t − 1 and t.
    fn transition_parts(&self, t: usize, parts: &mut Vec<Part<'e>>) {
        let transitions = self.explanation.tagger.transitions();
        let (labels, previous) = (self.labels_at(t), self.labels_at(t - 1));
        let bias = self.bias(labels);
        let weight = |i: usize| transitions.score(previous[i].index(), labels[i].index());
        let weights = [0, 1].map(|i| weight(i) - bias[i]);
        for (kind, weights) in [(PartKind::Transition, weights), (PartKind::RecallBias, bias)] {
            parts.push(Part { previous: Some(previous), ..self.part(t, kind, weights) });
        }
    }

    /// Adds the parts of the first and of the last label.
    fn boundary_parts(&self, t: usize, parts: &mut Vec<Part<'e>>) {
        let transitions = self.explanation.tagger.transitions();
        let labels = self.labels_at(t);
        if t == 0 {
            let bias = self.bias(labels);
            let weights = [0, 1].map(|i| transitions.start()[labels[i].index()] - bias[i]);
            parts.push(self.part(t, PartKind::Start, weights));
            parts.push(self.part(t, PartKind::RecallBias, bias));
        }
        if t + 1 == self.explanation.len() {
            let weights = labels.map(|label| transitions.end()[label.index()]);
            parts.push(self.part(t, PartKind::End, weights));
        }
    }

    /// Creates a part of labels alone.
    fn part(&self, token: usize, kind: PartKind, weights: [f64; 2]) -> Part<'e> {
        let labels = self.labels_at(token);
        Part { token, kind, name: "", labels, previous: None, value: 1.0, weights }
    }

    /// Returns what the recall bias adds to the scores of labels.
    fn bias(&self, labels: [LabelId; 2]) -> [f64; 2] {
        let header = self.explanation.tagger.model().header();
        let outside = header.labels.id(header.labeling.outside());
        labels.map(|label| if Some(label) == outside { -self.explanation.recall_bias } else { 0.0 })
    }

    /// Adds the parts of the attributes of token t, or of the pair of tokens t − 1 and t.
    fn attribute_parts(
        &self,
        kind: PartKind,
        t: usize,
        attributes: impl Iterator<Item = (&'e str, f64)>,
        parts: &mut Vec<Part<'e>>,
    ) -> Result<()> {
        let Explanation { tagger, interrupt, .. } = self.explanation;
        let is_edge = kind == PartKind::EdgeAttribute;
        let (model, k) = (tagger.model(), tagger.transitions().labels());
        let labels = self.labels_at(t);
        let previous = is_edge.then(|| self.labels_at(t - 1));
        let before = previous.map_or([0; 2], |labels| labels.map(|label| k * label.index()));
        let positions = [0, 1].map(|i| before[i] + labels[i].index());
        let table = model.table(if is_edge { AttributeKind::Edge } else { AttributeKind::Node });
        for (name, value) in attributes {
            interrupt.check()?;
            if let Some(weights) = table.weights_at(model.key(name.as_bytes()), positions)? {
                parts.push(Part { name, value, previous, ..self.part(t, kind, weights) });
            }
        }
        Ok(())
    }
}
