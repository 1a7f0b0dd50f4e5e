//! A sentence whose labels are explained: which tokens, compared with what, and in which words.

use std::borrow::Cow;
use std::ops::Range;

use dropchain::kernel::ids::LabelId;
use dropchain::kernel::sentence::list_names;
use dropchain::model::Header;
use dropchain::tag::Tagger;
use dropchain::{Error, Result, Sentence};
use serde_json::json;

use super::record::{Block, ExplainedToken, Lead, Others, Reason, RunnerUp};
use super::{Alternative, Explanation, Part, PartKind};
use crate::attributes::AttributeWords;

/// The margin below which a token is shown although it is outside of all spans: the runner-up is
/// then at least an eighth as likely.
const UNCLEAR: f64 = 2.0;

/// A sentence, its labels and their reasons.
#[derive(Debug)]
pub struct ExplainedSentence<'a> {
    /// The words ([`words_to_explain`]).
    pub words: Vec<String>,
    /// The labels and their reasons.
    pub explanation: &'a Explanation<'a>,
    /// The labels to compare with ([`labels_against`]); `None`: all others.
    pub against: Option<&'a [LabelId]>,
    /// Which tokens are explained.
    pub tokens: &'a ExplainedTokens,
    /// The number of parts of each margin that are shown.
    pub top: usize,
}

/// Which tokens are explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplainedTokens {
    /// Spans, and tokens whose margin is below 2; if there are none, the least clear token.
    Notable,
    /// All spans and tokens.
    All,
    /// These tokens, by word or by number in the sentence from 1, each by itself.
    Named(Vec<String>),
}

/// Returns the words of a sentence; numbers if it has only attributes.
pub fn words_to_explain(sentence: &Sentence) -> Vec<String> {
    let schema = sentence.schema();
    // The labels of ready-made attributes are no words.
    let has_words = schema.position("word").is_some() || schema.label() != Some(0);
    match sentence.words().filter(|_| has_words) {
        Some(words) => words.map(str::to_owned).collect(),
        None => (1..=sentence.len()).map(|t| format!("token {t}")).collect(),
    }
}

impl<'a> ExplainedSentence<'a> {
    /// Returns the header of the model.
    pub(super) fn header(&self) -> &'a Header {
        self.explanation.tagger.model().header()
    }

    /// Returns the name of a label.
    pub fn name(&self, label: LabelId) -> &'a str {
        self.explanation.tagger.label(label)
    }

    /// Returns the name of the label of token `t`.
    pub fn label(&self, t: usize) -> &'a str {
        self.name(self.explanation.labels()[t])
    }

    /// Returns what token `t` is compared with; `None` if there is nothing.
    pub fn alternative(&self, t: usize) -> Option<Alternative<'a>> {
        let explanation = self.explanation;
        let Some(labels) = self.against else { return explanation.runner_up(t) };
        if labels.contains(&explanation.labels()[t]) {
            return None;
        }
        let alternatives = labels.iter().filter_map(|&label| explanation.alternative(t, label));
        alternatives.reduce(|best, other| if other.margin() < best.margin() { other } else { best })
    }

    /// Returns what is explained, in ascending order: spans and tokens.
    pub fn blocks(&self) -> Vec<Block<'static>> {
        if let ExplainedTokens::Named(names) = self.tokens {
            let all = 0..self.explanation.len();
            let chosen = all.filter(|&t| names.iter().any(|name| self.is_named(t, name)));
            return chosen.map(|t| self.block(t, t + 1, self.label(t))).collect();
        }
        let mut blocks = self.all_blocks();
        blocks.retain(|block| block.notable || *self.tokens == ExplainedTokens::All);
        blocks
    }

    /// Returns the spans, and the tokens outside of spans.
    pub(super) fn all_blocks(&self) -> Vec<Block<'static>> {
        let labels: Vec<&str> = (0..self.explanation.len()).map(|t| self.label(t)).collect();
        let header = self.header();
        let spans =
            if header.encodes_spans() { header.labeling.spans(&labels) } else { Vec::new() };
        let single = |t: usize| self.block(t, t + 1, labels[t]);
        let (mut blocks, mut t) = (Vec::new(), 0);
        for span in spans {
            blocks.extend((t..span.start).map(single));
            blocks.push(self.block(span.start, span.end, span.kind));
            t = span.end;
        }
        blocks.extend((t..labels.len()).map(single));
        if !blocks.iter().any(|block| block.notable) {
            let margin = |block: &Block<'_>| self.explanation.margin(block.token);
            let least = blocks.iter_mut().min_by(|x, y| margin(x).total_cmp(&margin(y)));
            least.into_iter().for_each(|block| block.notable = true);
        }
        blocks
    }

    /// Describes some tokens with a label.
    fn block(&self, start: usize, end: usize, label: &str) -> Block<'static> {
        let margin = |t: usize| match self.against {
            None => self.explanation.margin(t),
            Some(_) => self.alternative(t).map_or(f64::INFINITY, |a| a.margin()),
        };
        let margins = (start..end).map(|t| (t, margin(t)));
        let least = margins.min_by(|x, y| x.1.total_cmp(&y.1));
        let probabilities = self.explanation.probabilities[start..end].iter();
        let (header, own) = (self.header(), self.label(start));
        let outside = header.encodes_spans() && own == header.labeling.outside();
        let is_span = header.encodes_spans() && !outside;
        Block {
            start,
            end,
            text: self.words[start..end].join(" ").into(),
            label: label.to_owned().into(),
            probability: probabilities.copied().fold(1.0, f64::min),
            outside,
            notable: is_span || (start..end).any(|t| self.explanation.margin(t) < UNCLEAR),
            token: least.map_or(start, |(t, _)| t),
        }
    }

    /// Returns whether a token is this word, or has this number from 1.
    fn is_named(&self, t: usize, name: &str) -> bool {
        match name.parse::<usize>() {
            Ok(number) => number == t + 1,
            Err(_) => name == self.words[t],
        }
    }

    /// Returns whether a token is this word, or has this number in the sentence from 1.
    pub fn has(&self, name: &str) -> bool {
        (0..self.words.len()).any(|t| self.is_named(t, name))
    }

    /// Writes a line of JSON: `tokens`, `labels`, `explanations` of the chosen tokens, and their
    /// `blocks`: spans and the tokens outside of spans, if wanted each with its `html`.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`](super::Alternative::parts).
    pub fn write_json(&self, has_html: bool, out: &mut Vec<u8>) -> Result<()> {
        let labels: Vec<&str> = (0..self.words.len()).map(|t| self.label(t)).collect();
        let beginning = json!({"tokens": self.words, "labels": labels}).to_string();
        // Token by token, since values take much more memory than their text.
        out.extend_from_slice(beginning.trim_end_matches('}').as_bytes());
        out.extend_from_slice(b",\"explanations\":[");
        let tokens = self.words.len();
        // Vectors double when they grow.
        let check_memory = |bytes: usize| {
            self.explanation.check_memory(2 * bytes, || format!("explaining {tokens} tokens"))
        };
        let (recorder, mut blocks) = (Recorder::new(self), Vec::new());
        for (i, block) in self.blocks().iter().enumerate() {
            let mut value = serde_json::to_value(block).map_err(unwritten)?;
            for t in block.start..block.end {
                let token = recorder.token(t)?;
                if has_html && t == block.token {
                    value["html"] = token.html(&self.words, block).into();
                }
                if i > 0 || t > block.start {
                    out.push(b',');
                }
                serde_json::to_writer(&mut *out, &token).map_err(unwritten)?;
                check_memory(out.len() + blocks.len())?;
            }
            if i > 0 {
                blocks.push(b',');
            }
            serde_json::to_writer(&mut blocks, &value).map_err(unwritten)?;
            check_memory(out.len() + blocks.len())?;
        }
        out.extend_from_slice(b"],\"blocks\":[");
        out.append(&mut blocks);
        out.extend_from_slice(b"]}\n");
        Ok(())
    }
}

