//! Ranks that are threads, and what ranks agree on.

use std::sync::{Barrier, PoisonError};
use std::thread;

use super::*;

/// Ranks that are threads.
struct ThreadRank {
    rank: usize,
    shared: Arc<(Barrier, Mutex<Vec<Vec<u8>>>)>,
    size: usize,
}

/// Runs `work` on each of `size` ranks and returns the results, by rank.
pub(crate) fn run_ranks<T: Send>(size: usize, work: impl Fn(Ranks) -> T + Sync) -> Vec<T> {
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

#[test]
fn bytes_of_any_length_are_gathered_by_rank() {
    let gathered = run_ranks(4, |ranks| {
        let length = [5, 0, 1, 4 * Ranks::PIECE + 6][ranks.rank()];
        let own: Vec<u8> = (0..length).map(|i| (i * 7 + 250) as u8).collect();
        ranks.gather(&own).unwrap()
    });
    assert_eq!(gathered[0][0], [250, 1, 8, 15, 22]);
    assert_eq!(gathered[0][3].len(), 4 * Ranks::PIECE + 6);
    assert!(gathered.iter().all(|all| *all == gathered[0]));
}

#[test]
fn ranks_agree_if_all_succeed() {
    let outcomes = run_ranks(3, |ranks| ranks.agree(Ok(ranks.rank())));
    let numbers: Vec<_> = outcomes.into_iter().map(Result::unwrap).collect();
    assert_eq!(numbers, [0, 1, 2]);
}

#[test]
fn a_failure_of_some_ranks_is_one_of_all_that_names_them() {
    let outcomes = run_ranks(3, |ranks| {
        ranks.agree(match ranks.rank() {
            1 => Ok(()),
            rank => Err(Error::parameter(format!("bad {rank}"))),
        })
    });
    for outcome in outcomes {
        let message = outcome.unwrap_err().to_string();
        assert_eq!(message, "rank 0: bad 0\nrank 2: bad 2");
    }
}

#[test]
fn what_all_ranks_say_is_said_once() {
    for outcome in run_ranks(2, |ranks| ranks.agree::<()>(Err(Error::parameter("bad")))) {
        assert_eq!(outcome.unwrap_err().to_string(), "bad");
    }
}
