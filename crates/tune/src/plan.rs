//! The plan of a search, before its first run: how the data are read, and how many runs fit into
//! memory.

use std::sync::atomic::AtomicBool;

use super::data::TuningData;
use super::run::Run;
use super::space::Configuration;
use dropchain::train::ModelMatch;
use dropchain::{Corpus, MemoryLimit, Result};

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
    /// What the training data have in common with the models that training continues from, after
    /// the name of the template if several are compared.
    pub matches: Vec<(Option<String>, ModelMatch)>,
    /// Number of runs that an earlier search has finished; `None` unless this one is to resume.
    pub resumed: Option<usize>,
    pub(super) memory_of_run: MemoryLimit,
}

impl Plan {
    /// Begins the most expensive run of each template, only to see how much it would take.
    ///
    /// # Errors
    ///
    /// The data do not fit the settings, or not into memory.
    pub(super) fn new(
        data: &TuningData<'_>,
        configurations: &[Configuration],
        limit: MemoryLimit,
        threads: usize,
    ) -> Result<Self> {
        let text = data.corpora.labeled.memory()
            + data.corpora.dev.as_ref().map_or(0, Corpus::memory)
            + data.corpora.unlabeled.memory();
        let (mut estimate, mut reading, mut matches) = (0, Vec::new(), Vec::new());
        let (at_once, memory) = (AtomicBool::new(true), limit.beyond(text));
        for template in 0..data.templates.len() {
            let own = configurations.iter().filter(|c| c.template == template);
            // Noise and L1 need vectors of their own.
            let Some(most) = own.max_by_key(|c| (c.has_noise(), c.has_l1())) else { continue };
            let run = Run { data, template, fold: None, memory, interrupt: Some(&at_once) };
            let (_, record) = run.train(most.settings.clone())?;
            if let Some(start) = record.start {
                estimate = estimate.max(start.estimated_memory as u64);
                reading = start.reading;
            }
            let name = most.value("template").as_str().map(str::to_owned);
            matches.extend(record.matches.into_iter().map(|found| (name.clone(), found)));
        }
        let of_run = text + estimate;
        let room = limit.bytes(text).saturating_sub(text);
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
