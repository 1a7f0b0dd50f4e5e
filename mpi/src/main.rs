//! The `dropchain-mpi` program: `dropchain train` on several processes.
//!
//! MPI is initialized before anything else, and every rank runs the command line of the library
//! with a handle to the others. All calls of MPI are made by the main thread.

mod communication;
mod processors;

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use dropchain::kernel::ranks::{Ranks, Reduce};
use dropchain_cli as cli;
use mpi::Threading;

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
    name_rank_in_panics(reduce.rank());
    let threads = processors::threads(&universe);
    let run = AssertUnwindSafe(|| cli::run_ranks(Ranks::new(reduce), threads, communication::fail));
    // The others would wait forever for a rank that panicked.
    let code = panic::catch_unwind(run).unwrap_or_else(|_| communication::abort(PANIC));
    drop(world);
    code
}

fn name_rank_in_panics(rank: usize) {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        print(&format!("rank {rank} panicked:"));
        default(info);
    }));
}

/// Prints a line to standard error, ignoring write errors.
fn print(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
