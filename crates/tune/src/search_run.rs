//! A search in progress: warm starts, then the rungs of successive halving.

use std::sync::{Mutex, PoisonError};

use super::data::TuningData;
use super::fold_history::FoldHistory;
use super::journal::StoredWeights;
use super::observer::{Phase, RungResult, TuneObserver};
use super::pool::lock;
use super::resource_plan::ResourcePlan;
use super::schedule::Rung;
use super::search::Search;
use super::segment_store::{Job, Keep, SegmentStore, StoredSegment};
use super::trial::TrialResult;
use super::warm_start::WarmStarts;
use dropchain::error::Result;
use dropchain::train::{BestWeights, Segment, TrainSettings, TrainingSet};

/// A search in progress.
pub(super) struct SearchRun<'a> {
    search: &'a Search<'a>,
    data: &'a TuningData,
    plan: ResourcePlan,
    observer: &'a dyn TuneObserver,
    warm_starts: &'a WarmStarts,
    store: &'a SegmentStore,
    settings: Vec<TrainSettings>,          // [configurations]
    warm_histories: Vec<Vec<FoldHistory>>, // [warm starts][folds]
    histories: Vec<Vec<FoldHistory>>,      // [configurations][folds]
    best: Mutex<Option<BestTrial>>,
}

/// The best weights so far. With folds there are none: the weights of a fold are trained on a part
/// of the data only.
struct BestTrial {
    configuration: usize,
    weights: BestWeights,
}

/// A segment to be trained.
struct NextSegment<'a> {
    job: Job,
    settings: &'a TrainSettings,
    segment: Segment<'a>,
    configuration: Option<usize>, // that its scores count for
    has_next: bool,               // unless training ends
}

/// A rung to be run.
#[derive(Clone, Copy)]
struct NextRung<'a> {
    number: usize,
    configurations: &'a [usize],
    target: Option<usize>,
    is_last: bool,
}

impl<'a> SearchRun<'a> {
    /// Begins a search.
    ///
    /// # Errors
    ///
    /// A configuration is out of range.
    pub fn new(
        search: &'a Search<'a>,
        data: &'a TuningData,
        warm_starts: &'a WarmStarts,
        plan: ResourcePlan,
        store: &'a SegmentStore,
        observer: &'a dyn TuneObserver,
    ) -> Result<Self> {
        let configurations = search.configurations.iter();
        let settings = configurations.map(|c| c.settings(&search.settings));
        Ok(Self {
            search,
            data,
            plan,
            observer,
            warm_starts,
            store,
            settings: settings.collect::<Result<_>>()?,
            warm_histories: Vec::new(),
            histories: Vec::new(),
            best: Mutex::new(None),
        })
    }

    /// Returns the best weights.
    pub fn finish(self) -> Option<BestWeights> {
        let best = (self.best.into_inner()).unwrap_or_else(PoisonError::into_inner);
        best.map(|best| best.weights)
    }

    /// Trains the weights that configurations start from.
    pub fn train_warm_starts(&mut self) -> Result<()> {
        let (paths, folds) = (&self.warm_starts.paths, self.data.folds());
        let total = paths.len() * folds;
        let starts = self.warm_starts.all.iter();
        let mut warm_histories: Vec<Vec<FoldHistory>> = starts.map(|_| Vec::new()).collect();
        self.plan.pool().run(
            total,
            |job| self.train_path(&paths[job / folds], job % folds),
            |done| self.observer.progress(Phase::WarmStart, done, total),
            |job, histories| {
                for (&start, history) in paths[job / folds].iter().zip(histories) {
                    warm_histories[start].push(history);
                }
            },
        )?;
        let configurations = self.search.configurations.iter();
        self.histories = configurations
            .zip(&self.warm_starts.by_configuration)
            .map(|(configuration, &start)| {
                let folds = warm_histories[start].iter();
                folds
                    .map(|start| FoldHistory::from_warm_start(start, configuration.has_noise()))
                    .collect()
            })
            .collect();
        self.warm_histories = warm_histories;
        Ok(())
    }

