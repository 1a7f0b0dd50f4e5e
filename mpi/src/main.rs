//! The `dropchain-mpi` program: `dropchain train` on several processes.
//!
//! MPI is initialized before anything else, and every rank runs the command line of the library
//! with a handle to the others. All calls of MPI are made by the main thread.
//!
//! A rank has as many threads as its share of the processors of its machine. A starter such as
//! `mpirun` may bind each rank to processors of its own, or leave all processors to all ranks. A
//! processor that n ranks may use counts 1/n for each of them.

mod communication;

use std::collections::BTreeSet;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::{fs, io};

use dropchain::kernel::ranks::{Ranks, Reduce};
use dropchain_cli as cli;
use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Root};

use communication::{PIECE, World, WorldReduce};

/// The exit code of Rust programs that panic.
const PANIC: i32 = 101;

fn main() -> ExitCode {
    let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
        print("dropchain-mpi: MPI is initialized already");
        return ExitCode::FAILURE;
    };
    if threading < Threading::Funneled {
        print("dropchain-mpi: expected an MPI library that allows threads (MPI_THREAD_FUNNELED)");
        return ExitCode::FAILURE;
    }
    let world = World::open(&universe);
    let reduce = WorldReduce::new(PIECE);
    let rank = reduce.rank();
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        print(&format!("rank {rank} panicked:"));
        default(info);
    }));
    let threads = threads(&universe);
    let run = AssertUnwindSafe(|| cli::run_ranks(Ranks::new(reduce), threads, communication::fail));
    // The others would wait forever for a rank that panicked.
    let code = panic::catch_unwind(run).unwrap_or_else(|_| communication::abort(PANIC));
    drop(world);
    code
}

/// Prints a line to standard error, ignoring write errors.
fn print(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Returns the number of threads for this rank, at least 1. All ranks call it.
fn threads(universe: &Universe) -> usize {
    let machine = universe.world().split_shared(0);
    let own = allowed_processors();
    let ranks = (0..machine.size()).map(|rank| {
        let mut list = own.clone().into_bytes();
        broadcast(&machine, rank, &mut list);
        parse(&String::from_utf8_lossy(&list))
    });
    let ranks: Vec<BTreeSet<usize>> = ranks.collect();
    share(&parse(&own), &ranks, available_parallelism().map_or(1, usize::from))
}

/// Overwrites `bytes` with those of a rank of a communicator.
fn broadcast(ranks: &SimpleCommunicator, root: i32, bytes: &mut Vec<u8>) {
    let root = ranks.process_at_rank(root);
    let mut length = bytes.len() as u64;
    root.broadcast_into(&mut length);
    bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
    root.broadcast_into(&mut bytes[..]);
}

/// Returns the processors that this process may use, as Linux lists them (`0-3,8`); elsewhere
/// nothing.
fn allowed_processors() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap_or_default().trim().to_owned()
}

/// Parses a list of processors, ignoring what is not one.
fn parse(list: &str) -> BTreeSet<usize> {
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

/// Returns the share of a rank that may use the processors `own`, where `ranks` has those of all
/// ranks of the machine, and `parallelism` is the number that one process could use. That is less
/// than there are in `own` if a container has a quota, which its ranks share.
fn share(own: &BTreeSet<usize>, ranks: &[BTreeSet<usize>], parallelism: usize) -> usize {
    let of_quota = parallelism / ranks.len().max(1);
    let users = |processor| ranks.iter().filter(|rank| rank.contains(processor)).count();
    let of_processors: f64 = own.iter().map(|p| 1.0 / users(p).max(1) as f64).sum();
    // Thirds that add up to 1 may be slightly less.
    let of_processors = (of_processors + 1e-6) as usize;
    let threads = match own.len() {
        0 => of_quota,
        n if parallelism < n => of_quota.min(of_processors),
        _ => of_processors,
    };
    threads.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_have_ranges() {
        assert_eq!(parse("0-2,8"), BTreeSet::from([0, 1, 2, 8]));
        assert_eq!(parse("5"), BTreeSet::from([5]));
        assert_eq!(parse(""), BTreeSet::new());
    }

    #[test]
    fn ranks_share_the_processors_that_they_are_not_bound_to() {
        let all = parse("0-7");
        let unbound = vec![all.clone(); 3];
        assert_eq!(share(&all, &unbound, 8), 2);
        assert_eq!(share(&all, &vec![all.clone(); 9], 8), 1);
        assert_eq!(share(&all, std::slice::from_ref(&all), 8), 8);
    }

    #[test]
    fn bound_ranks_have_their_processors() {
        let ranks = [parse("0-3"), parse("4-7"), parse("4-7")];
        assert_eq!(share(&ranks[0], &ranks, 4), 4);
        assert_eq!(share(&ranks[1], &ranks, 4), 2);
    }

    #[test]
    fn a_quota_is_shared_by_all() {
        let all = parse("0-63");
        assert_eq!(share(&all, &vec![all.clone(); 2], 8), 4);
    }

    #[test]
    fn where_processors_are_unknown_all_ranks_share_them() {
        let none = BTreeSet::new();
        assert_eq!(share(&none, &vec![none.clone(); 4], 8), 2);
    }
}
