//! A search in progress: warm starts, then the rungs of successive halving.

use std::sync::{Mutex, PoisonError};

use super::checkpoint::{Job, SegmentStore, StoredSegment, StoredWeights};
use super::data::TuningData;
use super::fold_history::FoldHistory;
use super::observer::{Phase, RungResult, TuneObserver};
use super::pool::{Pool, lock};
use super::schedule::Rung;
use super::search::Search;
use super::trial::TrialResult;
use super::warm_start::WarmStarts;
use dropchain::error::Result;
use dropchain::train::{BestWeights, Segment, TrainSettings, TrainingSet};

/// A search in progress.
pub(super) struct SearchRun<'a> {
    pub search: &'a Search<'a>,
    pub data: &'a TuningData,
    pub pool: Pool,
    pub rungs: &'a [Rung],
    pub observer: &'a dyn TuneObserver,
    pub warm_starts: &'a WarmStarts,
    pub store: &'a SegmentStore<'a>,
    /// The best weights so far.
    pub best: Mutex<Option<BestTrial>>,
}

/// The best weights so far. With folds there are none: the weights of a fold are trained on a part
/// of the data only.
pub(super) struct BestTrial {
    configuration: usize,
    best: BestWeights, // whose weights are stored
    weights: StoredWeights,
}

/// The course of each configuration on each fold, `[configurations][folds]`.
type Histories = Vec<Vec<FoldHistory>>;

