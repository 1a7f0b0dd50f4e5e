//! An explained sentence, with the names of its labels.

use dropchain::ids::LabelId;
use dropchain::{Result, Sentence};
use dropchain_analysis::{Alternative, Explanation, Part, PartKind};

/// The margin below which a token is shown although it is outside of all spans: the runner-up is
/// then at least an eighth as likely.
const UNCLEAR: f64 = 2.0;

/// A sentence, its labels and their reasons.
pub struct ExplainedSentence<'a> {
    pub words: Vec<String>,
    pub explanation: &'a Explanation<'a>,
    /// The labels to compare with; `None`: all others.
    pub against: Option<&'a [LabelId]>,
    /// Number of parts to show.
    pub top: usize,
    pub choice: TokenChoice<'a>,
}

/// The tokens to explain.
pub enum TokenChoice<'a> {
    All,
    /// Those of spans and those that are not clear.
    Interesting,
    /// Words, or numbers from 1.
    These(&'a [String]),
}

/// The parts of a margin that are shown, and the sum of the others.
pub struct Reasons<'e> {
    pub margin: f64,
    pub shown: Vec<Part<'e>>,
    pub others: usize,
    pub sum_of_others: f64,
}

/// Returns the words of a sentence; numbers if it has only attributes.
pub fn words(sentence: &Sentence) -> Vec<String> {
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

    /// Returns whether a token is in no span.
    pub fn is_outside(&self, t: usize) -> bool {
        self.encodes_spans() && self.label(t) == "O"
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
        match self.choice {
            TokenChoice::All => all.collect(),
            TokenChoice::These(tokens) => {
                let is_chosen = |t: &usize| {
                    tokens.iter().any(|token| match token.parse::<usize>() {
                        Ok(number) => number == t + 1,
                        Err(_) => *token == self.words[*t],
                    })
                };
                all.filter(is_chosen).collect()
            }
            TokenChoice::Interesting => {
                let margin = |t: usize| {
                    let runner_up = self.explanation.runner_up(t);
                    runner_up.map_or(f64::INFINITY, |runner_up| runner_up.margin())
                };
                let margins: Vec<f64> = all.clone().map(margin).collect();
                let in_span = |t: usize| self.encodes_spans() && !self.is_outside(t);
                let chosen = all.clone().filter(|&t| in_span(t) || margins[t] < UNCLEAR);
                let chosen: Vec<usize> = chosen.collect();
                if !chosen.is_empty() {
                    return chosen;
                }
                // The least clear one.
                let least = all.min_by(|&x, &y| margins[x].total_cmp(&margins[y]));
                least.into_iter().collect()
            }
        }
    }

    /// Returns the parts of the margin to an alternative.
    pub fn reasons<'e>(&self, alternative: &Alternative<'e>) -> Result<Reasons<'e>> {
        let mut shown = alternative.parts()?;
        let others = shown.split_off(self.top.min(shown.len()));
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

    /// Describes the labels of an alternative: of its token, or of all tokens that differ.
    pub fn describe_alternative(&self, alternative: &Alternative<'_>) -> String {
        if let [label] = alternative.labels() {
            return self.name(*label).to_owned();
        }
        let tokens = alternative.range().zip(alternative.labels());
        let tokens = tokens.map(|(t, &label)| format!("{}/{}", self.words[t], self.name(label)));
        tokens.collect::<Vec<_>>().join(" ")
    }
}
