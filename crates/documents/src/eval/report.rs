//! Scores of classes, for people and programs.

use dropchain_analysis::BootstrapReport;
use serde_json::{Value, json};

use super::classes::{ClassEvaluation, ClassReport};

/// A row of a table, of which the first is the heading.
type Row = Vec<String>;

fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}

fn interval(bounds: [f64; 2]) -> String {
    format!("{}–{}", percent(bounds[0]), percent(bounds[1]))
}

impl ClassReport {
    /// Returns the scores over all classes, for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} documents; accuracy {}% ({}); macro-F1 {}% ({})\n\
             log-loss {:.4}; Brier score {:.4}; expected calibration error {:.4}\n",
            self.documents,
            percent(self.accuracy),
            interval(self.accuracy_interval),
            percent(self.macro_f1),
            interval(self.macro_f1_interval),
            self.log_loss,
            self.brier_score,
            self.calibration_error,
        );
        if self.unseen > 0 {
            text += &format!(
                "{} of a class that the model does not have, and so wrong; they are left out of \
                 the log-loss\n",
                match self.unseen {
                    1 => "1 document is".to_owned(),
                    n => format!("{n} documents are"),
                }
            );
        }
        text
    }

    /// Returns a table of the scores of each class.
    #[must_use]
    pub fn class_rows(&self) -> Vec<Row> {
        let classes = self.classes.iter().map(|class| {
            [
                class.class.clone(),
                percent(class.precision),
                percent(class.recall),
                percent(class.f1),
                class.support.to_string(),
            ]
        });
        table(["class", "precision", "recall", "F1", "documents"], classes)
    }

    /// Returns a table of what the documents of each class were predicted to be.
    #[must_use]
    pub fn confusion_rows(&self) -> Vec<Row> {
        let rows = self.classes.iter().flat_map(|class| {
            let predicted = class.predicted.iter();
            predicted.map(|(name, count)| [class.class.clone(), name.clone(), count.to_string()])
        });
        table(["class", "predicted", "documents"], rows)
    }

    /// Returns a row of a table by the rate of what was left out: the accuracy, and other scores.
    #[must_use]
    pub fn damaged_row(&self) -> (f64, Row) {
        let others = vec![percent(self.macro_f1), format!("{:.4}", self.log_loss)];
        (self.accuracy, others)
    }
}

impl ClassEvaluation {
    /// Returns a table of how often predictions of some probability are right.
    #[must_use]
    pub fn calibration_rows(&self) -> Vec<Row> {
        let bins = self.calibration().bins().into_iter();
        let rows = bins.filter(|bin| bin.count > 0).map(|bin| {
            [
                format!("{:.1}–{:.1}", bin.low, bin.high),
                bin.count.to_string(),
                format!("{:.3}", bin.confidence),
                format!("{:.3}", bin.accuracy),
            ]
        });
        table(["probability", "documents", "mean", "right"], rows)
    }

    /// Returns a report of this evaluation with its calibration and a comparison as JSON.
    #[must_use]
    pub fn json(&self, report: &ClassReport, comparison: Option<&BootstrapReport>) -> Value {
        let mut value = json!(report);
        value["calibration"] = json!(self.calibration().bins());
        if let Some(comparison) = comparison {
            value["against"] = json!(comparison);
        }
        value
    }
}

fn table<const N: usize>(heading: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Vec<Row> {
    let heading = heading.map(str::to_owned);
    let rows = [heading].into_iter().chain(rows);
    rows.map(|row| row.to_vec()).collect()
}

/// Returns the difference in accuracy between two classifiers, for people.
#[must_use]
pub fn comparison_text(report: &BootstrapReport) -> String {
    let accuracy = &report.accuracy;
    format!(
        "\nthe other model: accuracy {}%; difference {:+.2} ({:+.2} to {:+.2}), p = {:.4} by {} \
         resamples\n",
        percent(accuracy.b),
        100.0 * (accuracy.a - accuracy.b),
        -100.0 * accuracy.interval[1],
        -100.0 * accuracy.interval[0],
        accuracy.p_value,
        report.samples,
    )
}
