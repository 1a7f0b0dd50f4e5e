//! The number of concurrent trainings, limited by threads and memory.

use serde::Serialize;

use super::data::TuningData;
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

impl ResourcePlan {
    /// Creates a plan for at most as many concurrent trainings as the search has threads, within
    /// its limit, or within the available memory if there is no limit.
    ///
    /// # Errors
    ///
    /// There is not enough memory for a single training.
    pub(super) fn new(data: &TuningData, search: &Search<'_>) -> Result<Self> {
        let mut training = 0;
        for template in 0..data.templates() {
            let configurations = search.configurations.iter();
            let own = configurations.filter(|c| c.template == template);
            // The most expensive configuration: noise and L1 need vectors of their own.
            let Some(most) = own.max_by_key(|c| (c.has_noise(), c.l1 > 0.0)) else {
                continue;
            };
            let settings = most.settings(&search.settings)?;
            let memory = data.with_training_set(template, 0, &settings, |set| {
                // The matrices of a fold are copied from the rows of the whole corpus.
                let copies = if data.has_folds() { 2 } else { 0 };
                Ok(copies * set.memory() + set.memory_to_train(&settings))
            })?;
            training = training.max(memory);
        }
        let data = data.memory();
        let limit = usize::try_from(search.memory.bytes(data as u64)).unwrap_or(usize::MAX);
        Self::within(limit, search.threads.max(1), [data, training])
    }

    /// Creates a plan within `limit` bytes, given the memory of the data and of a training.
    fn within(limit: usize, threads: usize, [data, training]: [usize; 2]) -> Result<Self> {
        let concurrency = (limit.saturating_sub(data) / training.max(1)).min(threads);
        if concurrency == 0 {
            let needed = data.saturating_add(training);
            let [limit, needed, data, training] =
                [limit, needed, data, training].map(|bytes| megabytes(bytes as u64));
            return Err(Error::parameter(format!(
                "{limit} of memory is too little; expected at least {needed} ({data} for the \
                 data, {training} for a training)"
            )));
        }
        Ok(Self { threads, concurrency, data_memory: data, training_memory: training })
    }

    /// Returns the estimated memory of the search in bytes.
    pub fn memory(&self) -> usize {
        self.data_memory + self.concurrency * self.training_memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ESTIMATES: [usize; 2] = [10_000_000, 20_000_000];

    #[test]
    fn as_many_trainings_run_as_fit_into_memory() {
        let concurrency = |limit| {
            let plan = ResourcePlan::within(limit, 4, ESTIMATES);
            plan.unwrap().concurrency
        };
        assert_eq!(concurrency(30_000_000), 1);
        assert_eq!(concurrency(49_999_999), 1);
        assert_eq!(concurrency(50_000_000), 2);
        assert_eq!(concurrency(90_000_000), 4);
        assert_eq!(concurrency(usize::MAX), 4);
    }

    #[test]
    fn too_little_memory_is_an_error_that_says_how_much_is_enough() {
        assert_eq!(
            ResourcePlan::within(29_999_999, 4, ESTIMATES).unwrap_err().to_string(),
            "30 MB of memory is too little; expected at least 30 MB (10 MB for the data, 20 MB for \
             a training)"
        );
    }
}
