//! Reports: that of `eval --json`, that of conlleval, byte for byte, and tables.
//!
//! Writing to a `String` cannot fail, so the results of `writeln!` are ignored.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::counts::{Counts, ratio};
use super::evaluation::Evaluation;

/// Serializes all scores as one flat object, as fractions in 0..=1, 0 if the denominator is 0:
/// `tokens`, `sentences`, `accuracy`, [`kappa`](Evaluation::kappa) if it is known, `precision`,
/// `recall`, `f1` and `types` of spans, and `columns` that the labels join.
impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tokens", &self.tokens())?;
        map.serialize_entry("sentences", &self.sentences())?;
        map.serialize_entry("accuracy", &self.accuracy())?;
        if let Some(kappa) = self.kappa() {
            map.serialize_entry("kappa", &kappa)?;
        }
        if self.has_spans() {
            map.serialize_entry("precision", &self.precision())?;
            map.serialize_entry("recall", &self.recall())?;
            map.serialize_entry("f1", &self.f1())?;
            map.serialize_entry("types", &self.types().collect::<BTreeMap<_, _>>())?;
        }
        if let Some(columns) = self.columns() {
            map.serialize_entry("columns", &columns)?;
        }
        map.end()
    }
}

/// Serializes the scores as fractions: `precision`, `recall`, `f1` and `support`, the number in
/// gold.
impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let metrics = self.metrics();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("precision", &metrics.precision)?;
        map.serialize_entry("recall", &metrics.recall)?;
        map.serialize_entry("f1", &metrics.f1)?;
        map.serialize_entry("support", &self.gold)?;
        map.end()
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
            self.columns.iter().try_for_each(|(name, correct)| {
                let accuracy = ratio(100.0, *correct, self.tokens());
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
