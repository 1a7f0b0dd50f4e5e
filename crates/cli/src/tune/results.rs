//! A search and its results, as a table, as JSON, in the log, and as options of `train`.

use std::path::Path;

use dropchain::train::{DevScore, EndReason, NoiseKind};
use dropchain_knowledge::KnowledgePart;
use dropchain_tune::{
    Configuration, NoiseGain, ResourcePlan, Rung, Search, TrialResult, TuneResult,
};
use serde_json::{Map, Value, json};

use crate::arguments::FileName;
use crate::config::{EffectiveConfig, options_of};
use crate::definition;
use crate::progress::Progress;
use crate::training_arguments::InitArguments;
use crate::training_reporter::format_pruned;
use dropchain_layout::format_table;

/// A search and its inputs, for the log and for JSON.
pub struct SearchDescription<'a> {
    pub search: &'a Search<'a>,
    /// Short names of the templates.
    pub templates: &'a [String],
    /// The templates as passed on the command line.
    pub template_arguments: &'a [String],
    pub has_unlabeled: bool,
    /// Whether edge dropout is searched independently of dropout.
    pub has_edge_axis: bool,
    /// Whether it is a search for a classifier of documents, which has neither templates nor
    /// transitions.
    pub is_of_documents: bool,
    pub files: &'a [FileName],
    pub init: &'a InitArguments,
    pub dev: &'a [FileName],
    pub folds: Option<usize>,
    pub seed: u64,
    /// What was added to the templates.
    pub knowledge: &'a [KnowledgePart],
    /// The options of the search.
    pub config: &'a EffectiveConfig,
}

impl SearchDescription<'_> {
    /// Adds the inputs to the first line of the log, or to the results.
    pub fn add_inputs(&self, object: &mut Value) {
        object["version"] = json!(env!("CARGO_PKG_VERSION"));
        object["files"] = json!(self.files);
        object["templates"] = json!(self.template_arguments);
        object["dev"] = json!(self.dev);
        object["folds"] = json!(self.folds);
        object["seed"] = json!(self.seed);
        for (name, file) in [("init", &self.init.init), ("towards", &self.init.towards)] {
            if let Some(file) = file {
                object[name] = json!(file.display().to_string());
            }
        }
    }

    /// Returns the first line of the log.
    pub fn start_line(&self, plan: &ResourcePlan, rungs: &[Rung]) -> Value {
        let mut line = json!({
            "event": "start",
            "parameters": self.search.settings,
            "warm_start": self.search.warm_start,
            "configurations": self.search.configurations.len(),
            "rungs": rungs,
            "plan": plan,
            "config": self.config,
        });
        self.add_inputs(&mut line);
        if !self.knowledge.is_empty() {
            line["sources"] = json!(self.knowledge);
        }
        line
    }

    /// Returns the line of the log for a configuration at the end of a rung, counted from 0.
    pub fn configuration_line(&self, rung: usize, trial: &TrialResult) -> Value {
        let mut line = json!({"event": "configuration", "rung": rung + 1});
        if let Some(line) = line.as_object_mut() {
            line.extend(self.trial_fields(trial));
        }
        line["stop_reason"] = json!(trial.reason.map(EndReason::name));
        line
    }

    /// Returns the result of a configuration.
    pub fn trial_fields(&self, trial: &TrialResult) -> Map<String, Value> {
        let Value::Object(mut fields) = json!(trial) else {
            return Map::new();
        };
        let template = &self.templates[trial.configuration.template];
        fields.insert("template".to_owned(), json!(template));
        if !self.has_unlabeled {
            fields.shift_remove("unlabeled_weight");
        }
        for metric in ["f1", "accuracy"].iter().filter(|_| self.folds.is_some()) {
            if let Some(score) = fields.shift_remove(&format!("dev_{metric}")) {
                fields.insert(format!("mean_{metric}"), score);
            }
        }
        fields
    }

    /// Returns the options with which `train` trains a configuration: strengths, rates, and what
    /// else was searched. `templates` are those of the search.
    pub fn train_flags(&self, configuration: &Configuration, templates: &[String]) -> String {
        let Configuration { l1, l2, .. } = configuration;
        let mut text = String::new();
        if templates.len() > 1 {
            text += &format!("--template {} ", templates[configuration.template]);
        }
        text += &format!("--dropout {}", configuration.dropout);
        if configuration.has_noise() && !self.is_of_documents {
            text += &format!(" --edge-dropout {}", configuration.edge_dropout);
        }
        text += &format!(" --l2 {l2}");
        if *l1 > 0.0 {
            text += &format!(" --l1 {l1}");
        }
        if self.has_unlabeled && configuration.has_noise() {
            text += &format!(" --unlabeled-weight {}", configuration.unlabeled_weight);
        }
        if let Some(warm_up) = configuration.warm_up {
            text += &format!(" --warm-up {warm_up}");
        }
        if let Some(engine) = configuration.gradient {
            text += &format!(" --gradient {engine}");
        }
        text
    }
}

