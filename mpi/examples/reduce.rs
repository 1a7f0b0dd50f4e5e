//! Times the sum over ranks that every evaluation of the objective needs:
//! `mpirun -n 2 reduce 1000000 7000000` prints bytes and milliseconds for so many weights.

#[allow(dead_code)] // what the program alone needs
#[path = "../src/communication.rs"]
mod communication;

use std::io::{self, Write};
use std::time::Instant;

use communication::{PIECE, World, WorldReduce};
use dropchain::kernel::ranks::Ranks;
use mpi::Threading;

/// Sums per number of weights.
const REPETITIONS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let initialized = mpi::initialize_with_threading(Threading::Funneled);
    let (universe, _) = initialized.ok_or("MPI is initialized already")?;
    let world = World::open(&universe);
    let ranks = Ranks::new(WorldReduce::new(PIECE));
    for argument in std::env::args().skip(1) {
        let mut numbers = vec![0.0; argument.parse()?];
        let mut times = Vec::new();
        for _ in 0..REPETITIONS {
            ranks.sum(&mut [0.0])?; // all ranks are here
            let clock = Instant::now();
            ranks.sum(&mut numbers)?;
            times.push(clock.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        if ranks.rank() == 0 {
            let (bytes, median) = (8 * numbers.len(), times[REPETITIONS / 2]);
            let size = ranks.size();
            writeln!(io::stdout(), "{size} {} {bytes} {median:.3}", numbers.len())?;
        }
    }
    drop(world);
    Ok(())
}
