//! A search: list the runs, run them, make the table, and the model of the best configuration.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::checkpoint::Checkpoint;
use super::data::TuningData;
use super::differences::FoldDifferences;
use super::out_of_fold::{OutOfFold, predict};
use super::run::{Course, Plan, Record, Run, RunKey, run_jobs};
use super::space::Configuration;
use super::trial::{Trial, TrialScore};
use dropchain::kernel::optim::StopReason;
use dropchain::kernel::train::{Folds, Regularization};
use dropchain::model::Model;
use dropchain::tag::Tagger;
use dropchain::train::{Pruned, Rounded, TrainSettings, Trained, TrainingCorpora};
use dropchain::{Error, MemoryLimit, Result};

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

/// Receives the events of a search. `()` ignores them all.
pub trait TuneObserver: Sync {
    /// Called before the first run.
    fn start(&self, _plan: &Plan) {}
    /// Called when all runs of a configuration, and of all before it, have ended: in the order of
    /// the configurations, also for those of an earlier search that is resumed. `is_best`: it has a
    /// score, and none before it is better.
    fn trial(&self, _trial: &Trial, _is_best: bool) {}
    /// Called when `done` of the `total` runs have ended; with the best configuration so far.
    fn progress(&self, _done: usize, _total: usize, _best: Option<&Trial>) {}
    /// Called with folds, before the best configuration is trained on all data, for so many
    /// iterations.
    fn refit(&self, _iterations: usize) {}
    /// Called with folds, after the best configuration was trained without fold `number` of `of`,
    /// as on all data, and that fold was predicted.
    fn predicted(&self, _number: usize, _of: usize) {}
}

impl TuneObserver for () {}

/// The result of a search. It serializes to what the program and its logs say of it.
#[derive(Debug, Serialize)]
pub struct TuneResult {
    /// The parameters of the best configuration.
    #[serde(rename = "options")]
    pub settings: TrainSettings,
    /// With folds: number of iterations of training the model on all data, including the warm-up.
    #[serde(rename = "iterations_on_all_data")]
    pub refit_iterations: Option<usize>,
    /// Whether the search was interrupted.
    pub interrupted: bool,
    /// With folds, the differences between configurations.
    #[serde(flatten)]
    pub differences: FoldDifferences,
    /// With folds: what models of the best configuration predict for the fold that they have not
    /// seen; `None` if the search was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_fold: Option<OutOfFold>,
    /// Number of spans or tokens of the development data; 0 with folds.
    #[serde(skip)]
    pub dev_units: usize,
    /// All configurations, the best first.
    #[serde(rename = "configurations")]
    pub trials: Vec<Trial>,
    /// The model of the best configuration.
    #[serde(skip)]
    pub model: Model,
    /// The effect of pruning the model.
    #[serde(skip)]
    pub pruned: Option<Pruned>,
    /// The effect of rounding the weights of the best configuration, if they were.
    #[serde(skip)]
    pub rounded: Option<Rounded>,
}

impl TuneResult {
    /// Returns whether the model has learned anything: with folds, it may not have been trained on
    /// all data.
    pub fn has_learned(&self) -> bool {
        self.refit_iterations != Some(0)
    }
}

