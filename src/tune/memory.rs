//! How many trainings go on at a time.

use std::fs;

use serde::Serialize;

use super::data::Data;
use super::pool::Pool;
use super::space::Configuration;
use crate::error::{Error, Result};
use crate::train::TrainOptions;

/// The part of free memory that is used where no limit is given: estimates are not exact, and other
/// programs want some.
const SHARE: f64 = 0.75;

/// How the work is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Threads.
    pub threads: usize,
    /// Trainings at a time.
    pub trainings: usize,
    /// Bytes that the data take.
    pub data: usize,
    /// Bytes that a training takes beside them.
    pub training: usize,
    /// Bytes of the weights of all configurations that wait to go on.
    pub waiting: usize,
    /// Whether these wait in temporary files.
    pub in_files: bool,
}

/// The bytes that matter to a plan.
#[derive(Clone, Copy, Debug)]
struct Needs {
    data: usize,
    training: usize,
    waiting: usize,
}

impl Plan {
    /// A plan for at most `threads` trainings within `limit` bytes, or within what the system has free.
    ///
    /// # Errors
    ///
    /// Not even one training fits.
    pub(super) fn new(
        data: &Data,
        configurations: &[Configuration],
        bases: usize,
        options: &TrainOptions,
        threads: usize,
        limit: Option<u64>,
    ) -> Result<Self> {
        let mut needs = Needs {
            data: data.memory(),
            training: 0,
            waiting: 0,
        };
        let (mut weights, threads) = (0, threads.max(1));
        for template in 0..data.templates() {
            let own = configurations.iter().filter(|c| c.template == template);
            // The one that takes the most: noise and L1 need vectors of their own.
            let Some(most) = own.max_by_key(|c| (c.has_noise(), c.l1 > 0.0)) else {
                continue;
            };
            let options = most.options(options);
            data.with(template, 0, &options, |material| {
                let fold = if data.has_folds() {
                    2 * material.memory()
                } else {
                    0
                };
                let training = fold + material.memory_of_training(&options);
                needs.training = needs.training.max(training);
                weights = weights.max(8 * material.space().dimension());
                Ok(())
            })?;
        }
        // With development data, one more for the best so far.
        needs.waiting = (configurations.len() + bases) * data.folds() * weights + weights;
        match limit {
            Some(limit) => needs.within(usize::try_from(limit).unwrap_or(usize::MAX), threads),
            None => {
                let free = free().map_or(usize::MAX, |free| (free as f64 * SHARE) as usize);
                let least = needs.data + needs.training;
                needs.within(free.saturating_add(needs.data).max(least), threads)
            }
        }
    }

    pub(super) fn pool(&self) -> Pool {
        Pool {
            trainings: self.trainings,
            threads: self.threads,
        }
    }
}

impl Needs {
    fn within(self, limit: usize, threads: usize) -> Result<Plan> {
        let Self {
            data,
            training,
            waiting,
        } = self;
        let rest = limit.saturating_sub(data);
        let trainings = (rest / training.max(1)).min(threads);
        if trainings == 0 {
            return Err(Error::parameter(format!(
                "{} of memory is too little; expected at least {} ({} for the data, {} for a training)",
                megabytes(limit),
                megabytes(data + training),
                megabytes(data),
                megabytes(training)
            )));
        }
        Ok(Plan {
            threads,
            trainings,
            data,
            training,
            waiting,
            in_files: rest - trainings * training < waiting,
        })
    }
}

/// Whole megabytes, rounded up, so that what is said to be enough is.
fn megabytes(bytes: usize) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

/// Bytes of memory that new work may take, where the system tells (Linux).
fn free() -> Option<usize> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs = Needs {
        data: 10_000_000,
        training: 20_000_000,
        waiting: 15_000_000,
    };

    fn plan(limit: usize) -> (usize, bool) {
        let plan = NEEDS.within(limit, 4).unwrap();
        (plan.trainings, plan.in_files)
    }

    #[test]
    fn as_many_trainings_run_as_fit_and_weights_wait_where_there_is_room() {
        assert_eq!(plan(30_000_000), (1, true));
        assert_eq!(plan(50_000_000), (2, true));
        assert_eq!(plan(90_000_000), (4, true));
        assert_eq!(plan(105_000_000), (4, false));
        assert_eq!(plan(usize::MAX), (4, false));
    }

    #[test]
    fn too_little_memory_is_told_with_what_is_needed() {
        assert_eq!(
            NEEDS.within(29_999_999, 4).unwrap_err().to_string(),
            "30 MB of memory is too little; expected at least 30 MB (10 MB for the data, 20 MB for a \
             training)"
        );
    }
}
