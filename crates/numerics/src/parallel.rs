//! Parallel loops on the threads of the current pool.
//!
//! All of them are one loop over indices, since the code of the pool is large: an instance for each
//! loop would be a fifth of this crate. Whoever runs several loops in a row enters the pool first.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Returns f(), evaluated on a thread of the pool: any other sleeps and is woken for each parallel
/// loop that it starts.
pub(crate) fn in_pool<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| f())
}

/// Calls `run` with each piece of work.
pub(crate) fn for_each<T: Send>(work: impl Iterator<Item = T>, run: impl Fn(T) + Sync) {
    let pieces: Vec<Mutex<Option<T>>> = work.map(|piece| Mutex::new(Some(piece))).collect();
    run_all(pieces.len(), &|i| {
        let piece = pieces[i].lock().unwrap_or_else(PoisonError::into_inner).take();
        piece.into_iter().for_each(&run);
    });
}

/// Returns `f` of each piece of work, in its order.
pub(crate) fn map<T: Send, R: Default + Send>(
    work: impl Iterator<Item = T>,
    f: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let (work, mut results): (Vec<T>, Vec<R>) = work.map(|piece| (piece, R::default())).unzip();
    for_each(work.into_iter().zip(&mut results), |(piece, result)| *result = f(piece));
    results
}

fn run_all(pieces: usize, run: &(dyn Fn(usize) + Sync)) {
    (0..pieces).into_par_iter().for_each(run);
}
