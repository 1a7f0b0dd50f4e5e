//! A search in progress: warm starts, then the rungs of successive halving.

use std::sync::{Mutex, PoisonError};

use super::data::TuningData;
use super::fold_history::FoldHistory;
use super::observer::{Phase, RungResult, TuneObserver};
use super::pool::lock;
use super::resource_plan::ResourcePlan;
use super::schedule::Rung;
use super::search::Search;
use super::spill::{SpillFile, SpilledWeights};
use super::trial::TrialResult;
use super::warm_start::WarmStarts;
use crate::error::Result;
use crate::train::{BestWeights, Segment, SegmentEnd, TrainSettings};

/// A search in progress.
pub(super) struct SearchRun<'a> {
    search: &'a Search<'a>,
    data: &'a TuningData,
    plan: ResourcePlan,
    observer: &'a dyn TuneObserver,
    warm_starts: WarmStarts,
    settings: Vec<TrainSettings>,          // [configurations]
    warm_histories: Vec<Vec<FoldHistory>>, // [warm starts][folds]
    histories: Vec<Vec<FoldHistory>>,      // [configurations][folds]
    spill: SpillFile,
    best: Mutex<Option<BestTrial>>,
}

/// The best weights so far. With folds there are none: the weights of a fold are trained on a part
/// of the data only.
struct BestTrial {
    configuration: usize,
    weights: BestWeights,
}

/// A segment and the location of its last weights.
struct SuspendedSegment {
    end: SegmentEnd, // without weights
    weights: SpilledWeights,
}

