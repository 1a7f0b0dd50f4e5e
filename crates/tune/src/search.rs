//! A search: list the runs, run them, make the table, and the model of the best configuration.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use super::checkpoint::Checkpoint;
use super::data::{TuningData, changed};
use super::gain::NoiseGain;
use super::plan::Plan;
use super::pool::{lock, run_jobs};
use super::run::{Course, RunInput, RunKey, RunModel, is_interrupted, train};
use super::space::Configuration;
use super::trial::{Trial, TrialScore};
use dropchain::error::{Error, Result};
use dropchain::memory::MemoryLimit;
use dropchain::model::Model;
use dropchain::train::{Pruned, Regularization, Rounded, TrainSettings};

/// Options that only the final model depends on: a search may be resumed with other values.
const FREE_OPTIONS: [&str; 2] = ["prune", "precision"];

/// A search among configurations.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// The parameters that are not searched.
    pub settings: TrainSettings,
    /// The configurations to try.
    pub configurations: Vec<Configuration>,
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Limits the memory of concurrent runs. Results do not depend on it.
    pub memory: MemoryLimit,
    /// The file that keeps finished runs; `None`: a crash loses them.
    pub checkpoint: Option<&'a Checkpoint>,
    /// Ends the search when set; the best configuration so far is kept.
    pub interrupt: Option<&'a AtomicBool>,
}

/// A phase of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The runs of all configurations.
    Runs,
    /// With folds: training the best configuration on all data, for this many iterations.
    Refit(usize),
}

/// Receives the events of a search. `()` ignores them all.
pub trait TuneObserver: Sync {
    /// Called before the first run.
    fn start(&self, _plan: &Plan) {}
    /// Called when all runs of a configuration, and of all before it, have ended: in the order of
    /// the configurations, also for those of an earlier search that is resumed.
    fn trial(&self, _trial: &Trial) {}
    /// Called when `done` of the `total` runs of a phase have ended.
    fn progress(&self, _phase: Phase, _done: usize, _total: usize) {}
}

impl TuneObserver for () {}

/// The result of a search.
#[derive(Debug)]
pub struct TuneResult {
    /// All configurations, the best first.
    pub trials: Vec<Trial>,
    /// The parameters of the best configuration.
    pub settings: TrainSettings,
    /// The contents of its model file.
    pub file: Vec<u8>,
    /// The effect of pruning the model.
    pub pruned: Option<Pruned>,
    /// The effect of rounding the weights of the best configuration, if they were.
    pub rounded: Option<Rounded>,
    /// With folds: number of iterations of training the model on all data, including the warm-up.
    pub refit_iterations: Option<usize>,
    /// Whether the search was interrupted.
    pub interrupted: bool,
}

impl TuneResult {
    /// Returns the model of a tagger.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if the file is of another kind.
    pub fn model(&self) -> Result<Model> {
        Model::from_bytes(self.file.clone())
    }

    /// Returns the outcome as the program and its logs have it.
    pub fn outcome(&self) -> Map<String, Value> {
        let mut outcome = Map::new();
        let mut set = |name: &str, value: Value| drop(outcome.insert(name.to_owned(), value));
        set("options", json!(self.settings));
        set("iterations_on_all_data", json!(self.refit_iterations));
        set("interrupted", json!(self.interrupted));
        if let Some(gain) = self.noise_gain() {
            set("noise_gain", json!(gain));
        }
        outcome
    }

    /// Returns whether the model has learned anything: with folds, it may not have been trained on
    /// all data.
    pub fn has_learned(&self) -> bool {
        self.refit_iterations != Some(0)
    }

    /// Returns what noise gains over the folds; `None` without folds, or if there is no
    /// configuration with noise or none without.
    pub fn noise_gain(&self) -> Option<NoiseGain> {
        NoiseGain::new(&self.trials)
    }
}

