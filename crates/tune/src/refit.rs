//! Retraining the best configuration on all data.

use super::fold_history::FoldHistory;
use super::search::Search;
use super::segment_store::{Job, Keep, SegmentStore};
use super::warm_start::WarmStarts;
use dropchain::error::Result;
use dropchain::train::{Segment, SegmentEnd, TrainSettings, TrainingSet};

/// Trains a configuration on all data as on the folds: along the same path, in the same segments.
pub(super) struct Refit<'a> {
    pub search: &'a Search<'a>,
    pub warm_starts: &'a WarmStarts,
    pub set: &'a TrainingSet,
    /// Index of the configuration.
    pub configuration: usize,
    /// The checkpoint, if there is one.
    pub store: Option<&'a SegmentStore>,
}

impl Refit<'_> {
    /// Trains for `iterations` iterations, as [`FoldHistory`] counts them. Returns the weights and
    /// the number of iterations, including the warm-up.
    pub fn run(&self, iterations: usize) -> Result<(Vec<f64>, usize)> {
        let (mut theta, start) = self.warm_start(iterations)?;
        if self.search.is_interrupted() {
            return Ok((theta, start.done));
        }
        let configuration = &self.search.configurations[self.configuration];
        let mut history = FoldHistory::from_warm_start(&start, configuration.has_noise());
        let settings = configuration.settings(&self.search.settings)?;
        let rungs = (self.search.schedule).rungs(self.search.configurations.len());
        for (number, rung) in rungs.iter().enumerate() {
            let all = iterations.saturating_sub(history.uncounted);
            let target = self.search.target(rung).unwrap_or(all).min(all);
            let Some(segment) = history.next_segment(Some(target), self.search.interrupt) else {
                continue;
            };
            let segment = Segment {
                start: theta,
                ..segment
            };
            let mut end = self.train(Job::Refit { rung: number }, &settings, segment)?;
            theta = std::mem::take(&mut end.theta);
            history.extend(end, None);
            if self.search.is_interrupted() {
                break;
            }
        }
        let theta = self
            .search
            .trainer
            .weights(self.set, &settings, history.done, theta)?;
        Ok((theta, history.warm_up + history.done))
    }

    /// Trains the warm starts of the path of the configuration. Returns the last weights and the
    /// history of the last one.
    fn warm_start(&self, iterations: usize) -> Result<(Vec<f64>, FoldHistory)> {
        let has_noise = self.search.configurations[self.configuration].has_noise();
        let start = self.warm_starts.by_configuration[self.configuration];
        let path = self.warm_starts.path_to(start);
        let mut theta = self.search.trainer.start(self.set);
        let mut history = FoldHistory::default();
        for (position, &start) in path.iter().enumerate() {
            let mut limit = self.warm_starts.iterations_at(start, position);
            if position + 1 == path.len() && !has_noise {
                limit = limit.min(iterations);
            }
            let settings = self.warm_starts.all[start].settings(&self.search.settings)?;
            let segment =
                Segment::warm_up(theta, limit, self.set.recall_bias(), self.search.interrupt);
            let mut end = self.train(Job::RefitWarmStart { start }, &settings, segment)?;
            theta = std::mem::take(&mut end.theta);
            history = FoldHistory::default();
            history.extend(end, None);
            if self.search.is_interrupted() {
                break;
            }
        }
        Ok((theta, history))
    }

    /// Trains a segment, or takes it from an earlier run.
    fn train(
        &self,
        job: Job,
        settings: &TrainSettings,
        segment: Segment<'_>,
    ) -> Result<SegmentEnd> {
        let trainer = self.search.trainer;
        let Some(store) = self.store else {
            return trainer.run(self.set, settings, segment);
        };
        if let Some(stored) = store.take(job) {
            let done = stored.end.done;
            let theta = store.read_start(stored.last, trainer, self.set, (settings, done))?;
            return Ok(SegmentEnd {
                theta,
                ..stored.end
            });
        }
        let end = trainer.run(self.set, settings, segment)?;
        let keep = Keep {
            last: true,
            best: false,
        };
        store.add(job, &end, keep)?;
        Ok(end)
    }
}
