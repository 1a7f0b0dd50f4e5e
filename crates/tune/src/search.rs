//! The definition of a search.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use super::checkpoint::Checkpoint;
use super::data::TuningData;
use super::schedule::{Rung, Schedule};
use super::space::Configuration;
use super::warm_start::warm_start_iterations;
use dropchain::error::{Error, Result};
use dropchain::memory::MemoryLimit;
use dropchain::train::TrainSettings;

/// Options that only the final model depends on: a search may be resumed with other values.
const FREE_OPTIONS: [&str; 2] = ["prune", "precision"];

/// A search among configurations.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// The parameters that are not searched.
    pub settings: TrainSettings,
    /// The configurations to try.
    pub configurations: Vec<Configuration>,
    /// The schedule of successive halving.
    pub schedule: Schedule,
    /// Whether warm starts begin with the weights of their neighbors.
    pub warm_start: bool,
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Limits the memory of concurrent trainings. Results do not depend on it.
    pub memory: MemoryLimit,
    /// The file that holds the state of the search; `None`: a crash loses it.
    pub checkpoint: Option<&'a Checkpoint>,
    /// Ends the search when set; the best configuration so far is kept.
    pub interrupt: Option<&'a AtomicBool>,
}

impl Search<'_> {
    pub(super) fn check(&self, data: &TuningData) -> Result<()> {
        if self.configurations.is_empty() {
            return Err(Error::parameter("there are no configurations to search"));
        }
        for configuration in &self.configurations {
            let settings = configuration.settings(&self.settings)?;
            if configuration.template < data.templates() {
                data.check_line_options(configuration.template, &settings)?;
            } else {
                return Err(Error::parameter(format!(
                    "template {}; expected a number below {}",
                    configuration.template,
                    data.templates()
                )));
            }
        }
        if self.max_iterations() == Some(0) {
            return Err(Error::parameter(
                "no iterations are left after the warm-up; expected a larger maximum",
            ));
        }
        Ok(())
    }

    /// Returns the maximum number of iterations of a configuration after the warm-up.
    fn max_iterations(&self) -> Option<usize> {
        let max = self.settings.max_iterations()?;
        Some(max.saturating_sub(warm_start_iterations(&self.settings)))
    }

    /// Iterations at the end of a rung, the warm-up excluded.
    pub(super) fn target(&self, rung: &Rung) -> Option<usize> {
        let targets = [rung.iterations, self.max_iterations()];
        targets.into_iter().flatten().min()
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns everything that determines the results, by the names of options where it has one. A
    /// checkpoint is compared with it.
    pub(super) fn identity(&self, data: &TuningData) -> Map<String, Value> {
        let mut identity = Map::new();
        identity.insert("dropchain".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        let option = |name: &str| format!("--{}", name.replace('_', "-"));
        if let Value::Object(options) = json!(self.settings) {
            let determining =
                options.into_iter().filter(|(name, _)| !FREE_OPTIONS.contains(&name.as_str()));
            identity.extend(determining.map(|(name, value)| (option(&name), value)));
        }
        let mut searched: Map<String, Value> = Map::new();
        for configuration in &self.configurations {
            if let Value::Object(parameters) = json!(configuration) {
                for (name, value) in parameters {
                    let values = searched.entry(option(&name)).or_insert_with(|| json!([]));
                    if let Value::Array(values) = values
                        && !values.contains(&value)
                    {
                        values.push(value);
                    }
                }
            }
        }
        identity.extend(searched);
        let Schedule { eta, first } = self.schedule;
        let folds = data.has_folds().then(|| data.folds());
        for (name, value) in [
            ("--halving", eta.map_or(json!("off"), |eta| json!(eta))),
            ("--first-rung", json!(first)),
            ("--warm-start", json!(if self.warm_start { "on" } else { "off" })),
            ("--folds", json!(folds)),
            ("configurations", json!(self.configurations)),
        ] {
            identity.insert(name.to_owned(), value);
        }
        for (name, sum) in data.fingerprints() {
            identity.insert(name.clone(), json!(format!("{sum:016x}")));
        }
        identity
    }
}
