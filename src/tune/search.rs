//! The course of a search.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::bases::{Bases, warm_up};
use super::course::{Course, Step};
use super::data::Data;
use super::memory::Plan;
use super::parked::Parked;
use super::pool::lock;
use super::refit::Refit;
use super::schedule::{Rung, Schedule};
use super::space::Configuration;
use super::standing::Standing;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::train::{BestWeights, Pruned, Segment, TrainOptions};

/// A search among configurations.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// What is not searched.
    pub options: TrainOptions,
    /// What is.
    pub configurations: Vec<Configuration>,
    /// How configurations are dropped.
    pub schedule: Schedule,
    /// Whether configurations begin with the weights of neighbors.
    pub warm_start: bool,
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of memory to use; none: most of what is free. Results do not depend on it.
    pub memory: Option<u64>,
    /// Ends the search when it is set; the best configuration so far is kept.
    pub interrupt: Option<&'a AtomicBool>,
}

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// All configurations, the best first.
    pub standings: Vec<Standing>,
    /// The rungs that were gone through.
    pub rungs: Vec<RungEnd>,
    /// The options of the best.
    pub options: TrainOptions,
    /// Its model.
    pub model: Model,
    /// What pruning did to it.
    pub pruned: Option<Pruned>,
    /// With folds: the iterations of the model on all data, those without noise included.
    pub refitted: Option<usize>,
    /// Whether the search was ended early.
    pub interrupted: bool,
}

/// The end of a rung.
#[derive(Clone, Debug, PartialEq)]
pub struct RungEnd {
    /// The rung.
    pub rung: Rung,
    /// The configurations that took part, in their order.
    pub standings: Vec<Standing>,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Training without noise, where configurations begin.
    Beginnings,
    /// The rung of this number, from 0.
    Rung(usize),
    /// Training the best configuration on all data, for so many iterations.
    Refit(usize),
}

/// Is told how a search goes, by several threads.
pub trait Observer: Sync {
    /// Before the first training.
    fn start(&self, _plan: &Plan, _rungs: &[Rung]) {}
    /// So many trainings of a stage are done.
    fn progress(&self, _stage: Stage, _done: usize, _of: usize) {}
    /// A rung is done.
    fn rung(&self, _end: &RungEnd) {}
}

/// The best weights so far, and the configuration that they are of.
struct Champion(Mutex<Option<(usize, BestWeights)>>);