/// The results of a search, and its inputs.
pub struct Results<'a> {
    pub description: &'a SearchDescription<'a>,
    pub result: &'a TuneResult,
    /// What scores on development data count ([`TuningData::dev_units`]).
    ///
    /// [`TuningData::dev_units`]: dropchain_tune::TuningData::dev_units
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
            let templates = self.description.template_arguments;
            let best = self.description.train_flags(&best.configuration, templates);
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
        let best = self.result.trials.first()?.score?;
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
        let has_weights = all.windows(2).any(|pair| weight(&pair[0]) != weight(&pair[1]));
        let source = if has_folds { "mean" } else { "dev" };
        let percent = |x: Option<f64>| or_dash(x.map(|x| format!("{:.2}", 100.0 * x)));
        add("template", is_tagger, &|s| description.templates[s.configuration.template].clone());
        add("dropout", true, &number(|c| c.dropout));
        add("edge dropout", is_tagger, &number(|c| c.edge_dropout));
        add("L2", true, &number(|c| c.l2));
        add("L1", any(|s| s.configuration.l1 > 0.0), &number(|c| c.l1));
        add("unlabeled", has_weights, &number(|c| c.unlabeled_weight));
        add("warm-up", any(|s| s.configuration.warm_up.is_some()), &|s| {
            or_dash(s.configuration.warm_up)
        });
        add("gradient", any(|s| s.configuration.gradient.is_some()), &|s| {
            or_dash(s.configuration.gradient)
        });
        add(&format!("{source} {}", self.metric()), true, &|s| {
            percent(s.score.map(DevScore::value))
        });
        add("±", has_folds, &|s| percent(s.standard_deviation));
        add("active attributes", any(|s| s.active_attributes.is_some()), &|s| {
            or_dash(s.active_attributes)
        });
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

/// Options that mean something else to a search: what it tries, and the order in which it does.
const SEARCHED: [&str; 10] = [
    "template",
    "dropout",
    "edge-dropout",
    "l2",
    "l1",
    "unlabeled-weight",
    "warm-start",
    "warm-up",
    "gradient",
    "seed",
];

/// Options that `train` rejects without noise.
const OF_NOISE: [&str; 6] =
    ["noise", "masks", "samples", "unlabeled", "unlabeled-format", "discover"];

/// Returns the options with which `train` trains the best configuration of a search with these
/// options and templates; `has_models`: training continues from models.
pub fn train_options(
    config: &EffectiveConfig,
    result: &TuneResult,
    templates: &[FileName],
    has_models: bool,
) -> Map<String, Value> {
    let program = definition();
    let [train, tune] = ["train", "tune"].map(|name| program.find_subcommand(name));
    let (Some(train), Some(tune)) = (train, tune) else {
        return Map::new();
    };
    let settings = &result.settings;
    let mut searched = searched(config, result, templates, has_models);
    let mut options = Map::new();
    for (key, _) in options_of(train) {
        let is_kept = options_of(tune).any(|(other, _)| other == key)
            && !SEARCHED.contains(&key)
            && (settings.has_noise() || !OF_NOISE.contains(&key));
        let kept = config.options.get(key).filter(|_| is_kept);
        if let Some(value) = searched.remove(key).or_else(|| kept.cloned()) {
            options.insert(key.to_owned(), value);
        }
    }
    options
}

/// Returns what the search found.
fn searched(
    config: &EffectiveConfig,
    result: &TuneResult,
    templates: &[FileName],
    has_models: bool,
) -> Map<String, Value> {
    let settings = &result.settings;
    let mut found = Map::new();
    let mut set = |key: &str, value: Value| drop(found.insert(key.to_owned(), value));
    let Some(best) = result.trials.first() else {
        return found;
    };
    let was_given = |key: &str| config.options.contains_key(key);
    let configuration = &best.configuration;
    if let Some(template) = templates.get(configuration.template) {
        set("template", json!(template));
        // With several templates, a search leaves `ner` as it is.
        if templates.len() > 1 && !has_models && &**template == "ner" {
            set("document", json!("sentence"));
        }
    }
    set("dropout", json!(configuration.dropout));
    set("l2", json!(configuration.l2));
    if configuration.l1 > 0.0 {
        set("l1", json!(configuration.l1));
    }
    if settings.has_noise() {
        set("edge-dropout", json!(configuration.edge_dropout));
        if was_given("unlabeled") {
            set("unlabeled-weight", json!(configuration.unlabeled_weight));
        }
        if was_given("gradient") {
            set("gradient", json!(settings.regularization().noise.gradient));
        }
    }
    let is_random = !settings.learner().ends_with_weights()
        || settings.regularization().noise.kind == NoiseKind::MonteCarlo;
    if was_given("seed") && is_random {
        set("seed", json!(settings.options().seed));
    }
    let is_refit = result.refit_iterations.is_some();
    if settings.has_noise() && (was_given("warm-up") || is_refit) {
        set("warm-up", json!(settings.warm_up()));
    }
    if let Some(iterations) = result.refit_iterations {
        set("max-iterations", json!(iterations));
        set("recall-bias", json!(best.recall_bias));
    }
    found
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
            column(["stopped by", "max_iterations", "halving"]),
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