    /// Trains the warm starts of a path on a fold, except those at its beginning that an earlier
    /// run has trained.
    fn train_path(&self, path: &[usize], fold: usize) -> Result<Vec<FoldHistory>> {
        let mut histories: Vec<FoldHistory> = Vec::new();
        for &start in path {
            let Some(stored) = self.store.take(Job::WarmStart { start, fold }) else {
                break;
            };
            if let Some(configuration) = self.configuration_without_noise(start) {
                self.restore_best(configuration, &stored)?;
            }
            histories.push(FoldHistory::default().followed_by(stored));
        }
        let first = histories.len();
        let Some(&start) = path.get(first) else {
            return Ok(histories);
        };
        let base = &self.search.settings;
        let template = self.warm_starts.all[start].template;
        self.data.with_training_set(template, fold, base, |set| {
            let last = histories.last();
            let mut recall_bias = last.map_or(set.recall_bias(), |last| last.recall_bias);
            let weights = last.and_then(|last| last.weights);
            let mut theta = self.read_start(weights, set, (base, 0))?;
            for (position, &start) in path.iter().enumerate().skip(first) {
                let settings = self.warm_starts.all[start].settings(base)?;
                let limit = self.warm_starts.iterations_at(start, position);
                let (stored, last) = self.train(
                    set,
                    NextSegment {
                        job: Job::WarmStart { start, fold },
                        settings: &settings,
                        segment: Segment::warm_up(theta, limit, recall_bias, self.search.interrupt),
                        configuration: self.configuration_without_noise(start),
                        has_next: true,
                    },
                )?;
                theta = last;
                let history = FoldHistory::default().followed_by(stored);
                recall_bias = history.recall_bias;
                histories.push(history);
            }
            Ok(histories)
        })
    }

    /// Returns the configuration without noise that continues a warm start, if there is one.
    fn configuration_without_noise(&self, start: usize) -> Option<usize> {
        let configurations = self.search.configurations.iter();
        configurations
            .zip(&self.warm_starts.by_configuration)
            .position(|(c, &own)| own == start && !c.has_noise())
    }

    /// Trains a segment and stores it. Returns it with its last weights.
    fn train(&self, set: &TrainingSet, next: NextSegment<'_>) -> Result<(StoredSegment, Vec<f64>)> {
        let was_interrupted = self.search.is_interrupted();
        let mut end = (self.search.trainer).run(set, next.settings, next.segment)?;
        // The best weights of a checkpoint must be those of its records, in their order.
        let mut best = lock(&self.best);
        let new = end.best.as_ref().filter(|_| !self.data.has_folds());
        let better = next
            .configuration
            .filter(|&c| new.is_some_and(|new| self.is_better(best.as_ref(), c, new)));
        let stored = if was_interrupted {
            StoredSegment::without_weights(&end)
        } else {
            let is_resumable = end.reason.is_none() || matches!(next.job, Job::WarmStart { .. });
            let keep = Keep {
                last: next.has_next && is_resumable,
                best: better.is_some() && self.store.is_durable(),
            };
            self.store.add(next.job, &end, keep)?
        };
        if let (Some(configuration), Some(weights)) = (better, end.best.take()) {
            *best = Some(BestTrial {
                configuration,
                weights,
            });
        }
        Ok((stored, end.theta))
    }

    /// Reads the best weights of a segment of an earlier run if they are the best so far.
    fn restore_best(&self, configuration: usize, stored: &StoredSegment) -> Result<()> {
        let (Some(new), Some(weights)) = (&stored.end.best, stored.best) else {
            return Ok(());
        };
        let mut best = lock(&self.best);
        if self.is_better(best.as_ref(), configuration, new) {
            *best = Some(BestTrial {
                configuration,
                weights: BestWeights {
                    theta: self.store.read(weights)?,
                    ..*new
                },
            });
        }
        Ok(())
    }

    /// Returns whether the best weights of a segment of a configuration are better than the best so
    /// far.
    fn is_better(&self, best: Option<&BestTrial>, configuration: usize, new: &BestWeights) -> bool {
        let configurations = &self.search.configurations;
        best.is_none_or(|best| {
            let order = (new.score.value()).total_cmp(&best.weights.score.value());
            let tie =
                configurations[configuration].compare_strength(&configurations[best.configuration]);
            best.configuration == configuration || order.reverse().then(tie).is_lt()
        })
    }

