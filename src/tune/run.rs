//! Running a search: warm starts, rungs, and the model of the best configuration.

use super::data::TuningData;
use super::observer::{Phase, RungResult, TuneObserver};
use super::refit::Refit;
use super::resource_plan::ResourcePlan;
use super::search::Search;
use super::search_run::SearchRun;
use super::trial::TrialResult;
use super::warm_start::WarmStarts;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::train::{Pruned, TrainSettings, TrainingSet};

/// The result of a search.
#[derive(Debug)]
pub struct TuneResult {
    /// All configurations, the best first.
    pub trials: Vec<TrialResult>,
    /// The rungs that were completed.
    pub rungs: Vec<RungResult>,
    /// The parameters of the best configuration.
    pub settings: TrainSettings,
    /// Its model.
    pub model: Model,
    /// The effect of pruning the model.
    pub pruned: Option<Pruned>,
    /// With folds: number of iterations of training the model on all data, including the warm-up.
    pub refit_iterations: Option<usize>,
    /// Whether the search was interrupted.
    pub interrupted: bool,
}

/// The weights of the final model.
struct FinalWeights {
    theta: Vec<f64>,
    recall_bias: f64,
    refit_iterations: Option<usize>,
}

impl Search<'_> {
    /// Runs the search and builds a model from the best configuration.
    ///
    /// # Errors
    ///
    /// Parameters out of range; no configurations, or one with a template that `data` does not
    /// have; too little memory; an objective that is not finite at the start; no configuration was
    /// scored, because training was interrupted or starts at its minimum.
    pub fn run(&self, data: TuningData, observer: &dyn TuneObserver) -> Result<TuneResult> {
        self.check(&data)?;
        let warm_starts = WarmStarts::new(&self.configurations, &self.settings, self.warm_start);
        let (settings, threads) = (&self.settings, self.threads);
        let plan = ResourcePlan::new(&data, &self.configurations, settings, threads, self.memory)?;
        let rungs = self.schedule.rungs(self.configurations.len());
        observer.start(&plan, &rungs);
        let mut run = SearchRun::new(self, &data, warm_starts, plan, observer)?;
        run.train_warm_starts()?;
        let (trials, rungs) = run.run_rungs(&rungs)?;
        let (warm_starts, best_weights) = run.finish();
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
        let best_weights = best_weights.filter(|_| !data.has_folds());
        let set = data.into_training_set(best.configuration.template, &settings);
        let mut weights = match best_weights {
            Some(weights) => FinalWeights {
                theta: weights.theta,
                recall_bias: weights.recall_bias,
                refit_iterations: None,
            },
            None => {
                observer.progress(Phase::Refit(best.best_iteration), 0, 1);
                let weights = self.refit(best, &warm_starts, &set)?;
                interrupted = self.is_interrupted();
                weights
            }
        };
        let pruned = set.prune(&settings, &mut weights.theta, weights.recall_bias)?;
        Ok(TuneResult {
            model: set.into_model(&settings, &weights.theta, weights.recall_bias)?,
            trials,
            rungs,
            settings,
            pruned,
            refit_iterations: weights.refit_iterations,
            interrupted,
        })
    }

    /// Trains the best configuration on all data. An interrupt that has ended the search does not
    /// end this.
    fn refit(
        &self,
        best: &TrialResult,
        warm_starts: &WarmStarts,
        set: &TrainingSet,
    ) -> Result<FinalWeights> {
        let interrupted = self.is_interrupted();
        let search = Search {
            interrupt: self.interrupt.filter(|_| !interrupted),
            ..self.clone()
        };
        let refit = Refit {
            search: &search,
            warm_starts,
            set,
            configuration: best.number - 1,
        };
        let (theta, iterations) = refit.run(best.counted_best)?;
        Ok(FinalWeights {
            theta,
            recall_bias: best.recall_bias,
            refit_iterations: Some(iterations),
        })
    }
}
