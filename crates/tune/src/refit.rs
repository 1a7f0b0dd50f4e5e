//! Retraining the best configuration on all data.

use super::checkpoint::{Job, SegmentStore};
use super::fold_history::FoldHistory;
use super::search::Search;
use super::warm_start::WarmStarts;
use dropchain::error::Result;
use dropchain::train::{Segment, TrainSettings, TrainingSet};

/// Trains a configuration on all data as on the folds: along the same path, in the same segments.
pub(super) struct Refit<'a> {
    pub search: &'a Search<'a>,
    pub warm_starts: &'a WarmStarts,
    pub set: &'a TrainingSet,
    /// Index of the configuration.
    pub configuration: usize,
    /// Where finished segments are kept, if a search that resumes would train them again.
    pub store: Option<&'a SegmentStore<'a>>,
}

impl Refit<'_> {
    /// Trains for `iterations` iterations, as [`FoldHistory`] counts them. Returns the weights and
    /// the number of iterations, including the warm-up.
    pub fn run(&self, iterations: usize) -> Result<(Vec<f64>, usize)> {
        let (search, interrupt) = (self.search, self.search.interrupt);
        let configuration = &search.configurations[self.configuration];
        let start = self.warm_starts.by_configuration[self.configuration];
        let path = self.warm_starts.path_to(start);
        let mut theta = search.trainer.start(self.set);
        let mut history = FoldHistory::default();
        for (position, &start) in path.iter().enumerate() {
            let mut limit = self.warm_starts.iterations_at(start, position);
            if position + 1 == path.len() && !configuration.has_noise() {
                limit = limit.min(iterations);
            }
            let settings = self.warm_starts.all[start].settings(&search.settings)?;
            let segment = Segment::warm_up(theta, limit, self.set.recall_bias(), interrupt);
            history = FoldHistory::default();
            theta = self.train(
                Job::RefitWarmStart { start },
                &settings,
                segment,
                &mut history,
            )?;
            if search.is_interrupted() {
                return Ok((theta, history.done));
            }
        }
        let mut history = FoldHistory::from_warm_start(&history, configuration.has_noise());
        let settings = configuration.settings(&search.settings)?;
        let rungs = search.schedule.rungs(search.configurations.len());
        for (rung, next) in rungs.iter().enumerate() {
            let all = iterations.saturating_sub(history.uncounted);
            let target = search.target(next).unwrap_or(all).min(all);
            let Some(mut segment) = history.next_segment(Some(target), interrupt) else {
                continue;
            };
            segment.start = theta;
            theta = self.train(Job::Refit { rung }, &settings, segment, &mut history)?;
            if search.is_interrupted() {
                break;
            }
        }
        let theta = self
            .search
            .trainer
            .weights(self.set, &settings, history.done, theta)?;
        Ok((theta, history.warm_up + history.done))
    }

    /// Trains a segment, or takes it from an earlier run. Returns its last weights.
    fn train(
        &self,
        job: Job,
        settings: &TrainSettings,
        segment: Segment<'_>,
        history: &mut FoldHistory,
    ) -> Result<Vec<f64>> {
        let trainer = self.search.trainer;
        let stored = self.store.and_then(|store| Some((store, store.take(job)?)));
        if let Some((store, stored)) = stored {
            let theta =
                store.read_start(stored.last, trainer, self.set, (settings, stored.end.done))?;
            history.extend(stored.end, None);
            return Ok(theta);
        }
        let mut end = trainer.run(self.set, settings, segment)?;
        end.best = None;
        let theta = end.theta.clone();
        if let Some(store) = self.store {
            end = store.add(Some(job), end)?.end;
        }
        history.extend(end, None);
        Ok(theta)
    }
}
