//! The best configuration, once more, on all data.

use std::sync::atomic::{AtomicBool, Ordering};

use super::bases::Bases;
use super::course::{Course, Step};
use super::search::Search;
use crate::error::Result;
use crate::train::{Leg, Material};

/// A training like that of the folds: along the same path, in the same legs.
pub(super) struct Refit<'a> {
    pub search: &'a Search<'a>,
    pub bases: &'a Bases,
    pub material: &'a Material,
    /// Which configuration.
    pub number: usize,
    /// What ends it; none after an interrupt that ended the search, which does not end this.
    pub interrupt: Option<&'a AtomicBool>,
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
            let end = self.material.run(
                &options,
                Leg {
                    start: theta,
                    is_warm_up: true,
                    ..self.leg(limit, 0)
                },
            )?;
            let step = Step::new(end, false, drop)?;
            theta = step.copy()?;
            begun.go_on(step);
            if self.is_interrupted() {
                return Ok((theta, begun.done));
            }
        }
        let mut course = Course::from_base(&begun, has_noise);
        let options = configuration.options(&self.search.options);
        for rung in self.search.schedule.rungs(self.search.configurations.len()) {
            let all = iterations.saturating_sub(course.given);
            let target = self.search.target(&rung).unwrap_or(all).min(all);
            let Some(leg) = course.leg(Some(target), self.interrupt) else {
                continue;
            };
            let end = self.material.run(
                &options,
                Leg {
                    start: theta,
                    ..leg
                },
            )?;
            let step = Step::new(end, false, drop)?;
            theta = step.copy()?;
            course.go_on(step);
            if self.is_interrupted() {
                break;
            }
        }
        Ok((theta, course.warm_up + course.done))
    }

    fn leg(&self, limit: usize, done: usize) -> Leg<'_> {
        Leg {
            start: Vec::new(),
            done,
            limit: Some(limit),
            is_warm_up: false,
            best: None,
            recall_bias: 0.0,
            interrupt: self.interrupt,
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
