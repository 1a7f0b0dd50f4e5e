//! What `classify eval` prints.

use dropchain::eval::BootstrapReport;
use dropchain_documents::{ClassEvaluation, ClassReport};
use serde_json::{Value, json};

use crate::rates::damage_table;
use crate::table::format_table;

fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}

fn interval(bounds: [f64; 2]) -> String {
    format!("{}–{}", percent(bounds[0]), percent(bounds[1]))
}

/// Returns the scores over all classes.
pub fn summary(report: &ClassReport) -> String {
    let mut text = format!(
        "{} documents; accuracy {}% ({}); macro-F1 {}% ({})\n\
         log-loss {:.4}; Brier score {:.4}; expected calibration error {:.4}\n",
        report.documents,
        percent(report.accuracy),
        interval(report.accuracy_interval),
        percent(report.macro_f1),
        interval(report.macro_f1_interval),
        report.log_loss,
        report.brier_score,
        report.calibration_error,
    );
    if report.unseen > 0 {
        text += &format!(
            "{} of a class that the model does not have, and so wrong; they are left out of the \
             log-loss\n",
            match report.unseen {
                1 => "1 document is".to_owned(),
                n => format!("{n} documents are"),
            }
        );
    }
    text
}

/// Returns the scores of each class.
pub fn classes(report: &ClassReport) -> String {
    let heading = ["class", "precision", "recall", "F1", "documents"].map(str::to_owned);
    let rows = report.classes.iter().map(|class| {
        [
            class.class.clone(),
            percent(class.precision),
            percent(class.recall),
            percent(class.f1),
            class.support.to_string(),
        ]
    });
    format!("\n{}", format_table([heading].into_iter().chain(rows)))
}

/// Returns what the documents of each class were predicted to be.
pub fn confusions(report: &ClassReport) -> String {
    let heading = ["class", "predicted", "documents"].map(str::to_owned);
    let rows = report.classes.iter().flat_map(|class| {
        let predicted = class.predicted.iter();
        predicted.map(|(name, count)| [class.class.clone(), name.clone(), count.to_string()])
    });
    format!("\n{}", format_table([heading].into_iter().chain(rows)))
}

/// Returns how often predictions of some probability are right.
pub fn calibration(evaluation: &ClassEvaluation) -> String {
    let heading = ["probability", "documents", "mean", "right"].map(str::to_owned);
    let bins = evaluation.calibration().bins().into_iter();
    let rows = bins.filter(|bin| bin.count > 0).map(|bin| {
        [
            format!("{:.1}–{:.1}", bin.low, bin.high),
            bin.count.to_string(),
            format!("{:.3}", bin.confidence),
            format!("{:.3}", bin.accuracy),
        ]
    });
    format!("\n{}", format_table([heading].into_iter().chain(rows)))
}

/// Returns the difference between two models.
pub fn comparison(report: &BootstrapReport) -> String {
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

/// Returns everything as JSON.
pub fn json(
    report: &ClassReport,
    evaluation: &ClassEvaluation,
    comparison: Option<&BootstrapReport>,
) -> Value {
    let mut value = json!(report);
    value["calibration"] = json!(evaluation.calibration().bins());
    if let Some(comparison) = comparison {
        value["against"] = json!(comparison);
    }
    value
}

/// Returns a table and a plot of scores by the rate of words that are left out.
pub fn damaged(reports: &[(f64, ClassReport)]) -> String {
    let heading = ["left out", "accuracy", "macro-F1", "log-loss"];
    let rows = reports.iter().map(|(rate, report)| {
        let others = vec![percent(report.macro_f1), format!("{:.4}", report.log_loss)];
        (*rate, report.accuracy, others)
    });
    damage_table(&heading, &rows.collect::<Vec<_>>())
}

/// Returns the scores by the rate of words that are left out, as JSON.
pub fn damaged_json(reports: &[(f64, ClassReport)]) -> Value {
    let rates = reports.iter().map(|(rate, report)| {
        let mut value = json!(report);
        value["rate"] = json!(rate);
        value
    });
    rates.collect()
}
