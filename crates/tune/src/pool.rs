//! Concurrent jobs, each with threads of its own.
//!
//! In a single rayon pool, a thread that waits for a parallel evaluation could steal another
//! training, and more of them would run at a time than fit into memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use rayon::ThreadPoolBuilder;

use dropchain::{Error, Result};

/// Runs the jobs 0 to `count`, as many at a time as there are workers, which divide the threads
/// among them; fewer, if the system has not enough threads. Calls `receive` with the number of each
/// job and its result, in order: as soon as the job and all before it are done.
///
/// # Errors
///
/// The error of the first job that fails; no more jobs are started after it. No thread can be
/// started at all.
pub(super) fn run_jobs<T: Send>(
    count: usize,
    [workers, threads]: [usize; 2],
    job: impl Fn(usize) -> Result<T> + Sync,
    mut receive: impl FnMut(usize, T),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = |threads: usize, sender: mpsc::Sender<(usize, Result<T>)>| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.or_else(|_| ThreadPoolBuilder::new().num_threads(1).build());
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < count);
        while let Ok(pool) = &pool
            && let Some(i) = take()
        {
            let result = pool.install(|| job(i));
            if result.is_err() {
                next.store(count, Ordering::Relaxed);
            }
            if sender.send((i, result)).is_err() {
                break;
            }
        }
    };
    let (sender, results) = mpsc::channel();
    let work = &work;
    thread::scope(|scope| {
        let workers = workers.min(count).max(1);
        for number in 0..workers {
            let (sender, rest) = (sender.clone(), usize::from(number < threads % workers));
            let threads = (threads / workers + rest).max(1);
            // Without some of the workers, the others do all jobs.
            let _ = thread::Builder::new().spawn_scoped(scope, move || work(threads, sender));
        }
        drop(sender);
        let (mut waiting, mut first) = (BTreeMap::new(), 0);
        for (i, outcome) in &results {
            waiting.insert(i, outcome);
            while let Some(outcome) = waiting.remove(&first) {
                receive(first, outcome?);
                first += 1;
            }
        }
        if first < count { Err(Error::threads("none could be started")) } else { Ok(()) }
    })
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
        let mut received = Vec::new();
        let job = |i| {
            assert!(running.fetch_add(1, Ordering::SeqCst) < 3);
            thread::yield_now();
            assert!(rayon::current_num_threads() <= 2);
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(i * i)
        };
        run_jobs(50, [3, 4], job, |job, square| received.push((job, square))).unwrap();
        assert_eq!(received, (0..50).map(|i| (i, i * i)).collect::<Vec<_>>());
        run_jobs(0, [2, 2], |_| Ok(()), |_, ()| unreachable!()).unwrap();
    }

    #[test]
    fn a_job_that_fails_stops_the_others() {
        let started = AtomicUsize::new(0);
        let mut received = 0;
        let job = |i| {
            started.fetch_add(1, Ordering::SeqCst);
            if i == 3 { Err(Error::parameter("three")) } else { Ok(()) }
        };
        let result = run_jobs(10, [1, 1], job, |_, ()| received += 1);
        assert_eq!(result.unwrap_err().to_string(), "three");
        assert_eq!((started.into_inner(), received), (4, 3));
    }
}
