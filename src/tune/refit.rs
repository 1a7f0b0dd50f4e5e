//! The best configuration, once more, on all data.

use super::bases::Bases;
use super::course::{Course, Step};
use super::search::Search;
use crate::error::Result;
use crate::train::{Segment, TrainingSet};

/// A training like that of the folds: along the same path, in the same legs.
pub(super) struct Refit<'a> {
    pub search: &'a Search<'a>,
    pub bases: &'a Bases,
    pub material: &'a TrainingSet,
    /// Which configuration.
    pub number: usize,
}

impl Refit<'_> {
    /// The weights after so many iterations, as [`Course`] counts them, and how many were made in all.
    pub fn run(&self, iterations: usize) -> Result<(Vec<f64>, usize)> {
        let configuration = &self.search.configurations[self.number];
        let has_noise = configuration.has_noise();
        let mut theta = vec![0.0; self.material.space().dimension()];
        let way = self.bases.way_to(self.bases.of[self.number]);
        let mut begun = Course::new();
        for (place, &base) in way.iter().enumerate() {
            let mut limit = self.bases.iterations_at(place);
            if place + 1 == way.len() && !has_noise {
                limit = limit.min(iterations);
            }
            begun = Course::new();
            let options = self.bases.all[base].options(&self.search.options);
            let leg = Segment::warm_up(theta, limit, 0.0, self.search.interrupt);
            let end = self.material.run(&options, leg)?;
            let step = Step::new(end, false, drop)?;
            theta = step.copy()?;
            begun.go_on(step);
            if self.search.is_interrupted() {
                return Ok((theta, begun.done));
            }
        }
        let mut course = Course::from_base(&begun, has_noise);
        let options = configuration.options(&self.search.options);
        for rung in self.search.schedule.rungs(self.search.configurations.len()) {
            let all = iterations.saturating_sub(course.given);
            let target = self.search.target(&rung).unwrap_or(all).min(all);
            let Some(leg) = course.leg(Some(target), self.search.interrupt) else {
                continue;
            };
            let end = self.material.run(
                &options,
                Segment {
                    start: theta,
                    ..leg
                },
            )?;
            let step = Step::new(end, false, drop)?;
            theta = step.copy()?;
            course.go_on(step);
            if self.search.is_interrupted() {
                break;
            }
        }
        Ok((theta, course.warm_up + course.done))
    }
}
