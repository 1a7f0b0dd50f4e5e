//! The definition of a search.

use std::sync::atomic::{AtomicBool, Ordering};

use super::checkpoint::Checkpoint;
use super::data::TuningData;
use super::schedule::{Rung, Schedule};
use super::space::Configuration;
use super::warm_start::warm_start_iterations;
use dropchain::error::{Error, Result};
use dropchain::memory::MemoryLimit;
use dropchain::train::{SegmentTrainer, TrainSettings};

/// A search among configurations.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// The parameters that are not searched.
    pub settings: TrainSettings,
    /// What trains with them.
    pub trainer: &'a dyn SegmentTrainer,
    /// What else determines the results: options of the trainer by their flags.
    pub options: Vec<(String, String)>,
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
            self.trainer.check(&settings)?;
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
        self.interrupt
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
