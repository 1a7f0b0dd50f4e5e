//! Reports: that of `eval --json`, that of conlleval, byte for byte, and tables.
//!
//! Writing to a `String` cannot fail, so the results of `writeln!` are ignored.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde::Serialize;

use super::counts::{ColumnReport, Confusion, Counts, ratio};
use super::evaluation::Evaluation;

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
    pub fn detailed_report(&self, limit: usize) -> Report<'_> {
        let labels = self.labels();
        Report {
            labels: Some(labels.into_iter().map(|(l, c)| (l, c.into())).collect()),
            confusions: Some(self.confusions(limit)),
            ..self.report()
        }
    }
}

/// Width to which conlleval right-aligns types: in bytes, as Perl counts.
const TYPE_WIDTH: usize = 17;

/// Writes conlleval's report if the gold labels encode spans, else only the accuracy, and that of
/// each column that the labels join; ends with a newline.
impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.has_spans() {
            f.write_str(&self.conlleval())
        } else {
            writeln!(
                f,
                "accuracy: {:6.2}%  ({} of {} tokens)",
                self.accuracy_percentage(),
                self.correct_tokens(),
                self.tokens()
            )?;
            self.columns().iter().try_for_each(|(name, correct)| {
                let accuracy = ratio(100.0, correct, self.tokens());
                writeln!(f, "{name:>8}: {accuracy:6.2}%  ({correct} of {} tokens)", self.tokens())
            })
        }
    }
}

impl Evaluation {
    /// The report of conlleval.pl (version 2004-01-26), byte for byte, for labels of any scheme or
    /// none, well-formed or not. ([`Evaluation`] describes the two spellings it reads differently.)
    ///
    /// The output has a quirk of conlleval: the line of the empty type is printed twice if both
    /// gold and predicted labels have such spans.
    pub fn conlleval(&self) -> String {
        let spans = self.spans();
        let mut text = format!(
            "processed {} tokens with {} phrases; found: {} phrases; correct: {}.\n",
            self.tokens(),
            spans.gold,
            spans.predicted,
            spans.correct
        );
        if self.tokens() > 0 {
            let accuracy = self.accuracy_percentage();
            let _ = writeln!(text, "accuracy: {accuracy:6.2}%; {}", percentages(spans));
        }
        for (kind, counts) in self.types() {
            let twice = kind.is_empty() && counts.gold > 0 && counts.predicted > 0;
            for _ in 0..1 + usize::from(twice) {
                let _ = writeln!(
                    text,
                    "{:indent$}{kind}: {}  {}",
                    "",
                    percentages(counts),
                    counts.predicted,
                    indent = TYPE_WIDTH.saturating_sub(kind.len())
                );
            }
        }
        text
    }

    /// A table of token-level scores per label, in percent; needs
    /// [`Evaluation::with_confusions`].
    pub fn label_table(&self) -> String {
        let labels = self.labels();
        let width = column_width("label", labels.iter().map(|&(label, _)| label));
        let mut text = padded("label", width) + "  precision  recall      f1  support\n";
        for (label, counts) in labels {
            let metrics = counts.percentages();
            let _ = writeln!(
                text,
                "{}  {:9.2}  {:6.2}  {:6.2}  {:7}",
                padded(label, width),
                metrics.precision,
                metrics.recall,
                metrics.f1,
                counts.gold
            );
        }
        text
    }

    /// A table of the `limit` most frequent confusions; needs [`Evaluation::with_confusions`].
    pub fn confusion_table(&self, limit: usize) -> String {
        let confusions = self.confusions(limit);
        let gold = column_width("gold", confusions.iter().map(|c| c.gold));
        let predicted = column_width("predicted", confusions.iter().map(|c| c.predicted));
        let [mut text, second] = [padded("gold", gold), padded("predicted", predicted)];
        text += &format!("  {second}    count\n");
        for c in confusions {
            let _ = writeln!(
                text,
                "{}  {}  {:7}",
                padded(c.gold, gold),
                padded(c.predicted, predicted),
                c.count
            );
        }
        text
    }

    /// Accuracy in conlleval's arithmetic, so that it is rounded identically.
    fn accuracy_percentage(&self) -> f64 {
        ratio(100.0, self.correct_tokens(), self.tokens())
    }
}

fn percentages(counts: Counts) -> String {
    let metrics = counts.percentages();
    format!(
        "precision: {:6.2}%; recall: {:6.2}%; FB1: {:6.2}",
        metrics.precision, metrics.recall, metrics.f1
    )
}

/// Returns a text with blanks up to a width, which the macros of formatting limit to 65,535.
fn padded(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.chars().count());
    text.to_owned() + &" ".repeat(blanks)
}

/// Width in characters of a column with this header and these cells.
fn column_width<'a>(header: &str, cells: impl Iterator<Item = &'a str>) -> usize {
    cells.map(|cell| cell.chars().count()).fold(header.len(), usize::max)
}
