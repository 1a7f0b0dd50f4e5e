//! A pool of workers, each with its own threads.
//!
//! In a single rayon pool, a thread that waits for a parallel evaluation could steal another
//! training, and more of them would run at a time than fit into memory.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

use dropchain::error::{Error, Result};

/// A pool of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    /// Number of concurrent jobs, at least 1.
    pub workers: usize,
    /// Total number of threads, at least 1.
    pub threads: usize,
}

impl Pool {
    /// Runs the jobs 0 to `count`. Calls `receive` with the number of each job and its result, in
    /// order: as soon as the job and all before it are done. After each job, `finished` is called
    /// with the number of jobs done.
    ///
    /// If the system has not enough threads for all workers, there are fewer.
    ///
    /// # Errors
    ///
    /// That of the first job that fails; no more jobs are started after it. No thread can be
    /// started at all.
    pub fn run<T: Send>(
        self,
        count: usize,
        job: impl Fn(usize) -> Result<T> + Sync,
        finished: impl Fn(usize),
        mut receive: impl FnMut(usize, T),
    ) -> Result<()> {
        let pools = self
            .start_pools(count, |threads| ThreadPoolBuilder::new().num_threads(threads).build())?;
        let next = AtomicUsize::new(0);
        let (sender, results) = mpsc::channel();
        let work = |pool: ThreadPool, sender: mpsc::Sender<(usize, Result<T>)>| {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    break;
                }
                let result = pool.install(|| job(i));
                if result.is_err() {
                    next.store(count, Ordering::Relaxed);
                }
                if sender.send((i, result)).is_err() {
                    break;
                }
            }
        };
        let (work, mut result) = (&work, Ok(()));
        thread::scope(|scope| {
            let mut workers = pools.into_iter().map(|pool| {
                let sender = sender.clone();
                thread::Builder::new().spawn_scoped(scope, move || work(pool, sender))
            });
            // Without some of the others, the first does all jobs.
            if let Some(Err(e)) = workers.next() {
                return Err(Error::threads(e));
            }
            workers.for_each(drop);
            drop(sender);
            let (mut waiting, mut first) = (BTreeMap::new(), 0);
            for (done, (i, outcome)) in results.iter().enumerate() {
                waiting.insert(i, outcome);
                while result.is_ok()
                    && let Some(outcome) = waiting.remove(&first)
                {
                    result = outcome.map(|outcome| receive(first, outcome));
                    first += 1;
                }
                finished(done + 1);
            }
            result
        })
    }

    /// Starts the threads of each worker, at least one worker and at most `count`: if not all can
    /// be started, as many as possible.
    fn start_pools<P, E: Display>(
        self,
        count: usize,
        start: impl Fn(usize) -> Result<P, E>,
    ) -> Result<Vec<P>> {
        let workers = self.workers.min(count).max(1);
        let threads =
            |number| self.threads / workers + usize::from(number < self.threads % workers);
        let mut first = threads(0).max(1);
        let pool = loop {
            match start(first) {
                Ok(pool) => break pool,
                Err(_) if first > 1 => first /= 2,
                Err(e) => return Err(Error::threads(e)),
            }
        };
        let others = (1..workers).map(|number| start(threads(number).max(1)));
        Ok([pool].into_iter().chain(others.map_while(Result::ok)).collect())
    }
}

/// Locks a mutex, poisoned or not: a panic ends the search anyway.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_received_in_the_order_of_the_jobs_and_concurrency_is_limited() {
        let running = AtomicUsize::new(0);
        let pool = Pool { workers: 3, threads: 4 };
        let finished = AtomicUsize::new(0);
        let mut received = Vec::new();
        let result = pool.run(
            50,
            |i| {
                assert!(running.fetch_add(1, Ordering::SeqCst) < 3);
                thread::yield_now();
                assert!(rayon::current_num_threads() <= 2);
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(i * i)
            },
            |_| {
                finished.fetch_add(1, Ordering::SeqCst);
            },
            |job, square| received.push((job, square)),
        );
        result.unwrap();
        assert_eq!(received, (0..50).map(|i| (i, i * i)).collect::<Vec<_>>());
        assert_eq!(finished.into_inner(), 50);
    }

    #[test]
    fn a_job_that_fails_stops_the_pool() {
        let pool = Pool { workers: 1, threads: 1 };
        let started = AtomicUsize::new(0);
        let mut received = 0;
        let result = pool.run(
            10,
            |i| {
                started.fetch_add(1, Ordering::SeqCst);
                if i == 3 { Err(Error::parameter("three")) } else { Ok(()) }
            },
            |_| {},
            |_, ()| received += 1,
        );
        assert_eq!(result.unwrap_err().to_string(), "three");
        assert_eq!((started.into_inner(), received), (4, 3));
    }

    #[test]
    fn no_jobs_give_no_results() {
        let pool = Pool { workers: 2, threads: 2 };
        pool.run(0, |_| Ok(()), |_| {}, |_, ()| unreachable!()).unwrap();
    }

    #[test]
    fn without_enough_threads_there_are_fewer_workers() {
        // A system that starts at most `limit` threads.
        let start = |workers, threads, limit: usize| {
            let left = AtomicUsize::new(limit);
            let pool = Pool { workers, threads };
            pool.start_pools(9, |n| {
                let taken = left
                    .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(n));
                taken.map(|_| n).map_err(|left| format!("{left} left"))
            })
        };
        assert_eq!(start(3, 7, 100).unwrap(), [3, 2, 2]);
        assert_eq!(start(3, 7, 6).unwrap(), [3, 2]);
        assert_eq!(start(1, 7, 6).unwrap(), [3]);
        assert_eq!(start(4, 4, 1).unwrap(), [1]);
        assert_eq!(
            start(2, 2, 0).unwrap_err().to_string(),
            "cannot start threads: 0 left; expected fewer of them (--threads)"
        );
    }
}
