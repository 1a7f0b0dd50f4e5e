//! A search in progress: warm starts, then the rungs of successive halving, and the training of the
//! best configuration on all data.

use std::sync::Mutex;

use super::checkpoint::{Fold, Job, SegmentStore, StoredSegment, StoredWeights};
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
    pub data: SearchData<'a>,
    /// Number of folds; `None`: scores are those of development data.
    pub folds: Option<usize>,
    pub pool: Pool,
    pub rungs: &'a [Rung],
    pub observer: &'a dyn TuneObserver,
    pub warm_starts: &'a WarmStarts,
    pub store: &'a SegmentStore<'a>,
    /// Whether a search that resumes would train the same segments again.
    pub is_kept: bool,
    /// The best weights so far.
    pub best: Mutex<Option<BestTrial>>,
}

/// What a search trains on.
#[derive(Clone, Copy)]
pub(super) enum SearchData<'a> {
    /// With development data or folds.
    Scored(&'a TuningData),
    /// All labeled sentences.
    All(&'a TrainingSet),
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
    /// Takes the best weights.
    pub fn best_weights(&self) -> Result<Option<BestWeights>> {
        let best = lock(&self.best).take();
        let read = |trial: BestTrial| {
            let theta = self.store.read(trial.weights)?;
            Ok(BestWeights { theta, ..trial.best })
        };
        best.map(read).transpose()
    }

    /// Trains the weights that configurations start from.
    fn train_warm_starts(&self) -> Result<Histories> {
        let (paths, folds) = (&self.warm_starts.paths, self.folds.unwrap_or(1));
        let total = paths.len() * folds;
        let mut starts: Histories = vec![Vec::new(); self.warm_starts.all.len()];
        self.pool.run(
            total,
            |job| self.train_path(&paths[job / folds], Some(job % folds), usize::MAX),
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
    /// run has trained; the last one for at most `most` iterations.
    fn train_path(&self, path: &[usize], fold: Fold, most: usize) -> Result<Vec<FoldHistory>> {
        let mut histories: Vec<FoldHistory> = Vec::new();
        let push = |histories: &mut Vec<FoldHistory>, stored: StoredSegment| {
            let mut history = FoldHistory::default();
            history.extend(stored.end, stored.last);
            histories.push(history);
        };
        for &start in path {
            let Some(stored) = self.take(Job::WarmStart { start, fold }) else {
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
        self.with_training_set(template, fold, base, |set| {
            let weights = histories.last().and_then(|last| last.weights);
            let mut theta = self.read_start(weights, set, (base, 0))?;
            for (position, &start) in path.iter().enumerate().skip(first) {
                let job = Job::WarmStart { start, fold };
                let settings = self.warm_starts.all[start].settings(base)?;
                let mut limit = self.warm_starts.iterations_at(start, position);
                if position + 1 == path.len() {
                    limit = limit.min(most);
                }
                let last = histories.last();
                let recall_bias = last.map_or(set.recall_bias(), |last| last.recall_bias);
                let segment = Segment::warm_up(theta, limit, recall_bias, self.search.interrupt);
                let (stored, last) = self.train(set, job, &settings, segment)?;
                theta = last;
                push(&mut histories, stored);
                if fold.is_none() && self.search.is_interrupted() {
                    break;
                }
            }
            Ok(histories)
        })
    }

    /// Calls `work` with the training set of a fold.
    fn with_training_set<T>(
        &self,
        template: usize,
        fold: Fold,
        settings: &TrainSettings,
        work: impl FnOnce(&TrainingSet) -> Result<T>,
    ) -> Result<T> {
        match self.data {
            SearchData::All(set) => work(set),
            SearchData::Scored(data) => {
                data.with_training_set(template, fold.unwrap_or(0), settings, work)
            }
        }
    }

    /// Trains a segment and stores it. Returns it with its last weights.
    fn train(
        &self,
        set: &TrainingSet,
        job: Job,
        settings: &TrainSettings,
        segment: Segment<'_>,
    ) -> Result<(StoredSegment, Vec<f64>)> {
        let is_kept = self.is_kept && !self.search.is_interrupted();
        let mut end = segment.run(set, settings)?;
        let is_continued = match job {
            Job::Rung { rung, fold: Some(_), .. } => {
                end.reason.is_none() && rung + 1 < self.rungs.len()
            }
            _ => true,
        };
        let theta = match is_continued {
            true => end.theta.clone(),
            false => std::mem::take(&mut end.theta),
        };
        // The best weights of a checkpoint must be those of its lines, in their order.
        let mut best = lock(&self.best);
        let better = self.better(best.as_ref(), job, end.best.as_ref());
        if let SearchData::All(_) = self.data {
            end.best = None;
        } else if let (None, Some(worse)) = (better, &mut end.best) {
            worse.theta = Vec::new();
        }
        let stored = self.store.add(is_kept.then_some(job), end)?;
        if let Some(better) = better {
            stored.set_best(better, &mut best);
        }
        Ok((stored, theta))
    }

    /// Takes a segment of an earlier run, whose best weights may be the best so far.
    fn take(&self, job: Job) -> Option<StoredSegment> {
        let stored = self.is_kept.then(|| self.store.take(job))??;
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
        let new = new.filter(|_| self.folds.is_none())?;
        let configurations = &self.search.configurations;
        // The scores of a warm start count for the configuration without noise that continues it.
        let own = match job {
            Job::Rung { configuration, .. } => configuration,
            Job::WarmStart { start, .. } => (configurations.iter())
                .zip(&self.warm_starts.by_configuration)
                .position(|(c, &own)| own == start && !c.has_noise())?,
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
        let trials =
            trials.map(|(c, (histories, rungs))| TrialResult { rungs, ..self.trial(c, histories) });
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
        let folds = self.folds.unwrap_or(1);
        let total = configurations.len() * folds;
        let (mut all, mut trials) = (Vec::new(), Vec::new());
        let (mut new, earlier) = (Vec::new(), &*histories);
        self.pool.run(
            total,
            |job| {
                let (configuration, fold) = (configurations[job / folds], job % folds);
                let mut history = earlier[configuration][fold].clone();
                let target = self.search.target(&self.rungs[rung]);
                let job = Job::Rung { rung, configuration, fold: Some(fold) };
                self.run_segment(job, target, &mut history)?;
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

    /// Extends the history of a configuration on a fold by a segment of a rung, up to the target,
    /// if there is one. An earlier run may have trained it.
    fn run_segment(
        &self,
        job: Job,
        target: Option<usize>,
        history: &mut FoldHistory,
    ) -> Result<()> {
        let next = history.next_segment(target, self.search.interrupt);
        let (Job::Rung { configuration, fold, .. }, Some(mut segment)) = (job, next) else {
            return Ok(());
        };
        let stored = match self.take(job) {
            Some(stored) => stored,
            None if self.search.is_interrupted() => return Ok(()),
            None => {
                let configuration = &self.search.configurations[configuration];
                let settings = &configuration.settings(&self.search.settings)?;
                let template = configuration.template;
                self.with_training_set(template, fold, settings, |set| {
                    let place = (settings, segment.done);
                    segment.start = self.read_start(history.weights, set, place)?;
                    Ok(self.train(set, job, settings, segment)?.0)
                })?
            }
        };
        history.extend(stored.end, stored.last);
        Ok(())
    }

    /// Trains a configuration on all data as on the folds, along the same path and in the same
    /// segments, for `iterations` iterations, as [`FoldHistory`] counts them. Returns the weights
    /// and the number of iterations, including the warm-up.
    pub fn refit(&self, configuration: usize, iterations: usize) -> Result<(Vec<f64>, usize)> {
        let search = self.search;
        let chosen = &search.configurations[configuration];
        let (settings, has_noise) = (chosen.settings(&search.settings)?, chosen.has_noise());
        let path = (self.warm_starts).path_to(self.warm_starts.by_configuration[configuration]);
        let most = if has_noise { usize::MAX } else { iterations };
        let start = self.train_path(path, None, most)?.pop().unwrap_or_default();
        let mut history = FoldHistory::from_warm_start(&start, has_noise);
        let all = iterations.saturating_sub(history.uncounted);
        for (rung, next) in self.rungs.iter().enumerate() {
            let target = search.target(next).unwrap_or(all).min(all);
            let job = Job::Rung { rung, configuration, fold: None };
            self.run_segment(job, Some(target), &mut history)?;
        }
        self.with_training_set(chosen.template, None, &settings, |set| {
            let theta = self.read_start(history.weights, set, (&settings, history.done))?;
            let theta = settings.weights(set, history.done, theta)?;
            Ok((theta, history.warm_up + history.done))
        })
    }

    fn read_start(
        &self,
        weights: Option<StoredWeights>,
        set: &TrainingSet,
        progress: (&TrainSettings, usize),
    ) -> Result<Vec<f64>> {
        self.store.read_start(weights, set, progress)
    }

    fn trial(&self, configuration: usize, histories: &[FoldHistory]) -> TrialResult {
        TrialResult::new(
            configuration + 1,
            self.search.configurations[configuration],
            histories,
            self.folds.is_some(),
        )
    }
}

impl StoredSegment {
    /// Makes its best weights, if they are kept, those of the best trial.
    fn set_best(&self, configuration: usize, best: &mut Option<BestTrial>) {
        if let (Some(new), Some(weights)) = (&self.end.best, self.best) {
            *best = Some(BestTrial { configuration, best: new.clone(), weights });
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
