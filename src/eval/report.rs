//! The evaluation for programs: what `eval --json` writes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Confusion, Counts, Evaluation};

/// All scores of an evaluation. They are fractions in 0..=1, not percentages; where there is
/// nothing to divide by they are 0.
///
/// Serializes as one flat object, without the members that are `None`:
/// `{"tokens", "sentences", "accuracy", "precision", "recall", "f1", "types", "labels",
/// "confusions"}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report<'a> {
    /// Number of tokens, document boundaries included.
    pub tokens: u64,
    /// Number of sentences.
    pub sentences: u64,
    /// Fraction of tokens whose predicted label is the gold one.
    pub accuracy: f64,
    /// Span scores; `None` where the gold labels write no spans.
    #[serde(flatten)]
    pub spans: Option<SpanReport<'a>>,
    /// Scores of each label as such, on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<&'a str, ScoreReport>>,
    /// Frequent confusions, most frequent first, on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confusions: Option<Vec<Confusion<'a>>>,
}

/// Scores of spans, over all types and of each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpanReport<'a> {
    /// Fraction of predicted spans that are correct.
    pub precision: f64,
    /// Fraction of gold spans that are found.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Scores of each type in gold or predicted.
    pub types: BTreeMap<&'a str, ScoreReport>,
}

/// Scores of one type or label.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScoreReport {
    /// Fraction of the predicted that are correct.
    pub precision: f64,
    /// Fraction of the gold that are found.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// How many there are in gold.
    pub support: u64,
}

impl From<Counts> for ScoreReport {
    fn from(counts: Counts) -> Self {
        let scores = counts.metrics();
        Self {
            precision: scores.precision,
            recall: scores.recall,
            f1: scores.f1,
            support: counts.gold,
        }
    }
}

impl Evaluation {
    /// Token scores, and span scores where there are spans.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        let scores = self.spans().metrics();
        Report {
            tokens: self.tokens(),
            sentences: self.sentences(),
            accuracy: self.accuracy(),
            spans: self.has_spans().then(|| SpanReport {
                precision: scores.precision,
                recall: scores.recall,
                f1: scores.f1,
                types: self.types().map(|(kind, c)| (kind, c.into())).collect(),
            }),
            labels: None,
            confusions: None,
        }
    }

    /// [`Evaluation::report`] with the scores of each label and the `most` most frequent confusions;
    /// both are empty without [`Evaluation::with_confusions`].
    #[must_use]
    pub fn detailed_report(&self, most: usize) -> Report<'_> {
        let labels = self.labels();
        Report {
            labels: Some(labels.into_iter().map(|(l, c)| (l, c.into())).collect()),
            confusions: Some(self.confusions(most)),
            ..self.report()
        }
    }
}
