//! The parts of a margin.

use std::ops::RangeInclusive;

use dropchain::Result;
use dropchain::kernel::chain::Order;
use dropchain::kernel::ids::LabelId;
use dropchain::model::AttributeKind;

use super::Alternative;

/// Largest number of parts of a token that are of labels alone.
const PARTS_OF_LABELS: usize = 5;

/// The origin of a part of a margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

impl PartKind {
    /// Returns the name: `attribute`, `edge_attribute`, `transition`, `start`, `end` or
    /// `recall_bias`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Attribute => "attribute",
            Self::EdgeAttribute => "edge_attribute",
            Self::Transition => "transition",
            Self::Start => "start",
            Self::End => "end",
            Self::RecallBias => "recall_bias",
        }
    }
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
        let range = self.range();
        let tokens = range.start..=range.end.min(self.explanation.len() - 1);
        self.check_memory(&tokens)?;
        for t in tokens {
            if range.contains(&t) {
                self.node_parts(t, &mut parts)?;
            }
            if t > 0 && self.explanation.tagger.transitions().order() == Order::One {
                self.pair_parts(t, &mut parts)?;
            }
            self.boundary_parts(t, &mut parts);
        }
        parts.retain(|part| part.contribution() != 0.0);
        let size = |part: &Part<'_>| part.contribution().abs();
        parts.sort_by(|x, y| {
            let order = size(y).total_cmp(&size(x));
            order.then_with(|| (x.token, x.kind).cmp(&(y.token, y.kind)))
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

    fn node_parts(&self, t: usize, parts: &mut Vec<Part<'e>>) -> Result<()> {
        let labels = self.labels_at(t);
        let row = (AttributeKind::Node, labels.map(LabelId::index));
        self.attribute_parts(t, row, parts, |name, value, weights| Part {
            token: t,
            kind: PartKind::Attribute,
            name,
            labels,
            previous: None,
            value,
            weights,
        })
    }

    /// Adds the parts of the pair of tokens t − 1 and t.
    fn pair_parts(&self, t: usize, parts: &mut Vec<Part<'e>>) -> Result<()> {
        let explanation = self.explanation;
        let transitions = explanation.tagger.transitions();
        let k = transitions.labels();
        let (labels, previous) = (self.labels_at(t), self.labels_at(t - 1));
        let pairs = [0, 1].map(|i| (previous[i].index(), labels[i].index()));
        let row = (AttributeKind::Edge, pairs.map(|(a, b)| a * k + b));
        self.attribute_parts(t, row, parts, |name, value, weights| Part {
            token: t,
            kind: PartKind::EdgeAttribute,
            name,
            labels,
            previous: Some(previous),
            value,
            weights,
        })?;
        let bias = self.bias(labels);
        let weights = pairs.map(|(a, b)| transitions.score(a, b));
        parts.push(Part {
            kind: PartKind::Transition,
            previous: Some(previous),
            ..self.part(t, [weights[0] - bias[0], weights[1] - bias[1]])
        });
        parts.push(Part { previous: Some(previous), ..self.part(t, bias) });
        Ok(())
    }

    /// Adds the parts of the first and of the last label.
    fn boundary_parts(&self, t: usize, parts: &mut Vec<Part<'e>>) {
        let transitions = self.explanation.tagger.transitions();
        let labels = self.labels_at(t);
        if t == 0 {
            let bias = self.bias(labels);
            let weights = labels.map(|label| transitions.start()[label.index()]);
            parts.push(Part {
                kind: PartKind::Start,
                ..self.part(t, [weights[0] - bias[0], weights[1] - bias[1]])
            });
            parts.push(self.part(t, bias));
        }
        if t + 1 == self.explanation.len() {
            let weights = labels.map(|label| transitions.end()[label.index()]);
            parts.push(Part { kind: PartKind::End, ..self.part(t, weights) });
        }
    }

    /// Creates a part without a name, of the recall bias.
    fn part(&self, t: usize, weights: [f64; 2]) -> Part<'e> {
        Part {
            token: t,
            kind: PartKind::RecallBias,
            name: "",
            labels: self.labels_at(t),
            previous: None,
            value: 1.0,
            weights,
        }
    }

    /// Returns what the recall bias adds to the scores of labels.
    fn bias(&self, labels: [LabelId; 2]) -> [f64; 2] {
        let header = self.explanation.tagger.model().header();
        let outside = header.labels.id(header.labeling.outside());
        labels.map(|label| match Some(label) == outside {
            true => -self.explanation.recall_bias,
            false => 0.0,
        })
    }

    /// Adds the parts of the attributes of a token: `part` makes one of its name, its value and its
    /// weights at two positions.
    fn attribute_parts(
        &self,
        t: usize,
        (kind, positions): (AttributeKind, [usize; 2]),
        parts: &mut Vec<Part<'e>>,
        part: impl Fn(&'e str, f64, [f64; 2]) -> Part<'e>,
    ) -> Result<()> {
        let explanation = self.explanation;
        let model = explanation.tagger.model();
        let table = model.table(kind);
        let mut add = |(name, value): (&'e str, f64)| -> Result<()> {
            explanation.interrupt.check()?;
            if let Some(weights) = table.weights_at(model.key(name.as_bytes()), positions)? {
                parts.push(part(name, value, weights));
            }
            Ok(())
        };
        match kind {
            AttributeKind::Node => explanation.attributes.token(t).try_for_each(&mut add),
            AttributeKind::Edge => explanation.attributes.edge(t).try_for_each(&mut add),
        }
    }
}