impl Search<'_> {
    /// Trains all configurations as far as they deserve, and makes a model with the best.
    ///
    /// # Errors
    ///
    /// Options without meaning; no configurations, or one with a template that `data` do not have; too
    /// little memory; an objective that is not finite where training begins; nothing that was scored, as
    /// training was interrupted or begins at its minimum.
    pub fn run(&self, data: Data, observer: &dyn Observer) -> Result<Found> {
        self.check(&data)?;
        let bases = Bases::new(&self.configurations, &self.options, self.warm_start);
        let plan = Plan::new(
            &data,
            &self.configurations,
            bases.all.len(),
            &self.options,
            self.threads,
            self.memory,
        )?;
        let rungs = self.schedule.rungs(self.configurations.len());
        observer.start(&plan, &rungs);
        let mut running = Running {
            search: self,
            data: &data,
            bases,
            plan,
            champion: Champion(Mutex::new(None)),
            observer,
            begun: Vec::new(),
            courses: Vec::new(),
        };
        running.begin()?;
        let (standings, rungs) = running.climb(&rungs)?;
        let Running {
            bases, champion, ..
        } = running;
        let mut interrupted = self.is_interrupted();
        let Some(best) = standings.first().filter(|best| best.score.is_some()) else {
            return Err(Error::parameter(match interrupted {
                true => {
                    "interrupted before any configuration was scored: there is no model to write"
                }
                false => {
                    "no configuration made an iteration: training begins at the minimum; expected \
                     weaker penalties, or a corpus with more than one label"
                }
            }));
        };
        let options = best.configuration.options(&self.options);
        let champion = champion
            .0
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let has_folds = data.has_folds();
        let material = data.into_training_set(best.configuration.template, &options);
        let (mut theta, recall_bias, refitted) = match champion {
            Some((_, weights)) if !has_folds => (weights.theta, weights.recall_bias, None),
            _ => {
                observer.progress(Stage::Refit(best.best_iteration), 0, 1);
                // An interrupt that ended the search does not end this.
                let search = Search {
                    interrupt: self.interrupt.filter(|_| !interrupted),
                    ..self.clone()
                };
                let refit = Refit {
                    search: &search,
                    bases: &bases,
                    material: &material,
                    number: best.number - 1,
                };
                let (theta, iterations) = refit.run(best.counted)?;
                interrupted = self.is_interrupted();
                (theta, best.recall_bias, Some(iterations))
            }
        };
        let pruned = material.prune(&options, &mut theta, recall_bias)?;
        Ok(Found {
            model: material.model(&options, &theta, recall_bias)?,
            standings,
            rungs,
            options,
            pruned,
            refitted,
            interrupted,
        })
    }

    fn check(&self, data: &Data) -> Result<()> {
        if self.configurations.is_empty() {
            return Err(Error::parameter("there are no configurations to search"));
        }
        for configuration in &self.configurations {
            configuration.options(&self.options).check()?;
            if configuration.template >= data.templates() {
                return Err(Error::parameter(format!(
                    "template {}; expected a number below {}",
                    configuration.template,
                    data.templates()
                )));
            }
        }
        if self.most() == Some(0) {
            return Err(Error::parameter(
                "no iterations are left after those without noise; expected more",
            ));
        }
        Ok(())
    }

    /// The most iterations of a configuration that halving counts.
    pub(super) fn most(&self) -> Option<usize> {
        let max = self.options.max_iterations?;
        Some(max.saturating_sub(warm_up(&self.options)))
    }

    /// Iterations at the end of a rung.
    pub(super) fn target(&self, rung: &Rung) -> Option<usize> {
        [rung.iterations, self.most()].into_iter().flatten().min()
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupt
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// A search that goes on.
struct Running<'a> {
    search: &'a Search<'a>,
    data: &'a Data,
    bases: Bases,
    plan: Plan,
    champion: Champion,
    observer: &'a dyn Observer,
    begun: Vec<Vec<Course>>,   // [bases][folds]
    courses: Vec<Vec<Course>>, // [configurations][folds]
}

