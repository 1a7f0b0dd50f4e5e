//! The number of concurrent trainings, limited by threads and memory.

use serde::Serialize;

use super::data::TuningData;
use super::pool::Pool;
use super::search::Search;
use dropchain::error::{Error, Result};
use dropchain::memory::megabytes;

/// Threads, concurrent trainings and their estimated memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ResourcePlan {
    /// Number of threads.
    pub threads: usize,
    /// Number of concurrent trainings.
    #[serde(rename = "trainings")]
    pub concurrency: usize,
    /// Memory of the extracted corpora in bytes.
    #[serde(rename = "data")]
    pub data_memory: usize,
    /// Memory of each training in bytes.
    #[serde(rename = "training")]
    pub training_memory: usize,
}

/// Estimated memory in bytes.
#[derive(Clone, Copy, Debug)]
struct MemoryEstimate {
    data: usize,
    training: usize,
}

impl ResourcePlan {
    /// Creates a plan for at most as many concurrent trainings as the search has threads, within its
    /// limit, or within the available memory if there is no limit.
    ///
    /// # Errors
    ///
    /// There is not enough memory for a single training.
    pub(super) fn new(data: &TuningData, search: &Search<'_>) -> Result<Self> {
        let estimate = MemoryEstimate::new(data, search)?;
        let limit = search.memory.bytes(estimate.data as u64);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        estimate.plan(limit, search.threads.max(1))
    }

    /// Returns the estimated memory of the search in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.data_memory + self.concurrency * self.training_memory
    }

    pub(super) fn pool(&self) -> Pool {
        Pool {
            workers: self.concurrency,
            threads: self.threads,
        }
    }
}

impl MemoryEstimate {
    fn new(data: &TuningData, search: &Search<'_>) -> Result<Self> {
        let mut training = 0;
        for template in 0..data.templates() {
            let own = search
                .configurations
                .iter()
                .filter(|c| c.template == template);
            // The most expensive configuration: noise and L1 need vectors of their own.
            let Some(most) = own.max_by_key(|c| (c.has_noise(), c.l1 > 0.0)) else {
                continue;
            };
            let settings = most.settings(&search.settings)?;
            let memory = data.with_training_set(template, 0, &settings, |set| {
                // The matrices of a fold are copied from the rows of the whole corpus.
                let fold = if data.has_folds() {
                    2 * set.memory()
                } else {
                    0
                };
                Ok(fold + search.trainer.memory(set, &settings))
            })?;
            training = training.max(memory);
        }
        Ok(Self {
            data: data.memory(),
            training,
        })
    }

    fn plan(self, limit: usize, threads: usize) -> Result<ResourcePlan> {
        let Self { data, training } = self;
        let concurrency = (limit.saturating_sub(data) / training.max(1)).min(threads);
        if concurrency == 0 {
            return Err(Error::parameter(format!(
                "{} of memory is too little; expected at least {} ({} for the data, {} for a \
                 training)",
                megabytes(limit as u64),
                megabytes(data.saturating_add(training) as u64),
                megabytes(data as u64),
                megabytes(training as u64)
            )));
        }
        Ok(ResourcePlan {
            threads,
            concurrency,
            data_memory: data,
            training_memory: training,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ESTIMATE: MemoryEstimate = MemoryEstimate {
        data: 10_000_000,
        training: 20_000_000,
    };

    #[test]
    fn as_many_trainings_run_as_fit_into_memory() {
        let concurrency = |limit| ESTIMATE.plan(limit, 4).unwrap().concurrency;
        assert_eq!(concurrency(30_000_000), 1);
        assert_eq!(concurrency(49_999_999), 1);
        assert_eq!(concurrency(50_000_000), 2);
        assert_eq!(concurrency(90_000_000), 4);
        assert_eq!(concurrency(usize::MAX), 4);
    }

    #[test]
    fn too_little_memory_is_an_error_that_says_how_much_is_enough() {
        assert_eq!(
            ESTIMATE.plan(29_999_999, 4).unwrap_err().to_string(),
            "30 MB of memory is too little; expected at least 30 MB (10 MB for the data, 20 MB for \
             a training)"
        );
    }
}