impl Search<'_> {
    /// Runs the search and makes a model of the best configuration.
    ///
    /// # Errors
    ///
    /// Parameters out of range; no configurations, or one with a template that `data` does not
    /// have; those of [`Trainer::train`](dropchain::Trainer::train); no configuration was scored,
    /// because training was interrupted or starts at its minimum. The checkpoint cannot be written,
    /// is damaged, or belongs to another search.
    pub fn run(&self, data: &TuningData<'_>, observer: &dyn TuneObserver) -> Result<TuneResult> {
        self.check(data)?;
        let mut plan =
            Plan::new(&self.settings, &self.configurations, data, self.memory, self.threads)?;
        let mut done = HashMap::new();
        if let Some(checkpoint) = self.checkpoint {
            let identity = self.identity(data)?;
            plan.resumed = checkpoint.begin(&identity, |(key, course)| {
                done.insert(key, course);
            })?;
        }
        observer.start(&plan);
        let best = Mutex::default();
        let run = SearchRun { search: self, data, observer, plan: &plan, done, best: &best };
        let mut trials = run.trials()?;
        trials.sort_by(Trial::compare);
        let interrupted = self.is_interrupted();
        let best = trials.first().and_then(|trial| Some((trial, trial.score.as_ref()?)));
        let Some((best, score)) = best else {
            return Err(Error::parameter(if interrupted {
                "interrupted before any configuration was scored: there is no model to write"
            } else {
                "no configuration made an iteration: training begins at the minimum; expected \
                 weaker penalties, or a corpus with more than one label"
            }));
        };
        let (model, refit_iterations) = run.best_model(best, score, interrupted)?;
        let RunModel { file, pruned, rounded } = model;
        let settings = best.configuration.settings(&self.settings)?;
        let interrupted = self.is_interrupted();
        Ok(TuneResult { trials, settings, file, pruned, rounded, refit_iterations, interrupted })
    }

    fn check(&self, data: &TuningData<'_>) -> Result<()> {
        if self.configurations.is_empty() {
            return Err(Error::parameter("there are no configurations to search"));
        }
        let count = data.templates.len();
        match self.configurations.iter().find(|c| c.template >= count) {
            None => Ok(()),
            Some(Configuration { template, .. }) => Err(Error::parameter(format!(
                "template {template}; expected a number below {count}"
            ))),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns everything that determines the results, by the names of options where it has one. A
    /// checkpoint is compared with it.
    fn identity(&self, data: &TuningData<'_>) -> Result<Map<String, Value>> {
        let mut identity = Map::new();
        identity.insert("dropchain".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        if let Value::Object(options) = json!(self.settings) {
            let all = options.into_iter();
            let determining = all.filter(|(name, _)| !FREE_OPTIONS.contains(&name.as_str()));
            identity.extend(
                determining.map(|(name, value)| (format!("--{}", name.replace('_', "-")), value)),
            );
        }
        let folds = data.folds.as_ref().map(|folds| folds.held_out().len());
        identity.insert("--folds".to_owned(), json!(folds));
        for (name, sum) in data.fingerprints()? {
            identity.insert(name, json!(format!("{sum:016x}")));
        }
        identity.insert("configurations".to_owned(), json!(self.configurations));
        Ok(identity)
    }
}

/// A search in progress.
struct SearchRun<'a> {
    search: &'a Search<'a>,
    data: &'a TuningData<'a>,
    observer: &'a dyn TuneObserver,
    plan: &'a Plan,
    done: HashMap<RunKey, Course>, // by an earlier search
    /// On development data: the best configuration that was trained, with its model.
    best: &'a Mutex<Option<(Trial, RunModel)>>,
}

impl SearchRun<'_> {
    /// Trains all configurations. Returns their results in their order.
    fn trials(&self) -> Result<Vec<Trial>> {
        let folds = self.data.runs();
        let mut courses: Vec<Vec<Course>> = vec![Vec::new(); self.search.configurations.len()];
        run_jobs(
            self.plan.runs,
            [self.plan.concurrency, self.search.threads],
            |job| self.course(job / folds, job % folds),
            |job, course: Option<Course>| {
                let (configuration, fold) = (job / folds, job % folds);
                let is_done = course.is_some();
                courses[configuration].extend(course);
                if is_done && fold + 1 == folds {
                    self.observer.trial(&self.trial(configuration, &courses[configuration]));
                }
                self.observer.progress(Phase::Runs, job + 1, self.plan.runs);
            },
        )?;
        let trials = courses.iter().enumerate();
        Ok(trials.map(|(i, courses)| self.trial(i, courses)).collect())
    }

    fn trial(&self, index: usize, courses: &[Course]) -> Trial {
        let folds = self.data.folds.is_some().then(|| self.data.runs());
        Trial::new(index, self.search.configurations[index], courses, folds)
    }

    /// Trains a configuration, unless an earlier search has; `None` if the search is interrupted.
    fn course(&self, configuration: usize, fold: usize) -> Result<Option<Course>> {
        let fold = self.data.folds.is_some().then_some(fold);
        let key = RunKey { configuration, fold };
        if let Some(course) = self.done.get(&key) {
            return Ok(Some(course.clone()));
        }
        if self.search.is_interrupted() {
            return Ok(None);
        }
        let mut settings =
            self.search.configurations[configuration].settings(&self.search.settings)?;
        if fold.is_some() {
            settings = self.data.fold_settings(&settings)?;
        }
        let (model, course) = self.train(configuration, fold, settings, self.search.interrupt)?;
        if is_interrupted(&course.end) {
            return Ok(None);
        }
        if let Some(checkpoint) = self.search.checkpoint {
            checkpoint.append(&(key, &course))?;
        }
        if fold.is_none() {
            let trial = self.trial(configuration, std::slice::from_ref(&course));
            let mut best = lock(self.best);
            if best.as_ref().is_none_or(|(best, _)| trial.compare(best).is_lt()) {
                *best = Some((trial, model));
            }
        }
        Ok(Some(course))
    }

    fn train(
        &self,
        configuration: usize,
        fold: Option<usize>,
        settings: TrainSettings,
        interrupt: Option<&AtomicBool>,
    ) -> Result<(RunModel, Course)> {
        let template = self.search.configurations[configuration].template;
        let corpora = self.data.corpora(template, fold)?;
        let memory = self.plan.memory_of_run;
        train(settings, RunInput { data: self.data, template, corpora, memory, interrupt })
    }

    /// Returns the model of the best configuration. With folds it is trained on all data, for as
    /// many iterations as on the folds, and their number is returned. Otherwise it is trained again
    /// only if an earlier search has trained it, with the same result.
    fn best_model(
        &self,
        best: &Trial,
        score: &TrialScore,
        interrupted: bool,
    ) -> Result<(RunModel, Option<usize>)> {
        if let Some((trial, model)) = lock(self.best).take()
            && trial.number == best.number
        {
            return Ok((model, None));
        }
        let mut settings = best.configuration.settings(&self.search.settings)?;
        let is_refit = self.data.folds.is_some();
        if is_refit {
            let iterations = score.best_iteration;
            self.observer.progress(Phase::Refit(iterations), 0, 1);
            settings = refit_settings(&settings, score, !self.data.models.is_empty())?;
        }
        // An interrupt that has ended the search does not end this.
        let interrupt = self.search.interrupt.filter(|_| !interrupted);
        let (model, course) = self.train(best.number - 1, None, settings, interrupt)?;
        let iterations = if course.end.has_result() { course.end.iterations } else { 0 };
        Ok((model, is_refit.then_some(iterations)))
    }
}

/// Returns the settings for training on all data what was scored on folds.
fn refit_settings(
    settings: &TrainSettings,
    score: &TrialScore,
    is_continued: bool,
) -> Result<TrainSettings> {
    let settings = if is_continued { settings.clone().continuing() } else { settings.clone() };
    // By default, fewer iterations have a shorter warm-up than the folds had.
    let settings = settings.with_regularization(Regularization {
        warm_up: settings.has_noise().then(|| settings.warm_up()),
        ..settings.regularization().clone()
    })?;
    changed(&settings, |options| {
        options.max_iterations = Some(score.best_iteration);
        if score.recall_bias != 0.0 {
            options.recall_bias = Some(score.recall_bias);
        }
    })
}
