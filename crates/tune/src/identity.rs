//! What determines the results of a search: a checkpoint is compared with the search to resume.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::data::TuningData;
use super::search::Search;
use super::space::Configuration;

/// Options that only the final model depends on: a search may be resumed with other values.
const FREE_OPTIONS: [&str; 2] = ["prune", "precision"];

/// A searched parameter: its name and how to get its value.
type Parameter = (&'static str, fn(&Configuration) -> f64);

/// Everything that determines the results of a search, as names and values for messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SearchIdentity(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    name: String,
    value: EntryValue,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum EntryValue {
    /// The value of an option; `None`: it is not given.
    Readable(Option<String>),
    /// A long value, or the fingerprint of one.
    Opaque(String),
}

impl SearchIdentity {
    pub fn new(search: &Search<'_>, data: &TuningData) -> Self {
        let mut identity = Self(Vec::new());
        identity.add("dropchain", Some(env!("CARGO_PKG_VERSION").to_owned()));
        if let Value::Object(options) = serde_json::json!(search.settings) {
            let determining = options
                .iter()
                .filter(|(name, _)| !FREE_OPTIONS.contains(&name.as_str()));
            for (name, value) in determining {
                let value = (!value.is_null()).then(|| value.to_string().replace('"', ""));
                identity.add(&format!("--{}", name.replace('_', "-")), value);
            }
        }
        for (flag, value) in &search.options {
            identity.add(flag, Some(value.clone()));
        }
        identity.add_configurations(&search.configurations);
        let halving = search.schedule.eta().map(|eta| eta.to_string());
        identity.add("--halving", Some(halving.unwrap_or("off".to_owned())));
        identity.add("--first-rung", Some(search.schedule.first().to_string()));
        let warm_start = if search.warm_start { "on" } else { "off" };
        identity.add("--warm-start", Some(warm_start.to_owned()));
        let folds = data.has_folds().then(|| data.folds().to_string());
        identity.add("--folds", folds);
        for (name, fingerprint) in data.fingerprints() {
            identity.add_opaque(name, format!("{fingerprint:016x}"));
        }
        identity
    }

    /// Adds the values of each parameter, and the configurations.
    fn add_configurations(&mut self, configurations: &[Configuration]) {
        let parameters: [Parameter; 6] = [
            ("--template, by number:", |c| (c.template + 1) as f64),
            ("--dropout", |c| c.dropout),
            ("--edge-dropout", |c| c.edge_dropout),
            ("--l2", |c| c.l2),
            ("--l1", |c| c.l1),
            ("--unlabeled-weight", |c| c.unlabeled_weight),
        ];
        for (name, value) in parameters {
            let mut values: Vec<f64> = configurations.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            let values: Vec<String> = values.iter().map(f64::to_string).collect();
            self.add(name, Some(values.join(",")));
        }
        let list = |values: Vec<Option<String>>| {
            let mut values: Vec<String> = values.into_iter().flatten().collect();
            values.sort();
            values.dedup();
            (!values.is_empty()).then(|| values.join(","))
        };
        let warm_ups = configurations
            .iter()
            .map(|c| c.warm_up.map(|n| n.to_string()));
        self.add("searched --warm-up", list(warm_ups.collect()));
        let engines = configurations
            .iter()
            .map(|c| c.gradient.map(|e| e.to_string()));
        self.add("searched --gradient", list(engines.collect()));
        let all = format!("{configurations:?}");
        self.add_opaque("configurations".to_owned(), all);
    }

    fn add(&mut self, name: &str, value: Option<String>) {
        self.0.push(Entry {
            name: name.to_owned(),
            value: EntryValue::Readable(value),
        });
    }

    fn add_opaque(&mut self, name: String, value: String) {
        let value = EntryValue::Opaque(value);
        self.0.push(Entry { name, value });
    }

    /// Describes the first difference to the search that is about to resume: the end of a sentence
    /// that begins with the checkpoint.
    pub fn difference(&self, now: &Self) -> Option<String> {
        let mut pairs = self.0.iter().zip(&now.0);
        let Some((then, now)) = pairs.find(|(then, now)| then != now) else {
            let is_equal = self.0.len() == now.0.len();
            return (!is_equal).then(|| "belongs to another search".to_owned());
        };
        if then.name != now.name {
            return Some("belongs to another search".to_owned());
        }
        let name = &then.name;
        let describe = |value: &Option<String>| match value {
            Some(value) => format!("with {name} {value}"),
            None => format!("without {name}"),
        };
        Some(match (&then.value, &now.value) {
            (EntryValue::Readable(then), EntryValue::Readable(now)) => format!(
                "was written {}, this search is {}",
                describe(then),
                describe(now)
            ),
            _ => format!("was written with other {name}"),
        })
    }
}