impl Search<'_> {
    /// Runs the search and makes a model of the best configuration.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::train`](dropchain::Trainer::train); no configuration was scored, because
    /// training was interrupted or starts at its minimum. The checkpoint cannot be written, is
    /// damaged, or belongs to another search.
    pub fn run(&self, data: &TuningData<'_>, observer: &dyn TuneObserver) -> Result<TuneResult> {
        let mut plan = Plan::new(data, &self.configurations, self.memory, self.threads)?;
        let mut done = HashMap::new();
        if let Some(checkpoint) = self.checkpoint {
            let resumed = checkpoint.begin(&self.identity(data)?)?;
            plan.resumed = resumed.as_ref().map(HashMap::len);
            done = resumed.unwrap_or_default();
        }
        observer.start(&plan);
        let run = SearchRun { search: self, data, observer, plan: &plan, done };
        let (mut trials, trained) = run.trials()?;
        trials.sort_by(Trial::compare);
        let interrupted = self.is_interrupted();
        let best = trials.first();
        let best = best.and_then(|trial| Some((&trial.configuration, trial.score.as_ref()?)));
        let Some((best, score)) = best else {
            return Err(Error::parameter(if interrupted {
                "interrupted before any configuration was scored: there is no model to write"
            } else {
                "no configuration made an iteration: training begins at the minimum; expected \
                 weaker penalties, or a corpus with more than one label"
            }));
        };
        let ((trained, record), refit_iterations) = match trained {
            Some(trained) => (trained, None),
            None => run.train_again(best, score, interrupted)?,
        };
        let out_of_fold = match &data.folds {
            Some(folds) if !self.is_interrupted() => run.out_of_fold(folds, best, score)?,
            _ => None,
        };
        Ok(TuneResult {
            settings: best.settings.clone(),
            refit_iterations,
            interrupted: self.is_interrupted(),
            differences: FoldDifferences::new(&trials),
            out_of_fold,
            dev_units: record.start.map_or(0, |start| start.data.dev_units),
            trials,
            model: trained.model,
            pruned: record.pruned,
            rounded: record.rounded,
        })
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns everything that determines the results, options by their names. A checkpoint is
    /// compared with it.
    fn identity(&self, data: &TuningData<'_>) -> Result<Map<String, Value>> {
        let mut identity = json!(self.settings);
        for option in FREE_OPTIONS {
            identity[option].take();
        }
        identity["version"] = json!(env!("CARGO_PKG_VERSION"));
        identity["folds"] = json!(data.folds.as_ref().map(|folds| folds.held_out.len()));
        identity["data"] = json!(data.fingerprint()?);
        identity["configurations"] = json!(self.configurations);
        Ok(identity.as_object_mut().map(std::mem::take).unwrap_or_default())
    }
}

/// A search in progress.
struct SearchRun<'a> {
    search: &'a Search<'a>,
    data: &'a TuningData<'a>,
    observer: &'a dyn TuneObserver,
    plan: &'a Plan,
    done: HashMap<RunKey, Course>, // by an earlier search
}

/// The outcome of training: the model and its report.
type Outcome = (Trained, Record);

