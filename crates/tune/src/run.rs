//! Running a search: warm starts, rungs, and the model of the best configuration.

use std::sync::Mutex;

use super::checkpoint::SegmentStore;
use super::data::TuningData;
use super::gain::NoiseGain;
use super::observer::{Phase, RungResult, TuneObserver};
use super::pool::Pool;
use super::resource_plan::ResourcePlan;
use super::search::Search;
use super::search_run::{SearchData, SearchRun};
use super::trial::TrialResult;
use super::warm_start::WarmStarts;
use dropchain::error::{Error, Result};
use dropchain::model::{Model, TrainingRecord};
use dropchain::train::{Pruned, Rounded, TrainSettings};

/// The result of a search.
#[derive(Debug)]
pub struct TuneResult {
    /// All configurations, the best first.
    pub trials: Vec<TrialResult>,
    /// The rungs that were completed.
    pub rungs: Vec<RungResult>,
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

    /// Returns what noise gains over the folds; `None` without folds, or if there is no
    /// configuration with noise or none without.
    pub fn noise_gain(&self) -> Option<NoiseGain> {
        NoiseGain::new(&self.trials)
    }
}

impl Search<'_> {
    /// Runs the search and builds a model from the best configuration.
    ///
    /// # Errors
    ///
    /// Parameters out of range; no configurations, or one with a template that `data` does not
    /// have; too little memory; an objective that is not finite at the start; no configuration was
    /// scored, because training was interrupted or starts at its minimum. The checkpoint cannot be
    /// written, is damaged, or belongs to another search.
    pub fn run(&self, data: TuningData, observer: &dyn TuneObserver) -> Result<TuneResult> {
        self.check(&data)?;
        let warm_starts = WarmStarts::new(&self.configurations, &self.settings, self.warm_start);
        let plan = ResourcePlan::new(&data, self)?;
        let rungs = self.schedule.rungs(self.configurations.len());
        let store = SegmentStore::open(self.checkpoint, &self.identity(&data))?;
        observer.start(&plan, &rungs);
        if let Some(resumed) = store.resumed() {
            observer.resumed(&resumed);
        }
        let folds = data.has_folds().then(|| data.folds());
        let pool = Pool { workers: plan.concurrency, threads: plan.threads };
        let run = SearchRun {
            search: self,
            data: SearchData::Scored(&data),
            folds,
            pool,
            rungs: &rungs,
            observer,
            warm_starts: &warm_starts,
            store: &store,
            is_kept: true,
            best: Mutex::default(),
        };
        let (trials, results) = run.run()?;
        let best_weights = run.best_weights()?;
        let mut interrupted = self.is_interrupted();
        let Some(best) = trials.first().filter(|best| best.score.is_some()) else {
            return Err(Error::parameter(if interrupted {
                "interrupted before any configuration was scored: there is no model to write"
            } else {
                "no configuration made an iteration: training begins at the minimum; expected \
                 weaker penalties, or a corpus with more than one label"
            }));
        };
        let settings = best.configuration.settings(&self.settings)?;
        let set = data.into_training_set(best.configuration.template, &settings);
        let (theta, recall_bias, refit_iterations) = match best_weights {
            Some(weights) => (weights.theta, weights.recall_bias, None),
            None => {
                observer.progress(Phase::Refit(best.best_iteration), 0, 1);
                let refit = SearchRun {
                    search: &Search {
                        // An interrupt that has ended the search does not end this.
                        interrupt: self.interrupt.filter(|_| !interrupted),
                        ..self.clone()
                    },
                    data: SearchData::All(&set),
                    folds,
                    pool,
                    rungs: &rungs,
                    observer,
                    warm_starts: &warm_starts,
                    store: &store,
                    // The best configuration so far need not be the best one.
                    is_kept: !interrupted,
                    best: Mutex::default(),
                };
                let (theta, iterations) = refit.refit(best.number - 1, best.counted_best)?;
                interrupted = self.is_interrupted();
                (theta, best.recall_bias, Some(iterations))
            }
        };
        if theta.len() != settings.state_length(&set, 0)? {
            return Err(Error::parameter("the checkpoint is of a search with other attributes"));
        }
        let record = best.record(&settings, recall_bias, refit_iterations);
        let finished = set.finish(&settings, theta, &record)?;
        Ok(TuneResult {
            file: finished.model,
            trials,
            rungs: results,
            settings,
            pruned: finished.pruned,
            rounded: finished.rounded,
            refit_iterations,
            interrupted,
        })
    }
}

impl TrialResult {
    /// Returns what the model of a configuration records of its training.
    fn record(
        &self,
        settings: &TrainSettings,
        recall_bias: f64,
        refit_iterations: Option<usize>,
    ) -> TrainingRecord {
        let kept = refit_iterations.unwrap_or(self.best_iteration);
        let regularization = settings.regularization();
        // Online learners count the iterations of their warm-up.
        let warm_up = match kept.saturating_sub(self.counted_best) {
            0 => settings.warm_up(),
            warm_up => warm_up,
        };
        let noise = regularization.noise.exposure(kept, warm_up);
        let record = TrainingRecord {
            iterations: refit_iterations.unwrap_or(self.iterations),
            best_iteration: kept,
            stop_reason: None,
            recall_bias,
            regularization: regularization.describe(noise.as_ref()),
            noise,
            ..TrainingRecord::default()
        };
        match (refit_iterations, self.score) {
            (None, Some(score)) => score.add_to(TrainingRecord {
                stop_reason: self.reason.map(|reason| reason.name().to_owned()),
                ..record
            }),
            _ => record,
        }
    }
}
