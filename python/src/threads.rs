//! Pools of threads.
//!
//! Not rayon's global pool: a process that Python's `multiprocessing` forks has none of its
//! threads, and would wait for them forever. These pools belong to a process, and a forked one
//! starts its own.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use dropchain::Error;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Maximum number of threads; more is a typo.
const MAX_THREADS: usize = 1024;

/// Maximum number of pools that are kept, for different numbers of threads.
const KEPT: usize = 4;

/// The pools of a process, the one that was used last at the end.
struct Pools {
    process: u32,
    pools: Vec<Arc<ThreadPool>>,
}

static POOLS: Mutex<Pools> = Mutex::new(Pools { process: 0, pools: Vec::new() });

/// Returns a pool with this number of threads; `None` is one for each processor.
///
/// # Errors
///
/// [`Error::Parameter`] if `threads` is 0 or above 1024, or the system does not start them.
pub fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>, Error> {
    let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    if !(1..=MAX_THREADS).contains(&threads) {
        let message = format!("{threads} threads; expected 1 to {MAX_THREADS}");
        return Err(Error::parameter(message));
    }
    let mut kept = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.process != process::id() {
        kept.process = process::id();
        std::mem::take(&mut kept.pools).into_iter().for_each(std::mem::forget);
    }
    let found = (kept.pools.iter()).position(|pool| pool.current_num_threads() == threads);
    let pool = match found {
        Some(i) => kept.pools.remove(i),
        None => {
            let builder = ThreadPoolBuilder::new().num_threads(threads);
            Arc::new(builder.build().map_err(Error::threads)?)
        }
    };
    kept.pools.push(Arc::clone(&pool));
    if kept.pools.len() > KEPT {
        kept.pools.remove(0);
    }
    Ok(pool)
}
