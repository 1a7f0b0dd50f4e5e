//! Ranks that are threads.

use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;

use crate::error::Result;
use crate::ranks::{Ranks, Reduce};

/// Ranks that are threads.
struct ThreadRank {
    rank: usize,
    shared: Arc<(Barrier, Mutex<Vec<Vec<u8>>>)>,
    size: usize,
}

/// Runs `work` on each of `size` ranks and returns the results, by rank.
pub fn run_ranks<T: Send>(size: usize, work: impl Fn(Ranks) -> T + Sync) -> Vec<T> {
    let shared = Arc::new((Barrier::new(size), Mutex::new(vec![Vec::new(); size])));
    thread::scope(|scope| {
        let ranks = (0..size).map(|rank| {
            let (shared, work) = (Arc::clone(&shared), &work);
            scope.spawn(move || work(Ranks::new(ThreadRank { rank, shared, size })))
        });
        let ranks: Vec<_> = ranks.collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

impl Reduce for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    /// Adds in another order than that of the ranks.
    fn sum(&mut self, numbers: &mut [f64]) -> Result<()> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        numbers.fill(0.0);
        for bytes in self.exchange(bytes).iter().rev() {
            let terms = bytes.as_chunks().0.iter().copied().map(f64::from_le_bytes);
            numbers.iter_mut().zip(terms).for_each(|(sum, x)| *sum += x);
        }
        Ok(())
    }
}

impl ThreadRank {
    /// Returns the bytes of all ranks, by rank.
    fn exchange(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let (barrier, messages) = &*self.shared;
        let lock = || messages.lock().unwrap_or_else(PoisonError::into_inner);
        lock()[self.rank] = bytes;
        barrier.wait();
        let all = lock().clone();
        barrier.wait();
        all
    }
}
