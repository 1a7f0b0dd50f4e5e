//! A sentence whose labels are explained: which tokens, compared with what, and in which words.

use dropchain::kernel::ids::LabelId;
use dropchain::kernel::sentence::list_names;
use dropchain::tag::Tagger;
use dropchain::{Error, Result, Sentence};

use super::{Alternative, Explanation, Part, PartKind};

/// The margin below which a token is shown although it is outside of all spans: the runner-up is
/// then at least an eighth as likely.
const UNCLEAR: f64 = 2.0;

/// The number of tokens of an alternative that are described.
const DESCRIBED: usize = 20;

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
    /// Tokens of spans, and tokens whose margin is below 2; if there are none, the least clear
    /// token.
    Notable,
    /// All.
    All,
    /// These, by word or by number in the sentence from 1.
    Named(Vec<String>),
}

/// The parts of a margin that are shown, and the sum of the others.
#[derive(Debug)]
pub struct Reasons<'e> {
    /// The margin.
    pub margin: f64,
    /// The largest parts.
    pub shown: Vec<Part<'e>>,
    /// The number of the others.
    pub others: usize,
    /// The sum of the other parts.
    pub sum_of_others: f64,
}

/// Returns the words of a sentence; numbers if it has only attributes.
pub fn words_to_explain(sentence: &Sentence) -> Vec<String> {
    match sentence.words() {
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

    /// Returns the type of the label of token `t`: that of its span, or the label itself.
    pub fn type_of(&self, t: usize) -> &'a str {
        let (label, header) = (self.label(t), self.explanation.tagger().model().header());
        match header.encodes_spans() {
            true => header.labeling.chunk(label).kind,
            false => label,
        }
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

    /// Returns the tokens to explain, in ascending order.
    pub fn chosen(&self) -> Vec<usize> {
        let all = 0..self.explanation.len();
        match self.tokens {
            ExplainedTokens::Notable => {}
            ExplainedTokens::All => return all.collect(),
            ExplainedTokens::Named(names) => {
                let is_chosen = |t: &usize| names.iter().any(|name| self.is_named(*t, name));
                return all.filter(is_chosen).collect();
            }
        }
        // Those of spans and those that are not clear, or the least clear one.
        let in_span = |t: usize| self.encodes_spans() && !self.is_outside(t);
        let is_chosen = |t: &usize| in_span(*t) || self.explanation.margin(*t) < UNCLEAR;
        let chosen: Vec<usize> = all.clone().filter(is_chosen).collect();
        match chosen.is_empty() {
            true => self.least_clear(all).into_iter().collect(),
            false => chosen,
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

    /// Returns the token with the least margin, if there are tokens.
    pub(super) fn least_clear(&self, tokens: impl Iterator<Item = usize>) -> Option<usize> {
        let margins = tokens.map(|t| (t, self.explanation.margin(t)));
        Some(margins.min_by(|x, y| x.1.total_cmp(&y.1))?.0)
    }

    /// Returns the parts of the margin to an alternative.
    ///
    /// # Errors
    ///
    /// Same as [`Alternative::parts`].
    pub fn reasons<'e>(&self, alternative: &Alternative<'e>) -> Result<Reasons<'e>> {
        let mut shown = alternative.parts()?;
        let others = shown.split_off(shown.len().min(self.top));
        Ok(Reasons {
            margin: alternative.margin(),
            others: others.len(),
            sum_of_others: others.iter().map(Part::contribution).sum(),
            shown,
        })
    }

    /// Describes a part without its token and labels.
    pub fn describe(part: &Part<'_>) -> String {
        match part.kind {
            PartKind::Attribute | PartKind::EdgeAttribute => match part.value {
                1.0 => part.name.to_string(),
                value => format!("{} × {value}", part.name),
            },
            PartKind::Transition => "transition".to_owned(),
            PartKind::Start => "first label".to_owned(),
            PartKind::End => "last label".to_owned(),
            PartKind::RecallBias => "recall bias".to_owned(),
        }
    }

    /// Describes the labels of a part, in the best sequence (0) or the other one (1), such as
    /// `B-PER` or `B-PER → I-PER`.
    pub fn describe_labels(&self, part: &Part<'_>, which: usize) -> String {
        let label = self.name(part.labels[which]);
        match part.previous {
            Some(previous) => format!("{} → {label}", self.name(previous[which])),
            None => label.to_owned(),
        }
    }

    /// Describes the labels of an alternative: of its token, or of the tokens that differ; of many,
    /// those around its token.
    pub fn describe_alternative(&self, alternative: &Alternative<'_>) -> String {
        let (labels, range) = (alternative.labels(), alternative.range());
        if let [label] = labels {
            return self.name(*label).to_owned();
        }
        let first = (alternative.token() - range.start).saturating_sub(DESCRIBED / 2);
        let tokens = range.zip(labels).skip(first).take(DESCRIBED);
        let tokens = tokens.map(|(t, &label)| format!("{}/{}", self.words[t], self.name(label)));
        let mut description = tokens.collect::<Vec<_>>();
        if labels.len() > description.len() {
            description.push(format!("… ({} tokens)", labels.len()));
        }
        description.join(" ")
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
