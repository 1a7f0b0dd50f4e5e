//! Scores as a table on a terminal.

use dropchain::eval::{Counts, Evaluation};
use dropchain_analysis::ScoreIntervals;
use dropchain_layout::{Paint, format_table, printable, width};

use crate::columns;

/// Returns the scores in percent, with their 95 % intervals if they are known, as a table of as
/// many columns as fit: of spans in all and by type, or else the accuracy, and that of each column
/// that the labels join.
pub fn score_table(evaluation: &Evaluation, intervals: Option<&ScoreIntervals>) -> String {
    let accuracy = percent(evaluation.accuracy());
    let range = |of: fn(&ScoreIntervals) -> [f64; 2]| intervals.map(of).map(interval);
    let tokens = format!("{} tokens in {} sentences", evaluation.tokens(), evaluation.sentences());
    if evaluation.has_spans() {
        let range = range(|all| all.accuracy).map_or(String::new(), |range| format!(" ({range})"));
        let table = span_table(evaluation, intervals);
        return format!("{table}\naccuracy {accuracy}{range} of {tokens}\n");
    }
    let mut rows = vec![
        ["", "accuracy", "95 % interval"].map(str::to_owned).to_vec(),
        vec!["all".to_owned(), accuracy, range(|all| all.accuracy).unwrap_or_default()],
    ];
    let columns = evaluation.columns().into_iter().flatten();
    rows.extend(columns.map(|c| vec![printable(&c.column), percent(c.accuracy), String::new()]));
    format!("{}\n{tokens}\n", fitting(rows))
}

/// Returns the scores of spans, in all and by type.
fn span_table(evaluation: &Evaluation, intervals: Option<&ScoreIntervals>) -> String {
    let row = |name: &str, counts: Counts, range: Option<[f64; 2]>| {
        let scores = counts.percentages();
        let [f1, precision, recall] =
            [scores.f1, scores.precision, scores.recall].map(|score| format!("{score:.2}"));
        let [gold, predicted, correct] =
            [counts.gold, counts.predicted, counts.correct].map(|count| count.to_string());
        let range = range.map_or(String::new(), interval);
        vec![printable(name), f1, range, precision, recall, gold, predicted, correct]
    };
    let heads = ["", "F1", "95 % interval", "precision", "recall", "gold", "predicted", "correct"];
    let all = row("all", evaluation.spans(), intervals.map(|all| all.f1));
    let mut rows = vec![heads.map(str::to_owned).to_vec(), all];
    rows.extend(evaluation.types().map(|(name, counts)| {
        let range = intervals.and_then(|all| all.types.get(name));
        row(name, counts, range.copied())
    }));
    fitting(rows)
}

/// Formats rows without the columns that are empty, and without the last ones if they do not fit.
/// The first row of scores is bold.
fn fitting(mut rows: Vec<Vec<String>>) -> String {
    if rows[1..].iter().all(|row| row[2].is_empty()) {
        rows.iter_mut().for_each(|row| drop(row.remove(2)));
    }
    loop {
        let table = format_table(rows.iter());
        let widest = table.lines().map(width).max().unwrap_or(0);
        if widest <= columns() || rows[0].len() <= 2 {
            let lines = table.lines().enumerate().map(|(i, line)| match i {
                1 => Paint::Title.on(line) + "\n",
                _ => line.to_owned() + "\n",
            });
            return lines.collect();
        }
        rows.iter_mut().for_each(|row| drop(row.pop()));
    }
}

fn interval(range: [f64; 2]) -> String {
    range.map(percent).join("–")
}

/// Returns the name and the value of the score that counts: F1 of spans, or else the accuracy.
pub fn main_score(evaluation: &Evaluation) -> (&'static str, f64) {
    if evaluation.has_spans() {
        ("F1", evaluation.f1())
    } else {
        ("accuracy", evaluation.accuracy())
    }
}

/// Formats a fraction in percent.
pub fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}
