//! Explanations as data: the record of a token, of which JSON, text and pages are written.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::PartKind;

/// The number of tokens of a runner-up that are described.
const DESCRIBED: usize = 20;

/// A span, or a token outside of spans, which one token explains: the least clear one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Block<'a> {
    /// The first token.
    pub start: usize,
    /// The token after the last one.
    pub end: usize,
    /// The words.
    pub text: Cow<'a, str>,
    /// The type of the span, or the label of the token.
    pub label: Cow<'a, str>,
    /// The lowest probability of a label of its tokens.
    pub probability: f64,
    /// Whether it is outside of all spans.
    pub outside: bool,
    /// Whether it is a span or not clear: the others are rarely looked at.
    pub notable: bool,
    /// The token whose explanation is that of the block: the one with the least margin.
    pub token: usize,
}

impl Block<'_> {
    /// Returns whether a reason has to name its token: there are several, or it is another one.
    pub(super) fn needs_place(&self, token: usize) -> bool {
        self.end - self.start > 1 || token != self.token
    }
}

/// Why a token has its label.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExplainedToken<'a> {
    /// The token.
    pub token: usize,
    /// The word.
    pub text: Cow<'a, str>,
    /// The label.
    pub label: Cow<'a, str>,
    /// The probability of the label.
    pub probability: f64,
    /// What the label was preferred to; `None` if no other one is possible.
    #[serde(flatten)]
    pub lead: Option<Lead<'a>>,
}

/// The lead of the best label sequence over the one that it is compared with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lead<'a> {
    /// How much higher its score is.
    pub margin: f64,
    /// What it is compared with.
    pub runner_up: RunnerUp<'a>,
    /// The largest parts of the margin.
    pub parts: Vec<Reason<'a>>,
    /// The other parts.
    pub others: Others,
}

/// The best label sequence with another label at a token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunnerUp<'a> {
    /// Its label of the token.
    pub label: Cow<'a, str>,
    /// The first token with another label.
    pub start: usize,
    /// The token after the last one with another label.
    pub end: usize,
    /// Its labels of these tokens.
    pub labels: Vec<Cow<'a, str>>,
}

/// The parts of a margin that are not shown.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Others {
    /// Their number.
    pub parts: usize,
    /// Their sum.
    pub contribution: f64,
}

/// A part of a margin. Of each pair, the first belongs to the best sequence and the second to the
/// runner-up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reason<'a> {
    /// The origin of the part.
    pub kind: PartKind,
    /// The token.
    pub token: usize,
    /// What it adds to the margin.
    pub contribution: f64,
    /// What it is, in words.
    pub words: Cow<'a, str>,
    /// The labels of the token.
    pub labels: [Cow<'a, str>; 2],
    /// The labels of the token before, if the part depends on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_labels: Option<[Cow<'a, str>; 2]>,
    /// The weights.
    pub weights: [f64; 2],
    /// The name of the attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<Cow<'a, str>>,
    /// The value of the attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

impl RunnerUp<'_> {
    /// Describes the labels: the one of its token, or those that differ; of many, those around the
    /// token.
    pub fn describe(&self, words: &[String], token: usize) -> String {
        if let [label] = &self.labels[..] {
            return label.to_string();
        }
        let first = token.saturating_sub(self.start).saturating_sub(DESCRIBED / 2);
        let tokens = words.iter().skip(self.start).zip(&self.labels).skip(first).take(DESCRIBED);
        let mut description: Vec<String> =
            tokens.map(|(word, label)| format!("{word}/{label}")).collect();
        if self.labels.len() > description.len() {
            description.push(format!("… ({} tokens)", self.labels.len()));
        }
        description.join(" ")
    }
}

impl Lead<'_> {
    /// Says how much more likely the best sequence is.
    pub fn times(&self) -> String {
        match self.margin.exp() {
            times @ ..9.95 => format!("{times:.1} times"),
            times @ ..999.5 => format!("{times:.0} times"),
            times @ ..1e6 => format!("{:.0},000 times", times / 1000.0),
            _ => "over a million times".to_owned(),
        }
    }

    /// Returns the parts as they are shown, the largest first: those with the same words about the
    /// same token are one.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for part in &self.parts {
            let is_same = |row: &&mut Row<'_>| (row.token, row.words) == (part.token, &*part.words);
            if let Some(row) = rows.iter_mut().find(is_same) {
                row.contribution += part.contribution;
                row.parts.push(part);
                continue;
            }
            let (token, words, contribution) = (part.token, &*part.words, part.contribution);
            rows.push(Row { token, words, contribution, share: 0.0, parts: vec![part] });
        }
        let size = |row: &Row<'_>| row.contribution.abs();
        rows.sort_by(|x, y| size(y).total_cmp(&size(x)));
        let largest = rows.first().map_or(1.0, size).max(f64::MIN_POSITIVE);
        rows.iter_mut().for_each(|row| row.share = size(row) / largest);
        rows
    }
}

/// What a line about parts of a margin shows.
pub(super) struct Row<'r> {
    pub token: usize,
    pub words: &'r str,
    pub contribution: f64,
    /// The size of the contribution as a share of the largest one.
    pub share: f64,
    pub parts: Vec<&'r Reason<'r>>,
}

impl Reason<'_> {
    /// Returns the attribute as its template names it, with its value; nothing for parts of labels
    /// alone.
    pub fn code(&self) -> String {
        match (&self.attribute, self.value) {
            (Some(name), None | Some(1.0)) => name.to_string(),
            (Some(name), Some(value)) => format!("{name} × {value}"),
            (None, _) => String::new(),
        }
    }

    /// Describes the weights that are not 0, with their labels.
    pub fn describe_weights(&self) -> String {
        let weights = [0, 1].into_iter().filter(|&which| self.weights[which] != 0.0);
        let weights = weights.map(|which| {
            let previous = self.previous_labels.as_ref();
            let previous = previous.map_or(String::new(), |labels| format!("{} → ", labels[which]));
            format!("{previous}{} {:.3}", self.labels[which], self.weights[which])
        });
        weights.collect::<Vec<_>>().join(", ")
    }
}
