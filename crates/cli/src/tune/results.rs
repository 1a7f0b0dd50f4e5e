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

impl Results<'_> {
    /// Formats the table, best configuration first, and the flags for `train` to reproduce it.
    pub fn table(&self) -> String {
        let columns = self.columns();
        let row = |i: usize| {
            columns
                .iter()
                .map(move |column| column[i].clone())
                .collect()
        };
        let rows: Vec<Vec<String>> = (0..=self.result.trials.len()).map(row).collect();
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

    /// Returns the columns of the table, with their headings. Of what need not be searched, there
    /// is no column if it was not.
    fn columns(&self) -> Vec<Vec<String>> {
        let (description, all) = (self.description, &self.result.trials);
        let (is_tagger, has_folds) = (!description.is_of_documents, description.folds.is_some());
        let mut columns = Vec::new();
        let mut add = |heading: &str, is_shown: bool, cell: &dyn Fn(&TrialResult) -> String| {
            if is_shown {
                let cells = all.iter().map(cell);
                columns.push([heading.to_owned()].into_iter().chain(cells).collect());
            }
        };
        let number = |value: fn(&Configuration) -> f64| {
            move |trial: &TrialResult| value(&trial.configuration).to_string()
        };
        let any = |has: fn(&TrialResult) -> bool| all.iter().any(has);
        let weight = |trial: &TrialResult| trial.configuration.unlabeled_weight;
        let has_weights = all
            .windows(2)
            .any(|pair| weight(&pair[0]) != weight(&pair[1]));
        let source = if has_folds { "mean" } else { "dev" };
        let percent = |x: Option<f64>| or_dash(x.map(|x| format!("{:.2}", 100.0 * x)));
        add("template", is_tagger, &|s| {
            description.templates[s.configuration.template].clone()
        });
        add("dropout", true, &number(|c| c.dropout));
        add("edge dropout", is_tagger, &number(|c| c.edge_dropout));
        add("L2", true, &number(|c| c.l2));
        add("L1", any(|s| s.configuration.l1 > 0.0), &number(|c| c.l1));
        add("unlabeled", has_weights, &number(|c| c.unlabeled_weight));
        add(
            "warm-up",
            any(|s| s.configuration.warm_up.is_some()),
            &|s| or_dash(s.configuration.warm_up),
        );
        add(
            "gradient",
            any(|s| s.configuration.gradient.is_some()),
            &|s| or_dash(s.configuration.gradient),
        );
        add(&format!("{source} {}", self.metric()), true, &|s| {
            percent(s.score.map(DevScore::value))
        });
        add("±", has_folds, &|s| percent(s.standard_deviation));
        add(
            "active attributes",
            any(|s| s.active_attributes.is_some()),
            &|s| or_dash(s.active_attributes),
        );
        add("best at", true, &|s| s.best_iteration.to_string());
        add("iterations", true, &|s| s.iterations.to_string());
        add("stopped by", true, &|s| self.stop_reason(s).to_owned());
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
        let mut results = json!({});
        self.description.add_inputs(&mut results);
        self.add_outcome(&mut results);
        let trials = self.result.trials.iter().map(|trial| {
            let mut fields = self.description.trial_fields(trial);
            fields.insert("rungs".to_owned(), json!(trial.rungs));
            fields.insert("ended_by".to_owned(), json!(self.stop_reason(trial)));
            fields
        });
        results["configurations"] = trials.collect();
        results
    }

    /// Returns the last line of the log.
    pub fn end_line(&self) -> Value {
        let best = self.result.trials.first().map(|best| best.number);
        let mut line = json!({"event": "end", "best": best});
        self.add_outcome(&mut line);
        line
    }

    /// Adds the outcome to the last line of the log, or to the results.
    fn add_outcome(&self, object: &mut Value) {
        let result = self.result;
        object["options"] = json!(result.settings);
        object["iterations_on_all_data"] = json!(result.refit_iterations);
        object["interrupted"] = json!(result.interrupted);
        object["seconds"] = json!(self.seconds);
        if let Some(gain) = result.noise_gain() {
            object["noise_gain"] = json!(gain);
        }
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
        self.print_suggestions(progress);
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

    /// Suggests extending the search where the best value is the smallest or largest of several.
    fn print_suggestions(&self, progress: &Progress) {
        type Parameter = (&'static str, bool, fn(&Configuration) -> f64);
        let parameters: [Parameter; 3] = [
            ("dropout", true, |c| c.dropout),
            ("edge dropout", self.description.has_edge_axis, |c| {
                c.edge_dropout
            }),
            ("L2", true, |c| c.l2),
        ];
        for (name, _, value) in parameters.into_iter().filter(|parameter| parameter.1) {
            let mut all = self.result.trials.iter().map(|s| value(&s.configuration));
            let Some(best) = all.next() else {
                return;
            };
            let is_largest = all.clone().all(|x| x <= best);
            let is_smallest = all.clone().all(|x| x >= best);
            let (end, direction) = match (is_largest, is_smallest) {
                (true, false) => ("largest", "larger"),
                (false, true) if best > 0.0 => ("smallest", "smaller"),
                _ => continue,
            };
            progress.println(&format!(
                "the best {name}, {best}, is the {end} value tried; {direction} values may be \
                 better"
            ));
        }
    }
}

/// Formats a value, or a dash if there is none.
fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}
