//! The JSON report of `eval --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::columns::ColumnReport;
use super::confusion::Confusion;
use super::evaluation::Evaluation;
use super::metrics::Counts;

/// All scores of an evaluation, as fractions in 0..=1; 0 if the denominator is 0.
///
/// Serializes as one flat object, omitting members that are `None`:
/// `{"tokens", "sentences", "accuracy", "precision", "recall", "f1", "types", "columns",
/// "labels", "confusions"}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report<'a> {
    /// Number of tokens, document boundaries included.
    pub tokens: u64,
    /// Number of sentences.
    pub sentences: u64,
    /// Fraction of tokens with the correct label.
    pub accuracy: f64,
    /// Span scores; `None` if the gold labels encode no spans.
    #[serde(flatten)]
    pub spans: Option<SpanReport<'a>>,
    /// Accuracy of each of the columns that the labels join, if they join several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<ColumnReport>>,
    /// Token-level scores of each label, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<&'a str, ScoreReport>>,
    /// The most frequent confusions, most frequent first, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confusions: Option<Vec<Confusion<'a>>>,
}

/// Span scores: micro-averaged, and per type.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpanReport<'a> {
    /// Fraction of predicted spans that are correct.
    pub precision: f64,
    /// Fraction of gold spans that are predicted.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Scores of each type that occurs in gold or predicted labels.
    pub types: BTreeMap<&'a str, ScoreReport>,
}

/// Scores of one type or label.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScoreReport {
    /// correct / predicted.
    pub precision: f64,
    /// correct / gold.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Number in gold.
    pub support: u64,
}

impl From<Counts> for ScoreReport {
    fn from(counts: Counts) -> Self {
        let metrics = counts.metrics();
        Self {
            precision: metrics.precision,
            recall: metrics.recall,
            f1: metrics.f1,
            support: counts.gold,
        }
    }
}

impl Evaluation {
    /// Accuracy, and span scores if the gold labels encode spans.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        let scores = self.spans().metrics();
        Report {
            tokens: self.tokens(),
            sentences: self.sentences(),
            accuracy: self.accuracy(),
            columns: self.columns().report(self.tokens()),
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

    /// [`Evaluation::report`] with the scores of each label and the `limit` most frequent
    /// confusions; both are empty without [`Evaluation::with_confusions`].
    #[must_use]
    pub fn detailed_report(&self, limit: usize) -> Report<'_> {
        let labels = self.labels();
        Report {
            labels: Some(labels.into_iter().map(|(l, c)| (l, c.into())).collect()),
            confusions: Some(self.confusions(limit)),
            ..self.report()
        }
    }
}
