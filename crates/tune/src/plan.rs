//! What is known before the first run: how the data are read, and how many runs fit into memory.

use std::sync::atomic::AtomicBool;

use super::checkpoint::Resumed;
use super::data::TuningData;
use super::run::{RunInput, train_observed};
use super::space::Configuration;
use dropchain::Corpus;
use dropchain::error::Result;
use dropchain::memory::MemoryLimit;
use dropchain::train::{ModelMatch, Observer, Start, TrainSettings};

/// What is known of a search before its first run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of runs.
    pub runs: usize,
    /// Number of runs that are trained at a time.
    pub concurrency: usize,
    /// Estimated memory of the search in bytes.
    pub memory: u64,
    /// How the training data were read: labels and columns, then warnings.
    pub reading: Vec<String>,
    /// What the training data of each template have in common with the models that training
    /// continues from.
    pub matches: Vec<Vec<ModelMatch>>,
    /// What the search continues from; `None` unless it is to resume a checkpoint.
    pub resumed: Option<Resumed>,
    pub(super) memory_of_run: MemoryLimit,
}

impl Plan {
    /// Begins the most expensive run of each template, only to see how much it would take.
    ///
    /// # Errors
    ///
    /// The data do not fit the settings, or not into memory.
    pub(super) fn new(
        settings: &TrainSettings,
        configurations: &[Configuration],
        data: &TuningData<'_>,
        memory: MemoryLimit,
        threads: usize,
    ) -> Result<Self> {
        let (mut survey, mut matches, mut reading) = (Survey::default(), Vec::new(), Vec::new());
        let text = data.corpora.labeled.memory()
            + data.corpora.dev.as_ref().map_or(0, Corpus::memory)
            + data.corpora.unlabeled.memory();
        let at_once = AtomicBool::new(true);
        for template in 0..data.templates.len() {
            let own = configurations.iter().filter(|c| c.template == template);
            // Noise and L1 need vectors of their own.
            let Some(most) = own.max_by_key(|c| (c.has_noise(), c.l1 > 0.0)) else {
                matches.push(Vec::new());
                continue;
            };
            let settings = most.settings(settings)?;
            let input = RunInput {
                data,
                template,
                corpora: data.corpora(template, None)?,
                memory: memory.beyond(text),
                interrupt: Some(&at_once),
            };
            train_observed(settings, input, &mut survey)?;
            matches.push(std::mem::take(&mut survey.matches));
            reading = std::mem::take(&mut survey.reading);
        }
        let of_run = text + survey.memory;
        let room = memory.bytes(text).saturating_sub(text);
        let concurrency = (room / of_run.max(1)).clamp(1, threads.max(1) as u64);
        Ok(Self {
            runs: configurations.len() * data.runs(),
            concurrency: concurrency as usize,
            memory: text + concurrency * of_run,
            reading,
            matches,
            resumed: None,
            memory_of_run: MemoryLimit::Bytes(room),
        })
    }
}

/// What training says before its first iteration.
#[derive(Default)]
struct Survey {
    memory: u64, // the most of all
    reading: Vec<String>,
    matches: Vec<ModelMatch>,
}

impl Observer for Survey {
    fn start(&mut self, start: &Start) {
        self.memory = self.memory.max(start.estimated_memory as u64);
        self.reading.clone_from(&start.reading);
        self.matches.clear();
    }

    fn matched(&mut self, found: &ModelMatch) {
        self.matches.push(found.clone());
    }
}
