//! Counts of work, and the time that it takes at least: the roofline model, with several levels of
//! memory.

use std::ops::AddAssign;

use crate::machine::{ByLevel, ByThreads, LEVELS, Machine};

/// Floating-point operations and bytes, counted from the shape of the data.
///
/// Operations are those of the mathematics: padding of rows is not counted. Bytes are what the
/// loops load and store, at the level that holds the working set of the loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    pub operations: f64,
    pub bytes: ByLevel,
}

impl Work {
    /// Work of `operations`, and of `bytes` in a working set of some size.
    pub fn new(machine: &Machine, operations: f64, bytes: f64, working_set: f64) -> Self {
        let mut work = Self { operations, ..Self::default() };
        work.bytes[machine.level(working_set)] = bytes;
        work
    }

    /// Bytes of rows of `row` bytes, given how often each is read or written. The most frequent
    /// rows are assumed to stay in the fastest level: no cache can do better.
    pub fn rows(machine: &Machine, mut frequencies: Vec<u32>, row: f64) -> Self {
        frequencies.sort_unstable_by(|a, b| b.cmp(a));
        let mut work = Self::default();
        for (i, frequency) in frequencies.into_iter().enumerate() {
            work.bytes[machine.level((i + 1) as f64 * row)] += f64::from(frequency) * row;
        }
        work
    }

    /// All bytes.
    pub fn total_bytes(&self) -> f64 {
        self.bytes.iter().sum()
    }

    /// The level that bounds the work, `None` for arithmetic, and its seconds at least.
    pub fn limit(&self, machine: &Machine, threads: usize) -> (Option<&'static str>, f64) {
        let arithmetic = self.operations / machine.peak[threads - 1];
        let by_level: Vec<f64> = (0..LEVELS.len())
            .map(|level| self.bytes[level] / machine.bandwidth(level, threads))
            .collect();
        let memory: f64 = by_level.iter().sum();
        if arithmetic >= memory {
            return (None, arithmetic);
        }
        let slowest = (0..LEVELS.len()).max_by(|&a, &b| by_level[a].total_cmp(&by_level[b]));
        (slowest.map(|level| LEVELS[level]), memory)
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        for (bytes, more) in self.bytes.iter_mut().zip(other.bytes) {
            *bytes += more;
        }
    }
}

/// A measured kernel.
pub struct Row {
    pub kernel: &'static str,
    pub work: Work,
    /// Seconds for all of the work, on one thread and on two.
    pub seconds: ByThreads,
    /// Its share of an evaluation without noise and with it, of an iteration of training, or of
    /// tagging; on one thread.
    pub shares: [Option<f64>; 2],
}