/// Writes the records of the tokens of a sentence.
pub(super) struct Recorder<'a> {
    sentence: &'a ExplainedSentence<'a>,
    words: AttributeWords<'a>,
}

impl<'a> Recorder<'a> {
    pub fn new(sentence: &'a ExplainedSentence<'a>) -> Self {
        Self { sentence, words: AttributeWords::new(sentence.header()) }
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
            probability: sentence.explanation.probabilities[t],
            lead: lead.transpose()?,
        })
    }

    fn lead(&self, alternative: &Alternative<'a>) -> Result<Lead<'a>> {
        let mut shown = alternative.parts()?;
        let others = shown.split_off(shown.len().min(self.sentence.top));
        let Range { start, end } = alternative.range();
        let name = |label: &LabelId| Cow::from(self.sentence.name(*label));
        let contribution = others.iter().map(Part::contribution).sum();
        Ok(Lead {
            margin: alternative.margin(),
            runner_up: RunnerUp {
                label: name(&alternative.label()),
                start,
                end,
                labels: alternative.labels().iter().map(name).collect(),
            },
            parts: shown.iter().map(|part| self.reason(part)).collect(),
            others: Others { parts: others.len(), contribution },
        })
    }

    fn reason(&self, part: &Part<'a>) -> Reason<'a> {
        let names = |labels: [LabelId; 2]| labels.map(|label| self.sentence.name(label).into());
        let is_attribute = !part.name.is_empty();
        Reason {
            kind: part.kind,
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
                let words = self.words.of(part.kind == PartKind::EdgeAttribute, part.name);
                let value = part.value;
                (if value == 1.0 { words } else { format!("{words} × {value}") }).into()
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

/// Returns the labels to compare with that `wanted` names: a label, or those that encode a type of
/// span.
///
/// # Errors
///
/// [`Error::Parameter`] if the model has none.
pub fn labels_against(tagger: &Tagger, wanted: &str) -> Result<Vec<LabelId>> {
    let header = tagger.model().header();
    let labels = &header.labels;
    if let Some(label) = labels.id(wanted) {
        return Ok(vec![label]);
    }
    let is_of = |name: &str| {
        let kind = name.split_once('-').map(|(_, kind)| kind);
        header.encodes_spans() && kind == Some(wanted)
    };
    let found = labels.names().iter().filter(|name| is_of(name));
    let found: Vec<LabelId> = found.filter_map(|name| labels.id(name)).collect();
    if found.is_empty() {
        let names = list_names(labels.names());
        return Err(Error::parameter(format!(
            "`against` {wanted}: the model has no such label; its labels are {names}"
        )));
    }
    Ok(found)
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::io("an explanation", error.into())
}
