//! The schedule of training: a list of stages, made once from the options.
//!
//! | training | stages |
//! |---|---|
//! | without noise | likelihood |
//! | with noise | likelihood, the warm-up, never stopped early; likelihood with noise |
//! | after a warm start | passes of stochastic updates, never stopped early; then as above |
//! | by updates of single sentences | one stage, of which early stopping spares the warm-up |
//!
//! A stage starts from the weights of the one before it. A stage that converges ends before its
//! length, and the iterations that it leaves belong to those that follow.

use serde::{Deserialize, Serialize};

/// The objective of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StageObjective {
    /// The penalized likelihood, by passes of stochastic updates: a warm start of L-BFGS.
    Passes,
    /// The objective without its noise term.
    WithoutNoise,
    /// The objective with its noise term.
    WithNoise,
}

/// A stage of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Its objective.
    pub objective: StageObjective,
    /// Maximum number of its iterations; `None`: until it converges.
    pub limit: Option<usize>,
    /// Early stopping: the number of its iterations before those that count as patience. `None`: it
    /// does not stop early.
    pub stops_after: Option<usize>,
}

impl Stage {
    /// A stage of fixed length, which does not stop early.
    pub fn fixed(objective: StageObjective, limit: usize) -> Self {
        Self { objective, limit: Some(limit), stops_after: None }
    }

    /// A stage until convergence or early stopping.
    pub fn last(objective: StageObjective) -> Self {
        Self { objective, limit: None, stops_after: Some(0) }
    }
}

/// The stages of a training run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    stages: Vec<Stage>,
    /// Maximum number of iterations in all stages; `None`: until convergence.
    pub max_iterations: Option<usize>,
}

/// Where a training run is in its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The stage, from 0.
    pub stage: usize,
    /// Number of iterations of the stages before it.
    pub iterations_before: usize,
    /// Number of evaluations of the stages before it.
    pub evaluations_before: usize,
    /// Number of iterations so far.
    pub iterations: usize,
}

impl Schedule {
    /// One stage.
    pub fn single(stage: Stage, max_iterations: Option<usize>) -> Self {
        Self { stages: vec![stage], max_iterations }
    }

    /// Iterations with noise after `warm_up` iterations without; `None`: without noise.
    pub fn of_noise(warm_up: Option<usize>, max_iterations: Option<usize>) -> Self {
        let last = match warm_up {
            Some(_) => StageObjective::WithNoise,
            None => StageObjective::WithoutNoise,
        };
        let schedule = Self::single(Stage::last(last), max_iterations);
        match warm_up {
            None | Some(0) => schedule,
            Some(n) => schedule.after(Stage::fixed(StageObjective::WithoutNoise, n)),
        }
    }

    /// Puts a stage before all others.
    #[must_use]
    pub fn after(mut self, first: Stage) -> Self {
        self.stages.insert(0, first);
        self
    }

    /// Returns the number of iterations without noise before those with it, passes excluded.
    pub fn warm_up(&self) -> usize {
        let noisy = |stage: &&Stage| stage.objective == StageObjective::WithNoise;
        let Some(last) = self.stages.iter().find(noisy) else {
            return 0;
        };
        let plain = self.stages.iter().filter(|s| s.objective == StageObjective::WithoutNoise);
        plain.filter_map(|stage| stage.limit).sum::<usize>() + last.stops_after.unwrap_or(0)
    }

    /// Returns the stage of a run, limited to the iterations that are left; `None` after the last.
    pub(super) fn stage(&self, progress: &Progress) -> Option<Stage> {
        let stage = *self.stages.get(progress.stage)?;
        let left = self.max_iterations.map(|max| max.saturating_sub(progress.iterations_before));
        let limit = stage.limit.into_iter().chain(left).min();
        Some(Stage { limit, ..stage })
    }

