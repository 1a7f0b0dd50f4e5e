//! Times the sum over ranks that every evaluation of the objective needs, for ranks that are
//! connected by TCP.
//!
//! `socket_sum RANK SIZE NUMBERS…` prints its address, reads those of all ranks, one per line, and
//! on rank 0 prints ranks, numbers, bytes and the median in milliseconds for so many numbers:
//! `benches/record/2026-11-23-spark-train/run.py` starts one process for each rank.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use dropchain::train::{Ranks, SocketListener};

/// Sums per number of weights.
const REPETITIONS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = std::env::args().skip(1).map(|argument| argument.parse());
    let arguments: Vec<usize> = arguments.collect::<Result<_, _>>()?;
    let [rank, size, lengths @ ..] = &arguments[..] else {
        return Err("expected RANK SIZE NUMBERS…".into());
    };
    let (rank, size) = (*rank, *size);
    let listener = SocketListener::bind("127.0.0.1:0")?;
    writeln!(io::stdout(), "{}", listener.address()?)?;
    let addresses = io::stdin().lines().take(size);
    let addresses: Vec<String> = addresses.collect::<Result<_, _>>()?;
    let timeout = Duration::from_secs(10);
    let ranks = Ranks::new(listener.connect(rank, &addresses, [0; 16], timeout)?);
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
        if rank == 0 {
            let (bytes, median) = (8 * numbers.len(), times[REPETITIONS / 2]);
            writeln!(io::stdout(), "{size} {} {bytes} {median:.3}", numbers.len())?;
        }
    }
    Ok(())
}
