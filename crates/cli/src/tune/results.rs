//! A search and its results, as a table, as JSON, in the log, and as options of `train`.

use std::path::Path;

use dropchain::train::{DevScore, EndReason, Lbfgs, NoiseKind};
use dropchain_tune::{Configuration, NoiseGain, Plan, Search, Trial, TuneResult};
use serde_json::{Map, Value, json};

use crate::arguments::FileName;
use crate::config::{EffectiveConfig, options_of};
use crate::definition;
use crate::progress::Progress;
use crate::training_reporter::format_pruned;
use dropchain_layout::format_table;

/// A search and its inputs, for the log and for JSON.
pub struct SearchDescription<'a> {
    pub search: &'a Search<'a>,
    /// What is read, for the log and for JSON.
    pub inputs: Map<String, Value>,
    /// Short names of the templates.
    pub templates: &'a [String],
    pub has_folds: bool,
    pub has_unlabeled: bool,
    /// Whether edge dropout is searched independently of dropout.
    pub has_edge_axis: bool,
}

impl SearchDescription<'_> {
    /// Returns the first line of the log.
    pub fn start_line(&self, plan: &Plan) -> Value {
        let mut line = json!({
            "event": "start",
            "parameters": self.search.settings,
            "configurations": self.search.configurations.len(),
            "plan": {"runs": plan.runs, "parallel": plan.concurrency, "memory": plan.memory},
        });
        add(&mut line, self.inputs.clone());
        line
    }

    /// Returns the line of the log for a configuration.
    pub fn configuration_line(&self, trial: &Trial) -> Value {
        let mut line = json!({"event": "configuration"});
        add(&mut line, self.trial_fields(trial));
        line["stop_reason"] = json!(trial.reason.map(EndReason::name));
        line
    }

    /// Returns the result of a configuration.
    fn trial_fields(&self, trial: &Trial) -> Map<String, Value> {
        let Value::Object(mut fields) = json!(trial) else {
            return Map::new();
        };
        let template = &self.templates[trial.configuration.template];
        fields.insert("template".to_owned(), json!(template));
        if !self.has_unlabeled {
            fields.shift_remove("unlabeled_weight");
        }
        for metric in ["f1", "accuracy"].iter().filter(|_| self.has_folds) {
            if let Some(score) = fields.shift_remove(&format!("dev_{metric}")) {
                fields.insert(format!("mean_{metric}"), score);
            }
        }
        fields
    }

    /// Returns the options with which `train` trains a configuration: strengths, rates, and what
    /// else was searched.
    pub fn train_flags(&self, configuration: &Configuration) -> String {
        let several = (self.templates.len() > 1).then_some(configuration.template);
        let template = several.map(|i| format!("--template {}", self.templates[i]));
        let options = self.searched(configuration).into_iter().map(|(name, value)| match value {
            Value::String(text) => format!("--{name} {text}"),
            value => format!("--{name} {}", without_fraction(&value)),
        });
        template.into_iter().chain(options).collect::<Vec<_>>().join(" ")
    }

    /// Returns the values of a configuration but for its template, by the options of `train`.
    fn searched(&self, configuration: &Configuration) -> Vec<(&'static str, Value)> {
        let Configuration { dropout, edge_dropout, l2, l1, unlabeled_weight, .. } = *configuration;
        let has_noise = configuration.has_noise();
        let has_unlabeled = has_noise && self.has_unlabeled;
        let options = [
            ("dropout", Some(json!(dropout))),
            ("edge-dropout", has_noise.then(|| json!(edge_dropout))),
            ("l2", Some(json!(l2))),
            ("l1", (l1 > 0.0).then(|| json!(l1))),
            ("unlabeled-weight", has_unlabeled.then(|| json!(unlabeled_weight))),
            ("warm-up", configuration.warm_up.map(|warm_up| json!(warm_up))),
            ("gradient", configuration.gradient.map(|engine| json!(engine.to_string()))),
        ];
        options.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Adds fields to an object.
fn add(object: &mut Value, fields: Map<String, Value>) {
    if let Some(object) = object.as_object_mut() {
        object.extend(fields);
    }
}

/// Formats a number, a whole one without `.0`.
fn without_fraction(number: &Value) -> String {
    number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
}

/// The results of a search, and its inputs.
pub struct Results<'a> {
    pub description: &'a SearchDescription<'a>,
    pub result: &'a TuneResult,
    /// What scores on development data count, in spans or tokens.
    pub dev_units: Option<usize>,
    pub seconds: f64,
}

