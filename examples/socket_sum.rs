//! Connects ranks by TCP, and times the sum over ranks that every evaluation of the objective
//! needs.
//!
//! `socket_sum [RANKS [NUMBERS…]]` prints ranks, numbers, bytes and the median in milliseconds of a
//! sum of so many numbers; without arguments, of ten thousand over two ranks. Ranks are threads
//! here, and would be processes on several machines.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use dropchain::train::{Ranks, SocketListener};

/// Sums per number of weights.
const REPETITIONS: usize = 21;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments = std::env::args().skip(1).map(|argument| argument.parse());
    let arguments: Vec<usize> = arguments.collect::<std::result::Result<_, _>>()?;
    let (&size, lengths) = arguments.split_first().unwrap_or((&2, &[10_000]));
    // A rank listens, says where, and connects once it knows the addresses of all.
    let listeners = (0..size).map(|_| SocketListener::bind("127.0.0.1:0"));
    let listeners: Vec<SocketListener> = listeners.collect::<std::result::Result<_, _>>()?;
    let addresses = listeners
        .iter()
        .map(|listener| Ok(listener.address()?.to_string()));
    let addresses = addresses.collect::<Result<Vec<String>>>()?;
    thread::scope(|scope| {
        let ranks = listeners.into_iter().enumerate().map(|(rank, listener)| {
            let addresses = &addresses;
            scope.spawn(move || time_sums(listener, rank, addresses, lengths))
        });
        let ranks: Vec<_> = ranks.collect();
        for (rank, thread) in ranks.into_iter().enumerate() {
            let medians = thread
                .join()
                .map_err(|_| format!("rank {rank} panicked"))??;
            if rank == 0 {
                for (&numbers, median) in lengths.iter().zip(medians) {
                    writeln!(io::stdout(), "{size} {numbers} {} {median:.3}", 8 * numbers)?;
                }
            }
        }
        Ok(())
    })
}

/// Returns the median time of sums of each length, in milliseconds.
fn time_sums(
    listener: SocketListener,
    rank: usize,
    addresses: &[String],
    lengths: &[usize],
) -> Result<Vec<f64>> {
    let (secret, timeout) = ([0; 16], Duration::from_secs(10));
    let ranks = Ranks::new(listener.connect(rank, addresses, secret, timeout)?);
    let mut medians = Vec::new();
    for &length in lengths {
        let mut numbers = vec![0.0; length];
        let mut times = Vec::new();
        for _ in 0..REPETITIONS {
            ranks.sum(&mut [0.0])?; // all ranks are here
            let clock = Instant::now();
            ranks.sum(&mut numbers)?;
            times.push(clock.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        medians.push(times[REPETITIONS / 2]);
    }
    Ok(medians)
}