impl SearchRun<'_> {
    /// Returns the best weights.
    pub fn finish(self) -> Result<Option<BestWeights>> {
        let best = (self.best.into_inner()).unwrap_or_else(PoisonError::into_inner);
        let read = |trial: BestTrial| {
            let theta = self.store.read(trial.weights)?;
            Ok(BestWeights {
                theta,
                ..trial.best
            })
        };
        best.map(read).transpose()
    }

    /// Trains the weights that configurations start from.
    fn train_warm_starts(&self) -> Result<Histories> {
        let (paths, folds) = (&self.warm_starts.paths, self.data.folds());
        let total = paths.len() * folds;
        let mut starts: Histories = vec![Vec::new(); self.warm_starts.all.len()];
        self.pool.run(
            total,
            |job| self.train_path(&paths[job / folds], job % folds),
            |done| self.observer.progress(Phase::WarmStart, done, total),
            |job, histories| {
                for (&start, history) in paths[job / folds].iter().zip(histories) {
                    starts[start].push(history);
                }
            },
        )?;
        let configurations = self.search.configurations.iter();
        let histories = configurations.zip(&self.warm_starts.by_configuration);
        let histories = histories.map(|(configuration, &start)| {
            let folds = starts[start].iter();
            folds
                .map(|start| FoldHistory::from_warm_start(start, configuration.has_noise()))
                .collect()
        });
        Ok(histories.collect())
    }

    /// Trains the warm starts of a path on a fold, except those at its beginning that an earlier
    /// run has trained.
    fn train_path(&self, path: &[usize], fold: usize) -> Result<Vec<FoldHistory>> {
        let mut histories: Vec<FoldHistory> = Vec::new();
        let push = |histories: &mut Vec<FoldHistory>, stored: StoredSegment| {
            let mut history = FoldHistory::default();
            history.extend(stored.end, stored.last);
            histories.push(history);
        };
        for &start in path {
            let job = Job::WarmStart { start, fold };
            let Some(stored) = self.take(job) else {
                break;
            };
            push(&mut histories, stored);
        }
        let first = histories.len();
        let Some(&start) = path.get(first) else {
            return Ok(histories);
        };
        let base = &self.search.settings;
        let template = self.warm_starts.all[start].template;
        self.data.with_training_set(template, fold, base, |set| {
            let weights = histories.last().and_then(|last| last.weights);
            let mut theta = self.read_start(weights, set, (base, 0))?;
            for (position, &start) in path.iter().enumerate().skip(first) {
                let job = Job::WarmStart { start, fold };
                let settings = self.warm_starts.all[start].settings(base)?;
                let limit = self.warm_starts.iterations_at(start, position);
                let last = histories.last();
                let recall_bias = last.map_or(set.recall_bias(), |last| last.recall_bias);
                let segment = Segment::warm_up(theta, limit, recall_bias, self.search.interrupt);
                let (stored, last) = self.train(set, job, &settings, segment)?;
                theta = last;
                push(&mut histories, stored);
            }
            Ok(histories)
        })
    }

    /// Trains a segment and stores it. Returns it with its last weights.
    fn train(
        &self,
        set: &TrainingSet,
        job: Job,
        settings: &TrainSettings,
        segment: Segment<'_>,
    ) -> Result<(StoredSegment, Vec<f64>)> {
        let was_interrupted = self.search.is_interrupted();
        let mut end = self.search.trainer.run(set, settings, segment)?;
        let is_continued = match job {
            Job::Rung { rung, .. } => end.reason.is_none() && rung + 1 < self.rungs.len(),
            _ => true,
        };
        let theta = match is_continued {
            true => end.theta.clone(),
            false => std::mem::take(&mut end.theta),
        };
        // The best weights of a checkpoint must be those of its lines, in their order.
        let mut best = lock(&self.best);
        let better = self.better(best.as_ref(), job, end.best.as_ref());
        if let (None, Some(worse)) = (better, &mut end.best) {
            worse.theta = Vec::new();
        }
        let stored = self.store.add((!was_interrupted).then_some(job), end)?;
        if let Some(better) = better {
            stored.set_best(better, &mut best);
        }
        Ok((stored, theta))
    }

    /// Takes a segment of an earlier run, whose best weights may be the best so far.
    fn take(&self, job: Job) -> Option<StoredSegment> {
        let stored = self.store.take(job)?;
        let mut best = lock(&self.best);
        if let Some(better) = self.better(best.as_ref(), job, stored.end.best.as_ref()) {
            stored.set_best(better, &mut best);
        }
        Some(stored)
    }

    /// Returns the configuration of a segment if its best weights are better than the best so far.
    fn better(
        &self,
        best: Option<&BestTrial>,
        job: Job,
        new: Option<&BestWeights>,
    ) -> Option<usize> {
        let new = new.filter(|_| !self.data.has_folds())?;
        let configurations = &self.search.configurations;
        // The scores of a warm start count for the configuration without noise that continues it.
        let own = match job {
            Job::Rung { configuration, .. } => configuration,
            Job::WarmStart { start, .. } => (configurations.iter())
                .zip(&self.warm_starts.by_configuration)
                .position(|(c, &own)| own == start && !c.has_noise())?,
            Job::RefitWarmStart { .. } | Job::Refit { .. } => return None,
        };
        let is_better = best.is_none_or(|best| {
            let order = (new.score.value()).total_cmp(&best.best.score.value());
            let tie = configurations[own].compare_strength(&configurations[best.configuration]);
            best.configuration == own || order.reverse().then(tie).is_lt()
        });
        is_better.then_some(own)
    }

    /// Trains the warm starts and runs all rungs. Returns the results of all configurations, the
    /// best first, and those of each rung.
    pub fn run(&self) -> Result<(Vec<TrialResult>, Vec<RungResult>)> {
        let mut histories = self.train_warm_starts()?;
        let mut survivors: Vec<usize> = (0..histories.len()).collect();
        let mut rung_counts = vec![0; survivors.len()];
        let mut results: Vec<RungResult> = Vec::new();
        for (number, &rung) in self.rungs.iter().enumerate() {
            if let Some(last) = results.last() {
                survivors = best_of(&last.trials, rung.configurations);
            }
            if self.search.is_interrupted() {
                break;
            }
            let trials = self.run_rung(number, &survivors, &mut histories)?;
            survivors.iter().for_each(|&c| rung_counts[c] += 1);
            let result = RungResult { rung, trials };
            self.observer.rung(&result);
            results.push(result);
        }
        let trials = histories.iter().zip(rung_counts).enumerate();
        let trials = trials.map(|(c, (histories, rungs))| TrialResult {
            rungs,
            ..self.trial(c, histories)
        });
        let mut trials: Vec<TrialResult> = trials.collect();
        trials.sort_by(TrialResult::compare);
        Ok((trials, results))
    }

    /// Runs a rung. Returns the results of its configurations, in their order.
    fn run_rung(
        &self,
        rung: usize,
        configurations: &[usize],
        histories: &mut Histories,
    ) -> Result<Vec<TrialResult>> {
        let folds = self.data.folds();
        let total = configurations.len() * folds;
        let (mut all, mut trials) = (Vec::new(), Vec::new());
        let (mut new, earlier) = (Vec::new(), &*histories);
        self.pool.run(
            total,
            |job| {
                let (configuration, fold) = (configurations[job / folds], job % folds);
                let mut history = earlier[configuration][fold].clone();
                self.run_segment(rung, configuration, fold, &mut history)?;
                Ok(history)
            },
            |done| self.observer.progress(Phase::Rung(rung), done, total),
            |job, history| {
                new.push(history);
                if new.len() == folds {
                    let trial = self.trial(configurations[job / folds], &new);
                    self.observer.trial(rung, &trial);
                    trials.push(trial);
                    all.push(std::mem::take(&mut new));
                }
            },
        )?;
        for (&configuration, new) in configurations.iter().zip(all) {
            histories[configuration] = new;
        }
        Ok(trials)
    }

    /// Extends the history of a configuration on a fold by its next segment, if there is one. An
    /// earlier run may have trained it.
    fn run_segment(
        &self,
        rung: usize,
        configuration: usize,
        fold: usize,
        history: &mut FoldHistory,
    ) -> Result<()> {
        let target = self.search.target(&self.rungs[rung]);
        let Some(mut segment) = history.next_segment(target, self.search.interrupt) else {
            return Ok(());
        };
        let job = Job::Rung {
            rung,
            configuration,
            fold,
        };
        let stored = match self.take(job) {
            Some(stored) => stored,
            None if self.search.is_interrupted() => return Ok(()),
            None => {
                let configuration = &self.search.configurations[configuration];
                let settings = &configuration.settings(&self.search.settings)?;
                let template = configuration.template;
                (self.data).with_training_set(template, fold, settings, |set| {
                    let place = (settings, segment.done);
                    segment.start = self.read_start(history.weights, set, place)?;
                    Ok(self.train(set, job, settings, segment)?.0)
                })?
            }
        };
        history.extend(stored.end, stored.last);
        Ok(())
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

impl StoredSegment {
    /// Makes its best weights, if they are kept, those of the best trial.
    fn set_best(&self, configuration: usize, best: &mut Option<BestTrial>) {
        if let (Some(new), Some(weights)) = (&self.end.best, self.best) {
            *best = Some(BestTrial {
                configuration,
                best: new.clone(),
                weights,
            });
        }
    }
}

/// Returns the configurations of the `count` best results, in ascending order.
fn best_of(trials: &[TrialResult], count: usize) -> Vec<usize> {
    let mut trials: Vec<&TrialResult> = trials.iter().collect();
    trials.sort_by(|a, b| a.compare(b));
    trials.truncate(count);
    let mut best: Vec<usize> = trials.iter().map(|trial| trial.number - 1).collect();
    best.sort_unstable();
    best
}
