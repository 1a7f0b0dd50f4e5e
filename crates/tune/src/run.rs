//! The runs of a search, each an ordinary training of a configuration, and their plan: how the data
//! are read, and how many runs fit into memory.
//!
//! Concurrent jobs have threads of their own. In a single rayon pool, a thread that waits for a
//! parallel evaluation could steal another training, and more of them would run at a time than fit
//! into memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use rayon::ThreadPoolBuilder;
use serde::{Deserialize, Serialize};

use super::data::TuningData;
use super::space::Configuration;
use dropchain::train::{
    End, Iteration, ModelMatch, Observer, ObserverError, Pass, Pruned, Rounded, Start,
    TrainSettings, Trained, TrainingCorpora,
};
use dropchain::{Corpus, Error, MemoryLimit, Result, Trainer};

/// A run of a search, by the index of its configuration and, with folds, that of its fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct RunKey {
    pub configuration: usize,
    pub fold: Option<usize>,
}

/// The scores of a run, of which the checkpoint keeps a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Course {
    /// The scores after each iteration.
    pub scores: Vec<Score>,
    /// The objective after the last iteration, if it is finite.
    pub objective: Option<f64>,
    /// Number of iterations of the warm-up.
    pub warm_up: usize,
    /// How training ended.
    pub end: End,
}

/// The score of a run after an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Score {
    pub value: f64,
    pub recall_bias: f64,
    /// The number of weights that are not 0.
    pub nonzero_weights: usize,
}

impl Course {
    /// Returns the score after an iteration, counted from 1, or the last one if there are fewer;
    /// `None` if there are no scores.
    pub fn score_after(&self, iteration: usize) -> Option<&Score> {
        self.scores[..iteration.min(self.scores.len())].last()
    }
}

/// The templates and models of a run, and its limits.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub data: &'a TuningData<'a>,
    pub template: usize,
    pub memory: MemoryLimit,
    pub interrupt: Option<&'a AtomicBool>,
}

impl Run<'_> {
    /// Trains. Returns the model, and what training has reported.
    ///
    /// # Errors
    ///
    /// The errors of [`Trainer::train`].
    pub fn train(
        &self,
        corpora: TrainingCorpora,
        settings: TrainSettings,
    ) -> Result<(Trained, Record)> {
        let TuningData { templates, models, .. } = self.data;
        let mut trainer = Trainer::with_settings(settings).memory(self.memory);
        trainer = self.interrupt.into_iter().fold(trainer, Trainer::interrupt);
        trainer = trainer.models(*models);
        let mut record = Record::default();
        let trained = trainer.train(corpora, templates[self.template].clone(), &mut record)?;
        Ok((trained, record))
    }
}

/// The report of training; of two passes, that of the last.
#[derive(Default)]
pub(super) struct Record {
    pub start: Option<Start>,
    pub matches: Vec<ModelMatch>,
    pub scores: Vec<Score>,
    pub objective: Option<f64>,
    pub pruned: Option<Pruned>,
    pub rounded: Option<Rounded>,
}

impl Record {
    /// Takes what the run has scored.
    pub fn course(&mut self, end: &End) -> Course {
        let scores = std::mem::take(&mut self.scores);
        Course { scores, objective: self.objective, warm_up: end.warm_up, end: end.clone() }
    }
}

impl Observer for Record {
    fn pass(&mut self, _: Pass) {
        *self = Self::default();
    }

    fn start(&mut self, start: &Start) {
        self.start = Some(start.clone());
    }

    fn matched(&mut self, found: &ModelMatch) {
        self.matches.push(found.clone());
    }

    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        // JSON has no other numbers.
        self.objective = Some(iteration.objective).filter(|objective| objective.is_finite());
        if let Some(score) = iteration.dev.filter(|_| iteration.number > 0) {
            let recall_bias = iteration.recall_bias.unwrap_or(0.0);
            let nonzero_weights = iteration.weights.nonzero_weights;
            self.scores.push(Score { value: score.value(), recall_bias, nonzero_weights });
        }
        Ok(ControlFlow::Continue(()))
    }

    fn pruned(&mut self, pruned: &Pruned) {
        self.pruned = Some(*pruned);
    }

    fn rounded(&mut self, rounded: &Rounded) {
        self.rounded = Some(*rounded);
    }
}

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
            let run = Run { data, template, memory, interrupt: Some(&at_once) };
            let (_, record) = run.train(data.corpora(template, None)?, most.settings.clone())?;
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

/// Runs the jobs 0 to `count`, as many at a time as there are workers, which divide the threads
/// among them; fewer, if the system has not enough threads. Calls `receive` with the number of each
/// job and its result, in order: as soon as the job and all before it are done.
///
/// # Errors
///
/// The error of the first job that fails; no more jobs are started after it. No thread can be
/// started at all.
pub(super) fn run_jobs<T: Send>(
    count: usize,
    [workers, threads]: [usize; 2],
    job: impl Fn(usize) -> Result<T> + Sync,
    mut receive: impl FnMut(usize, T),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = |threads: usize, sender: mpsc::Sender<(usize, Result<T>)>| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.or_else(|_| ThreadPoolBuilder::new().num_threads(1).build());
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < count);
        while let Ok(pool) = &pool
            && let Some(i) = take()
        {
            let result = pool.install(|| job(i));
            if result.is_err() {
                next.store(count, Ordering::Relaxed);
            }
            if sender.send((i, result)).is_err() {
                break;
            }
        }
    };
    let (sender, results) = mpsc::channel();
    let work = &work;
    thread::scope(|scope| {
        let workers = workers.min(count).max(1);
        for number in 0..workers {
            let (sender, rest) = (sender.clone(), usize::from(number < threads % workers));
            let threads = (threads / workers + rest).max(1);
            // Without some of the workers, the others do all jobs.
            let _ = thread::Builder::new().spawn_scoped(scope, move || work(threads, sender));
        }
        drop(sender);
        let (mut waiting, mut first) = (BTreeMap::new(), 0);
        for (i, outcome) in &results {
            waiting.insert(i, outcome);
            while let Some(outcome) = waiting.remove(&first) {
                receive(first, outcome?);
                first += 1;
            }
        }
        if first < count { Err(Error::threads("none could be started")) } else { Ok(()) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_received_in_the_order_of_the_jobs_and_concurrency_is_limited() {
        let running = AtomicUsize::new(0);
        let mut received = Vec::new();
        let job = |i| {
            assert!(running.fetch_add(1, Ordering::SeqCst) < 3);
            thread::yield_now();
            assert!(rayon::current_num_threads() <= 2);
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(i * i)
        };
        run_jobs(50, [3, 4], job, |job, square| received.push((job, square))).unwrap();
        assert_eq!(received, (0..50).map(|i| (i, i * i)).collect::<Vec<_>>());
        run_jobs(0, [2, 2], |_| Ok(()), |_, ()| unreachable!()).unwrap();
    }

    #[test]
    fn a_job_that_fails_stops_the_others() {
        let started = AtomicUsize::new(0);
        let mut received = 0;
        let job = |i| {
            started.fetch_add(1, Ordering::SeqCst);
            if i == 3 { Err(Error::parameter("three")) } else { Ok(()) }
        };
        let result = run_jobs(10, [1, 1], job, |_, ()| received += 1);
        assert_eq!(result.unwrap_err().to_string(), "three");
        assert_eq!((started.into_inner(), received), (4, 3));
    }
}
