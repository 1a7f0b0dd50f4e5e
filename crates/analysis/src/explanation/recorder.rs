//! From a live explanation to its records.

use std::borrow::Cow;
use std::ops::Range;

use dropchain::Result;
use dropchain::kernel::ids::LabelId;

use super::record::{ExplainedToken, Lead, Others, Reason, RunnerUp};
use super::{Alternative, ExplainedSentence, Part, PartKind};
use crate::attribute_words::AttributeWords;

/// Writes the records of the tokens of a sentence.
pub(super) struct Recorder<'a> {
    sentence: &'a ExplainedSentence<'a>,
    words: AttributeWords<'a>,
}

impl<'a> Recorder<'a> {
    pub fn new(sentence: &'a ExplainedSentence<'a>) -> Self {
        let header = sentence.explanation.tagger().model().header();
        Self { sentence, words: AttributeWords::new(header) }
    }

    /// Records why a token has its label.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`].
    pub fn token(&self, t: usize) -> Result<ExplainedToken<'a>> {
        let sentence = self.sentence;
        let lead = sentence.alternative(t).map(|alternative| self.lead(&alternative));
        Ok(ExplainedToken {
            token: t,
            text: (&*sentence.words[t]).into(),
            label: sentence.label(t).into(),
            probability: sentence.explanation.probability(t),
            lead: lead.transpose()?,
        })
    }

    fn lead(&self, alternative: &Alternative<'a>) -> Result<Lead<'a>> {
        let mut shown = alternative.parts()?;
        let others = shown.split_off(shown.len().min(self.sentence.top));
        let Range { start, end } = alternative.range();
        let name = |label: &LabelId| Cow::from(self.sentence.name(*label));
        Ok(Lead {
            margin: alternative.margin(),
            runner_up: RunnerUp {
                label: name(&alternative.label()),
                start,
                end,
                labels: alternative.labels().iter().map(name).collect(),
            },
            parts: shown.iter().map(|part| self.reason(part)).collect(),
            others: Others {
                parts: others.len(),
                contribution: others.iter().map(Part::contribution).sum(),
            },
        })
    }

    fn reason(&self, part: &Part<'a>) -> Reason<'a> {
        let names = |labels: [LabelId; 2]| labels.map(|label| self.sentence.name(label).into());
        let is_attribute = !part.name.is_empty();
        Reason {
            kind: part.kind.name().into(),
            token: part.token,
            contribution: part.contribution(),
            words: self.words_for(part),
            labels: names(part.labels),
            previous_labels: part.previous.map(names),
            weights: part.weights,
            attribute: is_attribute.then_some(part.name.into()),
            value: is_attribute.then_some(part.value),
        }
    }

    fn words_for(&self, part: &Part<'a>) -> Cow<'a, str> {
        let [label, other] = part.labels.map(|label| self.sentence.name(label));
        match part.kind {
            PartKind::Attribute | PartKind::EdgeAttribute => {
                let is_edge = part.kind == PartKind::EdgeAttribute;
                let value = match part.value {
                    1.0 => String::new(),
                    value => format!(" × {value}"),
                };
                (self.words.of(is_edge, part.name) + &value).into()
            }
            PartKind::Transition => {
                let previous = part.previous.unwrap_or(part.labels);
                let [before, other_before] = previous.map(|label| self.sentence.name(label));
                format!("{label} after {before}, not {other} after {other_before}").into()
            }
            PartKind::Start => format!("the sentence begins with {label}, not {other}").into(),
            PartKind::End => format!("the sentence ends with {label}, not {other}").into(),
            PartKind::RecallBias => "recall bias, against O".into(),
        }
    }
}