impl Running<'_> {
    /// Trains the weights that configurations begin with.
    fn begin(&mut self) -> Result<()> {
        let (paths, folds) = (&self.bases.paths, self.data.folds());
        let count = paths.len() * folds;
        let done = self.plan.pool().run(
            count,
            |job| self.walk(&paths[job / folds], job % folds),
            |done| self.observer.progress(Stage::Beginnings, done, count),
        )?;
        let mut begun: Vec<Vec<Course>> = self.bases.all.iter().map(|_| Vec::new()).collect();
        for (job, courses) in done.into_iter().enumerate() {
            for (&base, course) in paths[job / folds].iter().zip(courses) {
                begun[base].push(course);
            }
        }
        let courses = self.search.configurations.iter().zip(&self.bases.of);
        self.courses = courses
            .map(|(configuration, &base)| {
                let begun = begun[base].iter();
                begun
                    .map(|begun| Course::from_base(begun, configuration.has_noise()))
                    .collect()
            })
            .collect();
        self.begun = begun;
        Ok(())
    }

    /// Trains the bases of a path on a fold.
    fn walk(&self, path: &[usize], fold: usize) -> Result<Vec<Course>> {
        let template = path
            .first()
            .map_or(0, |&base| self.bases.all[base].template);
        self.data
            .with(template, fold, &self.search.options, |material| {
                let mut courses = Vec::new();
                let mut theta = vec![0.0; material.space().dimension()];
                let mut recall_bias = 0.0;
                for (place, &base) in path.iter().enumerate() {
                    let options = self.bases.all[base].options(&self.search.options);
                    let limit = self.bases.iterations_at(place);
                    let leg = Segment::warm_up(theta, limit, recall_bias, self.search.interrupt);
                    let end = material.run(&options, leg)?;
                    let step =
                        Step::new(end, self.plan.in_files, |best| self.offer_of(base, best))?;
                    theta = step.copy()?;
                    let mut course = Course::new();
                    course.go_on(step);
                    recall_bias = course.recall_bias;
                    courses.push(course);
                }
                Ok(courses)
            })
    }

    /// Offers the best weights of a base as those of the configuration that has no noise, if there is one.
    fn offer_of(&self, base: usize, best: BestWeights) {
        let mut configurations = self.search.configurations.iter().zip(&self.bases.of);
        let without = configurations.position(|(c, &own)| own == base && !c.has_noise());
        if let Some(number) = without {
            self.offer(number, best);
        }
    }

    /// Keeps the weights of a configuration if they are the best so far.
    fn offer(&self, number: usize, best: BestWeights) {
        if self.data.has_folds() {
            return; // they know only a part of the data
        }
        let configurations = &self.search.configurations;
        let mut champion = lock(&self.champion.0);
        let is_better = champion.as_ref().is_none_or(|(other, champion)| {
            let order = (best.score.value()).total_cmp(&champion.score.value());
            let of_equals = configurations[number].by_strength(&configurations[*other]);
            *other == number || order.reverse().then(of_equals).is_lt()
        });
        if is_better {
            *champion = Some((number, best));
        }
    }

    /// Goes through the rungs; gives all standings, the best first.
    fn climb(&mut self, rungs: &[Rung]) -> Result<(Vec<Standing>, Vec<RungEnd>)> {
        let mut alive: Vec<usize> = (0..self.courses.len()).collect();
        let mut took_part = vec![0; alive.len()];
        let mut ends = Vec::new();
        for (number, rung) in rungs.iter().enumerate() {
            if number > 0 {
                let mut standings: Vec<Standing> =
                    alive.iter().map(|&c| self.standing(c)).collect();
                standings.sort_by(Standing::compare);
                standings.truncate(rung.configurations);
                let kept: Vec<usize> = standings.iter().map(|s| s.number - 1).collect();
                for &c in alive.iter().filter(|c| !kept.contains(c)) {
                    self.courses[c]
                        .iter_mut()
                        .for_each(|course| course.parked = None);
                }
                alive.retain(|c| kept.contains(c));
            }
            if self.search.is_interrupted() {
                break;
            }
            self.climb_one(number, rung, &alive)?;
            self.begun.clear();
            alive.iter().for_each(|&c| took_part[c] += 1);
            let end = RungEnd {
                rung: *rung,
                standings: alive.iter().map(|&c| self.standing(c)).collect(),
            };
            self.observer.rung(&end);
            ends.push(end);
        }
        let mut standings: Vec<Standing> = (0..self.courses.len())
            .map(|c| Standing {
                rungs: took_part[c],
                ..self.standing(c)
            })
            .collect();
        standings.sort_by(Standing::compare);
        Ok((standings, ends))
    }

    /// Runs a rung.
    fn climb_one(&mut self, number: usize, rung: &Rung, alive: &[usize]) -> Result<()> {
        let folds = self.data.folds();
        let target = self.search.target(rung);
        let count = alive.len() * folds;
        let this = &*self;
        let steps = this.plan.pool().run(
            count,
            |job| this.step(alive[job / folds], job % folds, target),
            |done| this.observer.progress(Stage::Rung(number), done, count),
        )?;
        for (job, step) in steps.into_iter().enumerate() {
            if let Some(step) = step {
                self.courses[alive[job / folds]][job % folds].go_on(step);
            }
        }
        Ok(())
    }

    /// The next leg of a configuration on a fold.
    fn step(&self, number: usize, fold: usize, target: Option<usize>) -> Result<Option<Step>> {
        let course = &self.courses[number][fold];
        let Some(leg) = course.leg(target, self.search.interrupt) else {
            return Ok(None);
        };
        if self.search.is_interrupted() {
            return Ok(None);
        }
        let configuration = &self.search.configurations[number];
        let options = configuration.options(&self.search.options);
        let parked = match &course.parked {
            Some(parked) => Some(parked),
            None => self.begun[self.bases.of[number]][fold].parked.as_ref(),
        };
        let start = parked.map(Parked::copy).transpose()?.unwrap_or_default();
        let end = self
            .data
            .with(configuration.template, fold, &options, |material| {
                material.run(&options, Segment { start, ..leg })
            })?;
        Step::new(end, self.plan.in_files, |best| self.offer(number, best)).map(Some)
    }

    fn standing(&self, number: usize) -> Standing {
        let configuration = self.search.configurations[number];
        let (courses, has_folds) = (&self.courses[number], self.data.has_folds());
        Standing::new(number + 1, configuration, courses, has_folds)
    }
}