    /// Moves on to the stage that follows, after so many iterations and evaluations of this one.
    /// Returns `None` if training has ended: it was the last one, or no iterations are left.
    pub(super) fn advance(
        &self,
        progress: &mut Progress,
        iterations: usize,
        evaluations: usize,
    ) -> Option<Stage> {
        let before = progress.iterations_before.saturating_add(iterations);
        if self.max_iterations.is_some_and(|max| before == max) {
            return None;
        }
        let next = Progress {
            stage: progress.stage + 1,
            iterations_before: before,
            evaluations_before: progress.evaluations_before.saturating_add(evaluations),
            iterations: before,
        };
        let stage = self.stage(&next)?;
        *progress = next;
        Some(stage)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Runs a schedule whose stages converge after these numbers of iterations, starting over from
    /// a copy of the state after `pause` iterations. Returns the stage of each iteration.
    fn run(schedule: &Schedule, converges: &[usize], pause: Option<usize>) -> Vec<StageObjective> {
        let (mut progress, mut made) = (Progress::default(), Vec::new());
        let mut stage = schedule.stage(&progress).unwrap();
        let mut stages = converges.iter();
        loop {
            let limit = stage.limit.unwrap_or(usize::MAX);
            let most = limit.min(stages.next().copied().unwrap_or(0));
            let mut iterations = 0;
            while iterations < most {
                iterations += 1;
                progress.iterations = progress.iterations_before + iterations;
                made.push(stage.objective);
                if pause == Some(progress.iterations) {
                    let bytes = serde_json::to_vec(&(schedule, progress)).unwrap();
                    let (schedule, resumed): (Schedule, Progress) =
                        serde_json::from_slice(&bytes).unwrap();
                    assert_eq!(schedule.stage(&resumed), Some(stage));
                    progress = resumed;
                }
            }
            match schedule.advance(&mut progress, iterations, iterations) {
                Some(next) => stage = next,
                None => return made,
            }
        }
    }

    fn schedules() -> impl Strategy<Value = Schedule> {
        let maximum = proptest::option::of(0_usize..30);
        (proptest::option::of(0_usize..9), 0_usize..4, maximum).prop_map(
            |(warm_up, passes, max)| {
                let schedule = Schedule::of_noise(warm_up, max);
                match passes {
                    0 => schedule,
                    _ => schedule.after(Stage::fixed(StageObjective::Passes, passes)),
                }
            },
        )
    }

    proptest! {
        #[test]
        fn stages_keep_their_order_and_lengths_and_resume_where_they_were(
            schedule in schedules(),
            converges in proptest::collection::vec(0_usize..20, 3),
            pause in 1_usize..40,
        ) {
            let made = run(&schedule, &converges, None);
            prop_assert_eq!(&made, &run(&schedule, &converges, Some(pause)));
            prop_assert!(schedule.max_iterations.is_none_or(|max| made.len() <= max));
            let order = |stage: &StageObjective| *stage as usize;
            prop_assert!(made.is_sorted_by_key(order));
            let count = |objective| made.iter().filter(|&&stage| stage == objective).count();
            if schedule.stages.last().unwrap().objective == StageObjective::WithNoise {
                prop_assert!(count(StageObjective::WithoutNoise) <= schedule.warm_up());
            }
        }

        #[test]
        fn a_schedule_without_convergence_uses_all_iterations(schedule in schedules()) {
            let made = run(&schedule, &[50; 3], None);
            prop_assert_eq!(made.len(), schedule.max_iterations.unwrap_or(made.len()));
            if schedule.max_iterations.is_none() {
                let limits: usize = schedule.stages.iter().filter_map(|stage| stage.limit).sum();
                prop_assert_eq!(made.len(), limits + 50);
            }
        }
    }

    #[test]
    fn the_warm_up_of_updates_is_part_of_their_stage() {
        let stage = Stage { stops_after: Some(5), ..Stage::last(StageObjective::WithNoise) };
        assert_eq!(Schedule::single(stage, None).warm_up(), 5);
        assert_eq!(Schedule::of_noise(Some(20), Some(4)).warm_up(), 20);
        assert_eq!(Schedule::of_noise(None, None).warm_up(), 0);
    }
}
