//! A pool of workers, each with its own threads.
//!
//! In a single rayon pool, a thread that waits for a parallel evaluation could steal another
//! training, and more of them would run at a time than fit into memory.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::{Error, Result};

/// A pool of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    /// Number of concurrent jobs, at least 1.
    pub workers: usize,
    /// Total number of threads, at least 1.
    pub threads: usize,
}

impl Pool {
    /// Runs the jobs 0 to `count` and returns their results in order. After each job, `finished` is
    /// called with the number of jobs done.
    ///
    /// # Errors
    ///
    /// That of the first job that fails; no more jobs are started after it.
    pub fn run<T: Send>(
        self,
        count: usize,
        job: impl Fn(usize) -> Result<T> + Sync,
        finished: impl Fn(usize) + Sync,
    ) -> Result<Vec<T>> {
        let workers = self.workers.min(count).max(1);
        let [next, done] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let results: Mutex<Vec<Option<Result<T>>>> = Mutex::new((0..count).map(|_| None).collect());
        let work = &|number: usize| -> Result<()> {
            let threads = self.threads / workers + usize::from(number < self.threads % workers);
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads.max(1))
                .build();
            let pool = pool.map_err(|e| {
                next.store(count, Ordering::Relaxed);
                spawn_error(&e)
            })?;
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    return Ok(());
                }
                let result = pool.install(|| job(i));
                if result.is_err() {
                    next.store(count, Ordering::Relaxed);
                }
                lock(&results)[i] = Some(result);
                finished(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        thread::scope(|scope| {
            let spawn = |n| thread::Builder::new().spawn_scoped(scope, move || work(n));
            let handles: Vec<_> = (0..workers).map(spawn).collect();
            if handles.iter().any(Result::is_err) {
                next.store(count, Ordering::Relaxed);
            }
            let ended = handles
                .into_iter()
                .map(|handle| match handle.map(|h| h.join()) {
                    Ok(Ok(ended)) => ended,
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    Err(error) => Err(spawn_error(&error)),
                });
            ended
                .collect::<Vec<_>>()
                .into_iter()
                .collect::<Result<()>>()
        })?;
        let results = results
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        results.into_iter().flatten().collect()
    }
}

fn spawn_error(error: &dyn std::error::Error) -> Error {
    Error::parameter(format!(
        "cannot start threads: {error}; expected fewer of them (--threads)"
    ))
}

/// Locks a mutex, poisoned or not: a panic ends the search anyway.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs_and_concurrency_is_limited() {
        let running = AtomicUsize::new(0);
        let pool = Pool {
            workers: 3,
            threads: 4,
        };
        let finished = AtomicUsize::new(0);
        let results = pool.run(
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
        );
        assert_eq!(results.unwrap(), (0..50).map(|i| i * i).collect::<Vec<_>>());
        assert_eq!(finished.into_inner(), 50);
    }

    #[test]
    fn a_job_that_fails_stops_the_pool() {
        let pool = Pool {
            workers: 1,
            threads: 1,
        };
        let started = AtomicUsize::new(0);
        let result: Result<Vec<()>> = pool.run(
            10,
            |i| {
                started.fetch_add(1, Ordering::SeqCst);
                if i == 3 {
                    Err(Error::parameter("three"))
                } else {
                    Ok(())
                }
            },
            |_| {},
        );
        assert_eq!(result.unwrap_err().to_string(), "three");
        assert_eq!(started.into_inner(), 4);
    }

    #[test]
    fn no_jobs_give_no_results() {
        let pool = Pool {
            workers: 2,
            threads: 2,
        };
        assert!(pool.run(0, |_| Ok(()), |_| {}).unwrap().is_empty());
    }
}
