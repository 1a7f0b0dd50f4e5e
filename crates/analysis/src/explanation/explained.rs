//! A sentence whose labels are explained: which tokens, compared with what, and in which words.

use dropchain::kernel::ids::LabelId;
use dropchain::kernel::sentence::list_names;
use dropchain::tag::Tagger;
use dropchain::{Error, Result, Sentence};

use super::record::Block;
use super::{Alternative, Explanation};

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
    /// Returns the name of a label.
    pub fn name(&self, label: LabelId) -> &'a str {
        self.explanation.tagger().label(label)
    }

    /// Returns the name of the label of token `t`.
    pub fn label(&self, t: usize) -> &'a str {
        self.name(self.explanation.labels()[t])
    }

    /// Returns whether a token is in no span.
    pub fn is_outside(&self, t: usize) -> bool {
        let header = self.explanation.tagger().model().header();
        header.encodes_spans() && self.label(t) == header.labeling.outside()
    }

    /// Returns whether the labels encode spans.
    pub fn encodes_spans(&self) -> bool {
        self.explanation.tagger().model().header().encodes_spans()
    }

    /// Returns what token `t` is compared with; `None` if there is nothing.
    pub fn alternative(&self, t: usize) -> Option<Alternative<'a>> {
        let explanation = self.explanation;
        let Some(labels) = self.against else {
            return explanation.runner_up(t);
        };
        if labels.contains(&explanation.labels()[t]) {
            return None;
        }
        let alternatives = labels.iter();
        let alternatives = alternatives.filter_map(|&label| explanation.alternative(t, label));
        alternatives.reduce(|best, other| match other.margin() < best.margin() {
            true => other,
            false => best,
        })
    }

    /// Returns what is explained, in ascending order: spans and tokens.
    pub fn blocks(&self) -> Vec<Block<'static>> {
        match self.tokens {
            ExplainedTokens::All => self.all_blocks(),
            ExplainedTokens::Notable => {
                let mut blocks = self.all_blocks();
                blocks.retain(|block| block.notable);
                blocks
            }
            ExplainedTokens::Named(names) => {
                let all = 0..self.explanation.len();
                let chosen = all.filter(|&t| names.iter().any(|name| self.is_named(t, name)));
                chosen.map(|t| self.block(t, t + 1, self.label(t))).collect()
            }
        }
    }

    /// Returns the spans, and the tokens outside of spans.
    pub(super) fn all_blocks(&self) -> Vec<Block<'static>> {
        let labels: Vec<&str> = (0..self.explanation.len()).map(|t| self.label(t)).collect();
        let header = self.explanation.tagger().model().header();
        let spans = if self.encodes_spans() { header.labeling.spans(&labels) } else { Vec::new() };
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
        let probabilities = (start..end).map(|t| self.explanation.probability(t));
        let outside = self.is_outside(start);
        let is_span = self.encodes_spans() && !outside;
        Block {
            start,
            end,
            text: self.words[start..end].join(" ").into(),
            label: label.to_owned().into(),
            probability: probabilities.fold(1.0, f64::min),
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
    let names = labels.names().iter();
    let found = names.filter(|name| is_of(name));
    let found: Vec<LabelId> = found.filter_map(|name| labels.id(name)).collect();
    if found.is_empty() {
        return Err(Error::parameter(format!(
            "`against` {wanted}: the model has no such label; its labels are {}",
            list_names(labels.names())
        )));
    }
    Ok(found)
}