    /// Runs all rungs. Returns the results of all configurations, the best first, and those of each
    /// rung.
    pub fn run_rungs(&mut self, rungs: &[Rung]) -> Result<(Vec<TrialResult>, Vec<RungResult>)> {
        let mut survivors: Vec<usize> = (0..self.histories.len()).collect();
        let mut rung_counts = vec![0; survivors.len()];
        let mut results = Vec::new();
        for (number, rung) in rungs.iter().enumerate() {
            if number > 0 {
                survivors = self.best_of(&survivors, rung.configurations);
            }
            if self.search.is_interrupted() {
                break;
            }
            let trials = self.run_rung(NextRung {
                number,
                configurations: &survivors,
                target: self.search.target(rung),
                is_last: number + 1 == rungs.len(),
            })?;
            self.warm_histories.clear();
            survivors.iter().for_each(|&c| rung_counts[c] += 1);
            let result = RungResult {
                rung: *rung,
                trials,
            };
            self.observer.rung(&result);
            results.push(result);
        }
        let mut trials: Vec<TrialResult> = (0..self.histories.len())
            .map(|c| TrialResult {
                rungs: rung_counts[c],
                ..self.trial(c, &self.histories[c])
            })
            .collect();
        trials.sort_by(TrialResult::compare);
        Ok((trials, results))
    }

    /// Returns the `count` best of `configurations`, in ascending order.
    fn best_of(&self, configurations: &[usize], count: usize) -> Vec<usize> {
        let trials = configurations.iter();
        let mut trials: Vec<TrialResult> =
            trials.map(|&c| self.trial(c, &self.histories[c])).collect();
        trials.sort_by(TrialResult::compare);
        trials.truncate(count);
        let mut best: Vec<usize> = trials.iter().map(|trial| trial.number - 1).collect();
        best.sort_unstable();
        best
    }

    /// Runs a rung. Returns the results of its configurations, in their order.
    fn run_rung(&mut self, rung: NextRung<'_>) -> Result<Vec<TrialResult>> {
        let folds = self.data.folds();
        let total = rung.configurations.len() * folds;
        let (mut histories, mut trials) = (Vec::new(), Vec::new());
        let mut of_configuration = Vec::new();
        let this = &*self;
        this.plan.pool().run(
            total,
            |job| this.run_segment(rung, rung.configurations[job / folds], job % folds),
            |done| {
                this.observer
                    .progress(Phase::Rung(rung.number), done, total);
            },
            |job, history| {
                of_configuration.push(history);
                if of_configuration.len() == folds {
                    let trial = this.trial(rung.configurations[job / folds], &of_configuration);
                    this.observer.trial(rung.number, &trial);
                    trials.push(trial);
                    histories.push(std::mem::take(&mut of_configuration));
                }
            },
        )?;
        for (&configuration, histories) in rung.configurations.iter().zip(histories) {
            self.histories[configuration] = histories;
        }
        Ok(trials)
    }

    /// Runs the next segment of a configuration on a fold, if there is one, or takes it from an
    /// earlier run. Returns the history with it.
    fn run_segment(
        &self,
        rung: NextRung<'_>,
        configuration: usize,
        fold: usize,
    ) -> Result<FoldHistory> {
        let history = self.histories[configuration][fold].clone();
        let Some(segment) = history.next_segment(rung.target, self.search.interrupt) else {
            return Ok(history);
        };
        let job = Job::Rung {
            rung: rung.number,
            configuration,
            fold,
        };
        if let Some(stored) = self.store.take(job) {
            self.restore_best(configuration, &stored)?;
            return Ok(history.followed_by(stored));
        }
        if self.search.is_interrupted() {
            return Ok(history);
        }
        let weights = history.weights.or_else(|| {
            let start = self.warm_starts.by_configuration[configuration];
            self.warm_histories[start][fold].weights
        });
        let settings = &self.settings[configuration];
        let template = self.search.configurations[configuration].template;
        let stored = (self.data).with_training_set(template, fold, settings, |set| {
            let done = segment.done;
            let start = self.read_start(weights, set, (settings, done))?;
            let next = NextSegment {
                job,
                settings,
                segment: Segment { start, ..segment },
                configuration: Some(configuration),
                has_next: !rung.is_last,
            };
            Ok(self.train(set, next)?.0)
        })?;
        Ok(history.followed_by(stored))
    }

    /// Reads the numbers that a segment starts from.
    fn read_start(
        &self,
        weights: Option<StoredWeights>,
        set: &TrainingSet,
        progress: (&TrainSettings, usize),
    ) -> Result<Vec<f64>> {
        self.store
            .read_start(weights, self.search.trainer, set, progress)
    }

    fn trial(&self, configuration: usize, histories: &[FoldHistory]) -> TrialResult {
        TrialResult::new(
            configuration + 1,
            self.search.configurations[configuration],
            histories,
            self.data.has_folds(),
        )
    }
}