impl<'a> SearchRun<'a> {
    /// Begins a search.
    ///
    /// # Errors
    ///
    /// A configuration is out of range; the temporary file cannot be created.
    pub fn new(
        search: &'a Search<'a>,
        data: &'a TuningData,
        warm_starts: WarmStarts,
        plan: ResourcePlan,
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
            settings: settings.collect::<Result<_>>()?,
            warm_histories: Vec::new(),
            histories: Vec::new(),
            spill: SpillFile::new()?,
            best: Mutex::new(None),
        })
    }

    /// Returns the warm starts and the best weights.
    pub fn finish(self) -> (WarmStarts, Option<BestWeights>) {
        let best = (self.best.into_inner()).unwrap_or_else(PoisonError::into_inner);
        (self.warm_starts, best.map(|best| best.weights))
    }

    /// Trains the weights that configurations start from.
    pub fn train_warm_starts(&mut self) -> Result<()> {
        let (paths, folds) = (&self.warm_starts.paths, self.data.folds());
        let total = paths.len() * folds;
        let results = self.plan.pool().run(
            total,
            |job| self.train_path(&paths[job / folds], job % folds),
            |done| self.observer.progress(Phase::WarmStart, done, total),
        )?;
        let starts = self.warm_starts.all.iter();
        let mut warm_histories: Vec<Vec<FoldHistory>> = starts.map(|_| Vec::new()).collect();
        for (job, histories) in results.into_iter().enumerate() {
            for (&start, history) in paths[job / folds].iter().zip(histories) {
                warm_histories[start].push(history);
            }
        }
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

    /// Trains the warm starts of a path on a fold.
    fn train_path(&self, path: &[usize], fold: usize) -> Result<Vec<FoldHistory>> {
        let template = path
            .first()
            .map_or(0, |&start| self.warm_starts.all[start].template);
        let base = &self.search.settings;
        self.data.with_training_set(template, fold, base, |set| {
            let mut histories = Vec::new();
            let mut theta = vec![0.0; set.space().dimension()];
            let mut recall_bias = 0.0;
            for (position, &start) in path.iter().enumerate() {
                let settings = self.warm_starts.all[start].settings(base)?;
                let limit = self.warm_starts.iterations_at(position);
                let segment = Segment::warm_up(theta, limit, recall_bias, self.search.interrupt);
                let mut end = set.run(&settings, segment)?;
                theta = end.theta.clone();
                if let Some(configuration) = self.configuration_without_noise(start) {
                    self.update_best(configuration, &mut end);
                }
                let mut history = FoldHistory::default();
                self.suspend(end, None)?.append_to(&mut history);
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

    /// Moves the best weights of a segment of a configuration into `self.best` if they are the best
    /// so far.
    fn update_best(&self, configuration: usize, end: &mut SegmentEnd) {
        let Some(new) = end.best.as_mut().filter(|_| !self.data.has_folds()) else {
            return;
        };
        let configurations = &self.search.configurations;
        let mut best = lock(&self.best);
        let is_better = best.as_ref().is_none_or(|best| {
            let order = (new.score.value()).total_cmp(&best.weights.score.value());
            let tie =
                configurations[configuration].compare_strength(&configurations[best.configuration]);
            best.configuration == configuration || order.reverse().then(tie).is_lt()
        });
        if is_better {
            let theta = std::mem::take(&mut new.theta);
            *best = Some(BestTrial {
                configuration,
                weights: BestWeights {
                    theta,
                    ..new.clone()
                },
            });
        }
    }

    /// Moves the last weights of a segment to the temporary file.
    fn suspend(
        &self,
        mut end: SegmentEnd,
        earlier: Option<SpilledWeights>,
    ) -> Result<SuspendedSegment> {
        let weights = self.spill.write(&end.theta, earlier)?;
        end.theta = Vec::new();
        if let Some(best) = &mut end.best {
            best.theta = Vec::new();
        }
        Ok(SuspendedSegment { end, weights })
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
            self.run_rung(number, rung, &survivors)?;
            self.warm_histories.clear();
            survivors.iter().for_each(|&c| rung_counts[c] += 1);
            let result = RungResult {
                rung: *rung,
                trials: survivors.iter().map(|&c| self.trial(c)).collect(),
            };
            self.observer.rung(&result);
            results.push(result);
        }
        let mut trials: Vec<TrialResult> = (0..self.histories.len())
            .map(|c| TrialResult {
                rungs: rung_counts[c],
                ..self.trial(c)
            })
            .collect();
        trials.sort_by(TrialResult::compare);
        Ok((trials, results))
    }

    /// Returns the `count` best of `configurations`, in ascending order.
    fn best_of(&self, configurations: &[usize], count: usize) -> Vec<usize> {
        let mut trials: Vec<TrialResult> = configurations.iter().map(|&c| self.trial(c)).collect();
        trials.sort_by(TrialResult::compare);
        trials.truncate(count);
        let mut best: Vec<usize> = trials.iter().map(|trial| trial.number - 1).collect();
        best.sort_unstable();
        best
    }

    fn run_rung(&mut self, number: usize, rung: &Rung, configurations: &[usize]) -> Result<()> {
        let folds = self.data.folds();
        let target = self.search.target(rung);
        let total = configurations.len() * folds;
        let this = &*self;
        let segments = this.plan.pool().run(
            total,
            |job| this.run_segment(configurations[job / folds], job % folds, target),
            |done| this.observer.progress(Phase::Rung(number), done, total),
        )?;
        for (job, segment) in segments.into_iter().enumerate() {
            if let Some(segment) = segment {
                segment.append_to(&mut self.histories[configurations[job / folds]][job % folds]);
            }
        }
        Ok(())
    }

    /// Runs the next segment of a configuration on a fold, if there is one.
    fn run_segment(
        &self,
        configuration: usize,
        fold: usize,
        target: Option<usize>,
    ) -> Result<Option<SuspendedSegment>> {
        let history = &self.histories[configuration][fold];
        let Some(segment) = history.next_segment(target, self.search.interrupt) else {
            return Ok(None);
        };
        if self.search.is_interrupted() {
            return Ok(None);
        }
        let start = history.weights.or_else(|| {
            let start = self.warm_starts.by_configuration[configuration];
            self.warm_histories[start][fold].weights
        });
        let start = start.map(|weights| self.spill.read(weights)).transpose()?;
        let segment = Segment {
            start: start.unwrap_or_default(),
            ..segment
        };
        let settings = &self.settings[configuration];
        let template = self.search.configurations[configuration].template;
        let mut end = (self.data)
            .with_training_set(template, fold, settings, |set| set.run(settings, segment))?;
        self.update_best(configuration, &mut end);
        self.suspend(end, history.weights).map(Some)
    }

    fn trial(&self, configuration: usize) -> TrialResult {
        TrialResult::new(
            configuration + 1,
            self.search.configurations[configuration],
            &self.histories[configuration],
            self.data.has_folds(),
        )
    }
}

impl SuspendedSegment {
    fn append_to(self, history: &mut FoldHistory) {
        history.extend(self.end, Some(self.weights));
    }
}
