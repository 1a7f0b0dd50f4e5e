//! The results of `dropchain tune`, as a table and as JSON.

use std::path::Path;

use dropchain::train::{DevScore, EndReason};
use dropchain_tune::{Configuration, NoiseGain, TrialResult, TuneResult};
use serde_json::{Value, json};

use super::description::SearchDescription;
use crate::progress::Progress;
use crate::table::format_table;
use crate::training_reporter::format_pruned;

/// The results of a search, and its inputs.
pub struct Results<'a> {
    pub description: &'a SearchDescription<'a>,
    pub result: &'a TuneResult,
    pub seconds: f64,
}

/// A searched parameter: its name and how to get its value.
type Parameter = (&'static str, fn(&Configuration) -> f64);

/// A column of the table: its heading and how to format a cell.
type Column<'a> = (&'static str, Box<dyn Fn(&TrialResult) -> String + 'a>);

impl Results<'_> {
    /// Formats the table, best configuration first, and the flags for `train` to reproduce it.
    pub fn table(&self) -> String {
        let columns = self.columns();
        let heading: Vec<String> = columns.iter().map(|column| column.0.to_owned()).collect();
        let row = |trial: &TrialResult| -> Vec<String> {
            columns.iter().map(|column| column.1(trial)).collect()
        };
        let rows = self.result.trials.iter().map(row);
        let rows: Vec<Vec<String>> = [heading].into_iter().chain(rows).collect();
        let mut text = format_table(rows.into_iter());
        if let Some(best) = self.result.trials.first() {
            let templates = self.description.template_arguments;
            let best = self.description.train_flags(&best.configuration, templates);
            text += &format!("\nbest: {best}\n");
        }
        if let Some(gain) = self.result.noise_gain() {
            text += &format!("{}\n", self.format_gain(&gain));
        }
        text
    }

    /// Formats the difference between the best configurations with and without noise.
    fn format_gain(&self, gain: &NoiseGain) -> String {
        let (mean, deviation) = (100.0 * gain.mean, 100.0 * gain.standard_deviation);
        let p = if gain.p_value < 0.001 {
            "p < 0.001".to_owned()
        } else {
            format!("p = {:.3}", gain.p_value)
        };
        format!(
            "dropout over the best without: {mean:+.2} ± {deviation:.2} points of {}, ahead in {} \
             of {} folds ({p})",
            self.metric(),
            gain.ahead,
            gain.fold_differences.len()
        )
    }

    /// Returns the name of the score.
    fn metric(&self) -> &'static str {
        match self.result.trials.iter().find_map(|s| s.score) {
            Some(DevScore::Accuracy(_)) => "accuracy",
            _ => "F1",
        }
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let all = &self.result.trials;
        let is_searched = |value: fn(&Configuration) -> f64| {
            let values = all.iter().map(|trial| value(&trial.configuration));
            values.clone().any(|x| x != 0.0)
                && values.clone().any(|x| Some(x) != values.clone().next())
        };
        let number = |heading, value: fn(&Configuration) -> f64| -> Column<'_> {
            (
                heading,
                Box::new(move |s| value(&s.configuration).to_string()),
            )
        };
        let mut columns: Vec<Column<'_>> = vec![
            (
                "template",
                Box::new(|s| self.description.templates[s.configuration.template].clone()),
            ),
            number("dropout", |c| c.dropout),
            number("edge dropout", |c| c.edge_dropout),
            number("L2", |c| c.l2),
        ];
        if self.description.is_of_documents {
            columns.retain(|(heading, _)| !["template", "edge dropout"].contains(heading));
        }
        if all.iter().any(|s| s.configuration.l1 > 0.0) {
            columns.push(number("L1", |c| c.l1));
        }
        if is_searched(|c| c.unlabeled_weight) {
            columns.push(number("unlabeled", |c| c.unlabeled_weight));
        }
        if all.iter().any(|s| s.configuration.warm_up.is_some()) {
            columns.push(("warm-up", Box::new(|s| or_dash(s.configuration.warm_up))));
        }
        if all.iter().any(|s| s.configuration.gradient.is_some()) {
            columns.push(("gradient", Box::new(|s| or_dash(s.configuration.gradient))));
        }
        let folds = self.description.folds;
        let heading = match (folds, self.metric()) {
            (None, "accuracy") => "dev accuracy",
            (None, _) => "dev F1",
            (Some(_), "accuracy") => "mean accuracy",
            (Some(_), _) => "mean F1",
        };
        let percent =
            |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{:.2}", 100.0 * x));
        columns.push((
            heading,
            Box::new(move |s| percent(s.score.map(DevScore::value))),
        ));
        if folds.is_some() {
            columns.push(("±", Box::new(move |s| percent(s.standard_deviation))));
        }
        if all.iter().any(|s| s.active_attributes.is_some()) {
            columns.push((
                "active attributes",
                Box::new(|s| or_dash(s.active_attributes)),
            ));
        }
        columns.push(("best at", Box::new(|s| s.best_iteration.to_string())));
        columns.push(("iterations", Box::new(|s| s.iterations.to_string())));
        columns.push(("stopped by", Box::new(|s| self.stop_reason(s).to_owned())));
        columns
    }

    /// Returns the reason why the training of a configuration stopped.
    fn stop_reason(&self, trial: &TrialResult) -> &'static str {
        match trial.reason {
            Some(reason) => EndReason::name(reason),
            None if self.result.interrupted => "interrupted",
            None if trial.rungs < self.result.rungs.len() => "halving",
            None => "max_iterations",
        }
    }

    /// Returns all results as one JSON object.
    pub fn json(&self) -> Value {
        let description = self.description;
        let trials = self.result.trials.iter().map(|trial| {
            let mut fields = description.trial_fields(trial);
            fields.insert("rungs".to_owned(), json!(trial.rungs));
            fields.insert("ended_by".to_owned(), json!(self.stop_reason(trial)));
            Value::Object(fields)
        });
        let trials: Vec<Value> = trials.collect();
        let mut results = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "files": description.files,
            "templates": description.template_arguments,
            "dev": description.dev,
            "folds": description.folds,
            "seed": description.seed,
            "options": self.result.settings,
            "iterations_on_all_data": self.result.refit_iterations,
            "interrupted": self.result.interrupted,
            "seconds": self.seconds,
            "configurations": trials,
        });
        if let Some(gain) = self.result.noise_gain() {
            results["noise_gain"] = json!(gain);
        }
        description.add_models(&mut results);
        results
    }

    /// Prints notices about the outcome, and what became of the model.
    pub fn print_notices(&self, model: &Path, progress: &Progress) {
        let result = self.result;
        if let Some(pruned) = &result.pruned {
            progress.println(&format_pruned(pruned));
        }
        if let Some(rounded) = &result.rounded {
            progress.println(&rounded.to_string());
        }
        for suggestion in suggestions(&result.trials, self.description.has_edge_axis) {
            progress.println(&suggestion);
        }
        if result.interrupted {
            progress.println("interrupted: not all configurations were trained to the end");
        }
        if let Some(iterations) = result.refit_iterations {
            progress.println(&format!(
                "retrained on all data for {iterations} iterations"
            ));
        }
        if result.refit_iterations != Some(0) {
            progress.println(&format!("wrote {}", model.display()));
        }
    }

    /// Returns the last line of the log.
    pub fn end_line(&self) -> Value {
        let result = self.result;
        let mut line = json!({
            "event": "end",
            "best": result.trials.first().map(|best| best.number),
            "options": result.settings,
            "iterations_on_all_data": result.refit_iterations,
            "interrupted": result.interrupted,
            "seconds": self.seconds,
        });
        if let Some(gain) = result.noise_gain() {
            line["noise_gain"] = json!(gain);
        }
        line
    }
}

/// Formats a value, or a dash if there is none.
fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

/// Suggests extending the search where the best value is the smallest or largest that was tried.
/// `has_edge_axis` is true if edge dropout was searched independently of dropout.
fn suggestions(trials: &[TrialResult], has_edge_axis: bool) -> Vec<String> {
    let Some(best) = trials.first() else {
        return Vec::new();
    };
    let parameters: [Parameter; 3] = [
        ("dropout", |c| c.dropout),
        ("edge dropout", |c| c.edge_dropout),
        ("L2", |c| c.l2),
    ];
    let mut suggestions = Vec::new();
    for (name, value) in parameters {
        if name == "edge dropout" && !has_edge_axis {
            continue;
        }
        let best_value = value(&best.configuration);
        let others = || trials.iter().map(|s| value(&s.configuration));
        let (larger, smaller) = (
            others().any(|x| x > best_value),
            others().any(|x| x < best_value),
        );
        let (end, direction) = match (larger, smaller) {
            (false, true) => ("largest", "larger"),
            (true, false) if best_value > 0.0 => ("smallest", "smaller"),
            _ => continue,
        };
        suggestions.push(format!(
            "the best {name}, {best_value}, is the {end} value tried; {direction} values may be \
             better"
        ));
    }
    suggestions
}
