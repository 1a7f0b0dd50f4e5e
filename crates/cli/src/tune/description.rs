//! The inputs of a search, and its results as JSON.

use dropchain::train::{DevScore, EndReason};
use dropchain_knowledge::KnowledgePart;
use dropchain_tune::{Configuration, ResourcePlan, Rung, Search, TrialResult};
use serde_json::{Map, Value, json};

use crate::config::EffectiveConfig;
use crate::file_name::FileName;
use crate::init_arguments::InitArguments;

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
    /// Returns the first line of the log.
    pub fn start_line(&self, plan: &ResourcePlan, rungs: &[Rung]) -> Value {
        let mut line = json!({
            "event": "start",
            "version": env!("CARGO_PKG_VERSION"),
            "parameters": self.search.settings,
            "files": self.files,
            "templates": self.template_arguments,
            "dev": self.dev,
            "folds": self.folds,
            "seed": self.seed,
            "warm_start": self.search.warm_start,
            "configurations": self.search.configurations.len(),
            "rungs": rungs,
            "plan": plan,
            "config": self.config.to_json(),
        });
        if !self.knowledge.is_empty() {
            line["sources"] = json!(self.knowledge);
        }
        self.add_models(&mut line);
        line
    }

    /// Adds the models that training continues from, if there are any.
    pub fn add_models(&self, fields: &mut Value) {
        for (name, file) in [("init", self.init.init()), ("towards", self.init.towards())] {
            if let Some(file) = file {
                fields[name] = json!(file.display().to_string());
            }
        }
    }

    /// Returns the line of the log for a configuration at the end of a rung, counted from 0.
    pub fn configuration_line(&self, rung: usize, trial: &TrialResult) -> Value {
        let mut line = Map::new();
        line.insert("event".to_owned(), json!("configuration"));
        line.insert("rung".to_owned(), json!(rung + 1));
        line.extend(self.trial_fields(trial));
        let stop_reason = trial.reason.map(EndReason::name);
        line.insert("stop_reason".to_owned(), json!(stop_reason));
        Value::Object(line)
    }

    /// Returns the result of a configuration.
    pub fn trial_fields(&self, trial: &TrialResult) -> Map<String, Value> {
        let configuration = &trial.configuration;
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        set("number", json!(trial.number));
        set("template", json!(self.templates[configuration.template]));
        set("dropout", json!(configuration.dropout));
        set("edge_dropout", json!(configuration.edge_dropout));
        set("l2", json!(configuration.l2));
        set("l1", json!(configuration.l1));
        if self.has_unlabeled {
            set("unlabeled_weight", json!(configuration.unlabeled_weight));
        }
        if let Some(warm_up) = configuration.warm_up {
            set("warm_up", json!(warm_up));
        }
        if let Some(engine) = configuration.gradient {
            set("gradient", json!(engine));
        }
        let source = if self.folds.is_some() { "mean" } else { "dev" };
        match trial.score {
            Some(DevScore::F1(f1)) => set(&format!("{source}_f1"), json!(f1)),
            Some(DevScore::Accuracy(accuracy)) => {
                set(&format!("{source}_accuracy"), json!(accuracy));
            }
            None => {}
        }
        if self.folds.is_some() {
            set("standard_error", json!(trial.standard_error));
            set("standard_deviation", json!(trial.standard_deviation));
            set("fold_scores", json!(trial.fold_scores));
        }
        if let Some(count) = trial.active_attributes {
            set("active_attributes", json!(count));
        }
        set("best_iteration", json!(trial.best_iteration));
        set("iterations", json!(trial.iterations));
        set("recall_bias", json!(trial.recall_bias));
        set("objective", json!(trial.objective));
        fields
    }

    /// Returns the options with which `train` trains a configuration: strengths, rates, and what
    /// else was searched. `templates` are those of the search.
    pub fn train_flags(&self, configuration: &Configuration, templates: &[String]) -> String {
        let mut text = String::new();
        if templates.len() > 1 {
            text += &format!("--template {} ", templates[configuration.template]);
        }
        text += &format!("--dropout {}", configuration.dropout);
        if configuration.has_noise() && !self.is_of_documents {
            text += &format!(" --edge-dropout {}", configuration.edge_dropout);
        }
        text += &format!(" --l2 {}", configuration.l2);
        if configuration.l1 > 0.0 {
            text += &format!(" --l1 {}", configuration.l1);
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