impl SearchRun<'_> {
    /// Trains all configurations. Returns their results in their order, and what has come of the
    /// best one if it was trained on the development data now.
    fn trials(&self) -> Result<(Vec<Trial>, Option<Outcome>)> {
        let (folds, runs) = (self.data.runs(), self.plan.runs);
        let (mut trials, mut courses) = (Vec::new(), Vec::new());
        let mut best: Option<(usize, Option<Outcome>)> = None;
        run_jobs(
            runs,
            [self.plan.concurrency, self.search.threads],
            |job| self.course(job),
            |job, run| {
                let (course, outcome) = run.unzip();
                let is_done = course.is_some();
                courses.extend(course);
                if (job + 1) % folds == 0 {
                    let configuration = self.search.configurations[trials.len()].clone();
                    let folds = self.data.folds.is_some().then_some(folds);
                    let trial = Trial::new(trials.len(), configuration, &courses, folds);
                    courses.clear();
                    let is_better = |(best, _): &(usize, _)| trial.compare(&trials[*best]).is_lt();
                    let is_best = trial.score.is_some() && best.as_ref().is_none_or(is_better);
                    if is_done {
                        self.observer.trial(&trial, is_best);
                    }
                    if is_best {
                        best = Some((trials.len(), outcome.flatten()));
                    }
                    trials.push(trial);
                }
                self.observer.progress(
                    job + 1,
                    runs,
                    best.as_ref().map(|(best, _)| &trials[*best]),
                );
            },
        )?;
        Ok((trials, best.and_then(|(_, outcome)| outcome)))
    }

    /// Makes the run number `job`, unless an earlier search has; `None` if the search is
    /// interrupted.
    fn course(&self, job: usize) -> Result<Option<(Course, Option<Outcome>)>> {
        let (configuration, fold) = (job / self.data.runs(), job % self.data.runs());
        let fold = self.data.folds.is_some().then_some(fold);
        let key = RunKey { configuration, fold };
        if let Some(course) = self.done.get(&key) {
            return Ok(Some((course.clone(), None)));
        }
        if self.search.is_interrupted() {
            return Ok(None);
        }
        let Configuration { settings, template, .. } = &self.search.configurations[configuration];
        let settings = match fold {
            None => settings.clone(),
            Some(_) => self.data.fold_settings(settings)?,
        };
        let corpora = self.data.corpora(*template, fold)?;
        let run = self.run(*template, self.search.interrupt);
        let (trained, mut record) = run.train(corpora, settings)?;
        if trained.end.reason == StopReason::Interrupted {
            return Ok(None);
        }
        let course = record.course(&trained.end);
        if let Some(checkpoint) = self.search.checkpoint {
            checkpoint.append(&(key, &course))?;
        }
        Ok(Some((course, fold.is_none().then_some((trained, record)))))
    }

    fn run<'r>(&'r self, template: usize, interrupt: Option<&'r AtomicBool>) -> Run<'r> {
        Run { data: self.data, template, memory: self.plan.memory_of_run, interrupt }
    }

    /// Trains the best configuration again. With folds it is trained on all data, for as many
    /// iterations as on the folds, and their number is returned. Otherwise an earlier search has
    /// trained it, with the same result.
    fn train_again(
        &self,
        best: &Configuration,
        score: &TrialScore,
        interrupted: bool,
    ) -> Result<(Outcome, Option<usize>)> {
        let mut settings = best.settings.clone();
        let is_refit = self.data.folds.is_some();
        if is_refit {
            self.observer.refit(score.best_iteration);
            settings = self.for_all_data(settings, score)?;
        }
        // An interrupt that has ended the search does not end this.
        let interrupt = self.search.interrupt.filter(|_| !interrupted);
        let corpora = self.data.corpora(best.template, None)?;
        let (trained, record) = self.run(best.template, interrupt).train(corpora, settings)?;
        let iterations = if trained.end.has_result() { trained.end.iterations } else { 0 };
        Ok(((trained, record), is_refit.then_some(iterations)))
    }

    /// Predicts each fold with a model of the others, which is trained as that of all data; `None`
    /// if it is interrupted.
    fn out_of_fold(
        &self,
        folds: &Folds,
        best: &Configuration,
        score: &TrialScore,
    ) -> Result<Option<OutOfFold>> {
        let held_out = &folds.held_out;
        let settings = self.for_all_data(self.data.fold_settings(&best.settings)?, score)?;
        let run = self.run(best.template, self.search.interrupt);
        let predicted = |fold| {
            if self.search.is_interrupted() {
                return Ok(None);
            }
            let [rest, held_out] = self.data.parts(folds, best.template, fold);
            let unlabeled = self.data.corpora.unlabeled.clone();
            let corpora = TrainingCorpora { unlabeled, ..TrainingCorpora::new(rest) };
            let (trained, _) = run.train(corpora, settings.clone())?;
            if trained.end.reason == StopReason::Interrupted {
                return Ok(None);
            }
            predict(&Tagger::new(trained.model), &held_out).map(Some)
        };
        let mut all = BTreeMap::new();
        run_jobs(
            held_out.len(),
            [self.plan.concurrency, self.search.threads],
            predicted,
            |fold, predicted| {
                self.observer.predicted(fold + 1, held_out.len());
                all.extend(held_out[fold].iter().copied().zip(predicted.into_iter().flatten()));
            },
        )?;
        if all.len() < held_out.iter().map(Vec::len).sum() {
            return Ok(None);
        }
        let labeling = self.data.labeling(&settings);
        OutOfFold::new(&self.data.corpora.labeled, labeling, all).map(Some)
    }

    /// Returns the settings for training on all data what was scored on folds.
    fn for_all_data(&self, settings: TrainSettings, score: &TrialScore) -> Result<TrainSettings> {
        let is_new = self.data.models.is_empty();
        let settings = if is_new { settings } else { settings.continuing() };
        // By default, fewer iterations have a shorter warm-up than the folds had.
        let settings = settings.with_regularization(Regularization {
            warm_up: settings.has_noise().then(|| settings.warm_up()),
            ..*settings.regularization()
        })?;
        let mut options = settings.all_options();
        options.max_iterations = Some(score.best_iteration);
        if score.recall_bias != 0.0 {
            options.recall_bias = Some(score.recall_bias);
        }
        TrainSettings::new(options)
    }
}