impl Results<'_> {
    /// Formats the table, best configuration first, and the flags for `train` to reproduce it. On a
    /// terminal of this width, without columns that say nothing or do not fit.
    pub fn table(&self, width: Option<usize>) -> String {
        let mut columns = self.columns();
        if let Some(width) = width {
            narrow(&mut columns, width);
        }
        let row = |i: usize| columns.iter().map(move |column| column[i].clone()).collect();
        let rows: Vec<Vec<String>> = (0..=self.result.trials.len()).map(row).collect();
        let mut text = format_table(rows.into_iter());
        if let Some(best) = self.result.trials.first() {
            let best = self.description.train_flags(&best.configuration);
            let uncertainty = self.uncertainty().unwrap_or_default();
            text += &format!("\n{uncertainty}best: {best}\n");
        }
        if let Some(gain) = self.result.noise_gain() {
            text += &format!("{}\n", self.format_gain(&gain));
        }
        text
    }

    /// Says how uncertain scores on development data are: the standard error of the best one as a
    /// proportion of spans or tokens, which is too small as far as these depend on one another.
    fn uncertainty(&self) -> Option<String> {
        let best = self.result.trials.first()?.score.as_ref()?.score;
        let units = self.dev_units.filter(|&units| units > 0)?;
        let error = 100.0 * (best.value() * (1.0 - best.value()) / units as f64).sqrt();
        let what = match best {
            DevScore::F1(_) => "spans",
            DevScore::Accuracy(_) => "tokens",
        };
        Some(format!(
            "a score on {units} {what} is uncertain by about ±{error:.2} (standard error): \
             configurations this close are not told apart\n"
        ))
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
        match self.result.trials.iter().find_map(|s| Some(s.score.as_ref()?.score)) {
            Some(DevScore::Accuracy(_)) => "accuracy",
            _ => "F1",
        }
    }

    /// Returns the columns of the table, with their headings. Of what need not be searched, there
    /// is no column if it was not.
    fn columns(&self) -> Vec<Vec<String>> {
        let (description, all) = (self.description, &self.result.trials);
        let has_folds = description.has_folds;
        let mut columns = Vec::new();
        let mut add = |heading: &str, is_shown: bool, cell: &dyn Fn(&Trial) -> String| {
            if is_shown {
                let cells = all.iter().map(cell);
                columns.push([heading.to_owned()].into_iter().chain(cells).collect());
            }
        };
        let number = |value: fn(&Configuration) -> f64| {
            move |trial: &Trial| value(&trial.configuration).to_string()
        };
        let any = |has: fn(&Trial) -> bool| all.iter().any(has);
        let nonzero = |trial: &Trial| trial.score.as_ref()?.nonzero_weights;
        let best_at = |trial: &Trial| trial.score.as_ref().map(|score| score.best_iteration);
        let weight = |trial: &Trial| trial.configuration.unlabeled_weight;
        let has_weights = all.windows(2).any(|pair| weight(&pair[0]) != weight(&pair[1]));
        let source = if has_folds { "mean" } else { "dev" };
        let percent = |x: Option<f64>| or_dash(x.map(|x| format!("{:.2}", 100.0 * x)));
        add("template", true, &|s| description.templates[s.configuration.template].clone());
        add("dropout", true, &number(|c| c.dropout));
        add("edge dropout", true, &number(|c| c.edge_dropout));
        add("L2", true, &number(|c| c.l2));
        add("L1", any(|s| s.configuration.l1 > 0.0), &number(|c| c.l1));
        add("unlabeled", has_weights, &number(|c| c.unlabeled_weight));
        add("warm-up", any(|s| s.configuration.warm_up.is_some()), &|s| {
            or_dash(s.configuration.warm_up)
        });
        add("gradient", any(|s| s.configuration.gradient.is_some()), &|s| {
            or_dash(s.configuration.gradient)
        });
        add(&format!("{source} {}", self.metric()), true, &|s| percent(s.value()));
        add("±", has_folds, &|s| percent(s.folds().map(|folds| folds.standard_deviation)));
        add("weights", any(|s| s.configuration.l1 > 0.0), &|s| or_dash(nonzero(s)));
        add("best at", true, &|s| or_dash(best_at(s)));
        add("iterations", true, &|s| s.iterations.to_string());
        add("stopped by", true, &|s| stop_reason(s).to_owned());
        columns
    }

    /// Returns all results as one JSON object.
    pub fn json(&self) -> Value {
        let mut results = Value::Object(self.description.inputs.clone());
        self.add_outcome(&mut results);
        let trials = self.result.trials.iter().map(|trial| {
            let mut fields = self.description.trial_fields(trial);
            fields.insert("ended_by".to_owned(), json!(stop_reason(trial)));
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
            progress.println(&format!("retrained on all data for {iterations} iterations"));
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
            ("edge dropout", self.description.has_edge_axis, |c| c.edge_dropout),
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

/// Removes the template if there is one alone, noise on edges if it is that of attributes, and the
/// last columns until all others fit.
fn narrow(columns: &mut Vec<Vec<String>>, width: usize) {
    let find = |columns: &[Vec<String>], name: &str| columns.iter().find(|c| c[0] == name).cloned();
    let dropout = find(columns, "dropout").unwrap_or_default();
    columns.retain(|column| match column[0].as_str() {
        "template" => column.windows(2).skip(1).any(|pair| pair[0] != pair[1]),
        "edge dropout" => column[1..] != dropout[1..],
        _ => true,
    });
    let widest = |column: &Vec<String>| column.iter().map(|cell| cell.chars().count() + 2).max();
    let total = |columns: &[Vec<String>]| columns.iter().filter_map(widest).sum::<usize>();
    while total(columns) > width + 2 && columns.len() > 1 {
        columns.pop();
    }
}

/// Formats a value, or a dash if there is none.
fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

/// Returns the reason why the training of a configuration stopped.
fn stop_reason(trial: &Trial) -> &'static str {
    trial.reason.map_or("interrupted", EndReason::name)
}

/// Options that mean something else to a search.
const SEARCHED: [&str; 6] = ["template", "dropout", "edge-dropout", "l2", "l1", "unlabeled-weight"];

/// Options that `train` rejects without noise, or that have no effect then.
const OF_NOISE: [&str; 8] = [
    "noise",
    "masks",
    "samples",
    "unlabeled",
    "unlabeled-format",
    "discover",
    "warm-up",
    "gradient",
];

impl Results<'_> {
    /// Returns the options with which `train` trains the best configuration of a search with these
    /// options and templates; `has_models`: training continues from models.
    pub fn train_options(
        &self,
        config: &EffectiveConfig,
        templates: &[FileName],
        has_models: bool,
    ) -> Map<String, Value> {
        let program = definition();
        let [train, tune] = ["train", "tune"].map(|name| program.find_subcommand(name));
        let (Some(train), Some(tune)) = (train, tune) else {
            return Map::new();
        };
        let mut found = self.found(templates, has_models);
        let settings = &self.result.settings;
        let is_random = settings.learner().name() != Lbfgs::NAME
            || settings.regularization().noise.kind == NoiseKind::MonteCarlo;
        let mut options = Map::new();
        for (key, _) in options_of(train) {
            let is_kept = options_of(tune).any(|(other, _)| other == key)
                && !SEARCHED.contains(&key)
                && (settings.has_noise() || !OF_NOISE.contains(&key))
                && (is_random || key != "seed");
            let kept = config.options.get(key).filter(|_| is_kept);
            if let Some(value) = found.remove(key).or_else(|| kept.cloned()) {
                options.insert(key.to_owned(), value);
            }
        }
        options
    }

    /// Returns the options that the search found.
    fn found(&self, templates: &[FileName], has_models: bool) -> Map<String, Value> {
        let Some(best) = self.result.trials.first() else {
            return Map::new();
        };
        let searched = self.description.searched(&best.configuration).into_iter();
        let mut found: Map<_, _> = searched.map(|(key, value)| (key.to_owned(), value)).collect();
        let mut set = |key: &str, value: Value| drop(found.insert(key.to_owned(), value));
        if let Some(template) = templates.get(best.configuration.template) {
            set("template", json!(template));
            // With several templates, a search leaves `ner` as it is.
            if templates.len() > 1 && !has_models && &**template == "ner" {
                set("document", json!("sentence"));
            }
        }
        if let (Some(iterations), Some(score)) = (self.result.refit_iterations, &best.score) {
            let settings = &self.result.settings;
            if settings.has_noise() {
                set("warm-up", json!(settings.warm_up()));
            }
            set("max-iterations", json!(iterations));
            set("recall-bias", json!(score.recall_bias));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_table_has_what_differs_and_the_scores() {
        let column = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let mut columns = vec![
            column(["template", "ner", "ner"]),
            column(["dropout", "0.5", "0"]),
            column(["edge dropout", "0.5", "0"]),
            column(["dev F1", "70.32", "69.16"]),
            column(["stopped by", "max_iterations", "patience"]),
        ];
        let mut wide = columns.clone();
        narrow(&mut wide, 60);
        assert_eq!(
            wide.iter().map(|c| &*c[0]).collect::<Vec<_>>(),
            ["dropout", "dev F1", "stopped by"]
        );
        columns[0][2] = "pos".to_owned();
        columns[2][2] = "0.3".to_owned();
        narrow(&mut columns, 40);
        assert_eq!(
            columns.iter().map(|c| &*c[0]).collect::<Vec<_>>(),
            ["template", "dropout", "edge dropout", "dev F1"]
        );
    }
}
