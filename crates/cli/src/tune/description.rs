//! The inputs of a search, and its configurations as JSON and as options.

use dropchain::train::EndReason;
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
    /// Adds the inputs to the first line of the log, or to the results.
    pub fn add_inputs(&self, object: &mut Value) {
        object["version"] = json!(env!("CARGO_PKG_VERSION"));
        object["files"] = json!(self.files);
        object["templates"] = json!(self.template_arguments);
        object["dev"] = json!(self.dev);
        object["folds"] = json!(self.folds);
        object["seed"] = json!(self.seed);
        for (name, file) in [("init", self.init.init()), ("towards", self.init.towards())] {
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
            "config": self.config.to_json(),
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
